//! How `object_store` treats an error of a call: by its kind it decides whether it repeats the call.

use crate::error::Error;
use object_store::client::{HttpError, HttpErrorKind};

/// The error for `object_store`. It repeats a call that did not reach the server, and after a timeout one that may be made twice.
pub(super) fn of(error: Error) -> HttpError {
    let kind = match &error {
        Error::Unresolved { .. } | Error::NotListening { .. } | Error::Unreachable { .. } => HttpErrorKind::Connect,
        Error::Silent { .. } | Error::TooSlow { .. } => HttpErrorKind::Timeout,
        // A connection that ends is a server that restarts: all our calls may be made twice.
        Error::Cut { .. } => HttpErrorKind::Request,
        Error::NotHttp { .. } => HttpErrorKind::Decode,
        // While the circuit is open or a long pause goes on, the next try would fail, too.
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, error)
}
