//! The reason why the bytes of an entry cannot be read.

use crate::error::Error;
use store::{Entry, Store};
use telemetry::Event;

/// The error for an entry whose bytes could not be read. It tells whether the collector deleted them.
pub(crate) async fn unreadable(store: &Store, entry: &Entry, error: store::Error, event: &mut Event) -> Error {
    let store::Error::BlobMissing(digest) = error else { return error.into() };
    match store.collected(digest, event).await {
        Ok(Some(at)) => Error::BytesDeleted(entry.key.clone(), at),
        Ok(None) => error.into(),
        Err(error) => error.into(),
    }
}
