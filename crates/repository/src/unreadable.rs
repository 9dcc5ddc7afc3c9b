//! The reason why the bytes of an entry cannot be read.

use crate::error::Error;
use store::{Entry, Store};
use telemetry::Event;

/// The error for an entry whose bytes could not be read. It tells whether the collector deleted them.
pub(crate) async fn unreadable(store: &Store, entry: &Entry, error: store::Error, event: &mut Event) -> Error {
    let digest = entry.hashes.sha256;
    if matches!(error, store::Error::BlobMissing(_)) {
        match store.collected(digest, event).await {
            Ok(Some(at)) => return Error::BytesDeleted(entry.key.clone(), at),
            Ok(None) => store.tell_missing(&digest),
            Err(error) => return error.into(),
        }
    } else if matches!(error, store::Error::ObjectMissing { .. }) {
        store.tell_missing(&digest);
    }
    error.into()
}
