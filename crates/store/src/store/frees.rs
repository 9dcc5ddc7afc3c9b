//! How many bytes come free after withdrawals, and when.

use super::Store;
use crate::blob_life::BlobLife;
use crate::catalog::Catalog;
use crate::digest::Digest;
use crate::entry::Entry;
use crate::error::Error;
use crate::lane::Lane;
use std::collections::BTreeMap;
use telemetry::{Event, Millis};

/// What the collector frees, if nothing changes until then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Frees {
    /// The bytes that nothing else keeps.
    pub size_bytes: u64,
    /// When the last of them may be deleted; `None`: none come free.
    pub on: Option<Millis>,
}

impl Frees {
    /// Of two parts.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { size_bytes: self.size_bytes + other.size_bytes, on: self.on.max(other.on) }
    }
}

impl Store {
    /// What comes free of the bytes of these entries, which are withdrawn by now, or their repository is removed.
    pub async fn frees(&self, entries: &[Entry], event: &mut Event) -> Result<Frees, Error> {
        let blobs: BTreeMap<Digest, u64> =
            entries.iter().map(|entry| (entry.hashes.sha256, entry.hashes.size_bytes)).collect();
        let life = self.blob_life;
        self.read(Lane::Index, event, move |truth| frees(truth, &blobs, &life)).await
    }
}

fn frees(truth: &mut dyn Catalog, blobs: &BTreeMap<Digest, u64>, life: &BlobLife) -> Result<Frees, Error> {
    let mut all = Frees::default();
    for (digest, size_bytes) in blobs {
        let uses = truth.blob_uses(digest, digest)?;
        // The last use decides. One without an end keeps the bytes, and where there is none they are gone.
        let ends: Option<Vec<Millis>> = uses.iter().map(|(_, one)| one.keeps_until(life)).collect();
        let Some(end) = ends.and_then(|ends| ends.into_iter().max()) else { continue };
        let waits = !uses.iter().any(|(_, one)| one.purged());
        let on = Some(if waits { end.plus(life.collect_after) } else { end });
        all = all.and(Frees { size_bytes: *size_bytes, on });
    }
    Ok(all)
}
