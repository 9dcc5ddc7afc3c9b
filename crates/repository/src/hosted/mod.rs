//! A repository that holds packages of its own. The catalog is the truth, so nothing is remembered as missing.

mod index;
mod push;
mod shared;
mod yank;

pub(crate) use index::{info, names, versions};
pub(crate) use push::push;
pub use shared::Shared;
pub(crate) use yank::yank;

use crate::{Error, Found, Repository, Workers, visible};
use std::sync::Arc;
use store::Store;
use telemetry::{Event, Millis};

/// A hosted repository and what it works with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hosted<'a> {
    pub(crate) store: &'a Store,
    pub(crate) workers: &'a Workers,
    pub(crate) repository: &'a Arc<Repository>,
}

/// The published gem of this full name, open for reading.
pub(crate) async fn gem(
    Hosted { store, repository, .. }: Hosted<'_>,
    full_name: &str,
    now: Millis,
    event: &mut Event,
) -> Result<Found, Error> {
    let entry = store.entry(repository.id, full_name, event).await?.ok_or(Error::NoSuchPackage)?;
    event.subject.package.clone_from(&entry.unit);
    let rows = [entry];
    let Some(seen) = visible(&rows, repository.view(now)).next() else {
        return Err(Error::Withdrawn(full_name.to_owned()));
    };
    let hashes = seen.entry().hashes.clone();
    let (file, _) = store.open_blob(hashes.sha256, event).await?;
    Ok(Found::File { name: format!("{full_name}.gem"), file, hashes })
}
