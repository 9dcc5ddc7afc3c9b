//! The errors of calls, from what the system and hyper tell.

use crate::error::Error;
use crate::tls_error;
use std::error::Error as _;
use std::time::Duration;

impl Error {
    /// The same about a host that was named otherwise. For errors of connecting.
    pub(crate) fn of_host(mut self, name: &str) -> Self {
        if let Error::Unresolved { host, .. }
        | Error::NotListening { host }
        | Error::Unreachable { host, .. }
        | Error::Tls { host, .. } = &mut self
        {
            name.clone_into(host);
        }
        self
    }
}

/// The error for a `host` that did not respond in time.
pub(crate) fn silent(host: &str, waited: Duration) -> Error {
    let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
    Error::Silent { host: host.to_owned(), waited_ms }
}

/// The error of hyper in a call to `host`.
pub(crate) fn broken(host: &str, source: hyper::Error) -> Error {
    let host = host.to_owned();
    if source.is_parse() {
        return Error::NotHttp { host, source };
    }
    // A server that requires a client certificate reports its absence only after the handshake, in place of the response (RFC
    // 8446
    // 4.4.2.4).
    let mut cause = source.source();
    while let Some(error) = cause {
        if let Some(source) = error.downcast_ref().and_then(tls_error::refusal) {
            return Error::Tls { host, source };
        }
        cause = error.source();
    }
    Error::Cut { host, source }
}
