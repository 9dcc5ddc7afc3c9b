//! The bytes that withdrawals free, and when.

use super::Store;
use crate::blobs::digest::Digest;
use crate::blobs::life::{BlobLife, BlobUse, UseEnd};
use crate::error::Result;
use crate::journal::entry::Entry;
use crate::journal::record::RepositoryId;
use crate::pool::lane::Lane;
use crate::truth::catalog::Catalog;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use telemetry::{Event, Millis, give_way};

/// The number of blobs that one job checks.
const PAGE: usize = 1_000;

/// The bytes that the collector frees, if nothing changes until then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Frees {
    /// The bytes that no other entry keeps.
    pub size_bytes: u64,
    /// When the last of them may be deleted; `None`: no bytes are freed.
    pub on: Option<Millis>,
}

impl Frees {
    /// The sum of two parts.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { size_bytes: self.size_bytes + other.size_bytes, on: self.on.max(other.on) }
    }

    /// The sentence that every command prints.
    pub fn sentence(size_bytes: u64, on: Option<impl Display>) -> String {
        on.map_or_else(|| format!("frees {size_bytes} bytes"), |on| format!("frees {size_bytes} bytes on {on}"))
    }
}

impl Display for Frees {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&Self::sentence(self.size_bytes, self.on))
    }
}

/// Entries that are withdrawn together, or are to be.
#[derive(Debug, Clone, Default)]
pub struct Withdrawals(Vec<Withdrawn>);

#[derive(Debug, Clone)]
struct Withdrawn {
    entry: EntryKey,
    blob: Digest,
    size_bytes: u64,
    end: UseEnd,
}

/// The repository and the key of an entry.
type EntryKey = (RepositoryId, String);

/// The uses of one blob that withdrawals end.
#[derive(Debug, Default)]
struct Ended {
    size_bytes: u64,
    entries: BTreeSet<EntryKey>,
    ends: Vec<UseEnd>,
}

impl Withdrawals {
    /// Adds a withdrawn entry.
    pub fn add(&mut self, repository: RepositoryId, entry: &Entry) {
        let end = UseEnd { at: entry.changed, keep: entry.keep() };
        let (blob, size_bytes) = (entry.hashes.sha256, entry.hashes.size_bytes);
        self.0.push(Withdrawn { entry: (repository, entry.key.clone()), blob, size_bytes, end });
    }

    /// Adds other withdrawals.
    pub fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// Groups the entries by blob. A purge ends the uses of all blobs that an entry ever named, so these are looked up.
    fn by_blob(self, truth: &mut dyn Catalog) -> Result<BTreeMap<Digest, Ended>> {
        let mut blobs = BTreeMap::<Digest, Ended>::new();
        for Withdrawn { entry, blob, size_bytes, end } in self.0 {
            give_way();
            let purged = BlobUse { ended: Some(end), removed: None }.purged();
            let earlier = if purged { truth.blobs_of_entry(entry.0, &entry.1)? } else { Vec::new() };
            for (blob, size_bytes) in earlier.into_iter().filter(|(one, _)| *one != blob).chain([(blob, size_bytes)]) {
                let ended = blobs.entry(blob).or_default();
                ended.size_bytes = size_bytes;
                ended.entries.insert(entry.clone());
                ended.ends.push(end);
            }
        }
        Ok(blobs)
    }
}

impl Store {
    /// The bytes that these entries free. They are already withdrawn, or their repository is removed.
    pub async fn frees(&self, withdrawn: Withdrawals, event: &mut Event) -> Result<Frees> {
        self.sum(withdrawn, frees, event).await
    }

    /// The bytes that these entries would free if they were withdrawn together. Changes nothing.
    pub async fn would_free(&self, withdrawn: Withdrawals, event: &mut Event) -> Result<Frees> {
        self.sum(withdrawn, would_free, event).await
    }

    async fn sum(&self, withdrawn: Withdrawals, of: Question, event: &mut Event) -> Result<Frees> {
        let life = self.blob_life;
        let blobs = self.read(Lane::Index, event, move |truth| withdrawn.by_blob(truth)).await?;
        let (mut blobs, mut all) = (blobs.into_iter(), Frees::default());
        loop {
            let some: Vec<_> = blobs.by_ref().take(PAGE).collect();
            if some.is_empty() {
                return Ok(all);
            }
            let sum = move |truth: &mut dyn Catalog| {
                some.iter().try_fold(Frees::default(), |sum, (blob, ended)| {
                    give_way();
                    Ok(sum.and(of(truth, blob, ended, &life)?))
                })
            };
            all = all.and(self.read(Lane::Index, event, sum).await?);
        }
    }
}

/// Computes the bytes that one blob frees.
type Question = fn(&mut dyn Catalog, &Digest, &Ended, &BlobLife) -> Result<Frees>;

fn frees(truth: &mut dyn Catalog, blob: &Digest, ended: &Ended, life: &BlobLife) -> Result<Frees> {
    Ok(of_uses(ended.size_bytes, &truth.blob_uses_except(blob, &BTreeSet::new())?, life))
}

fn would_free(truth: &mut dyn Catalog, blob: &Digest, ended: &Ended, life: &BlobLife) -> Result<Frees> {
    if !truth.refers_to_blob(blob)? {
        return Ok(Frees::default());
    }
    let mut uses = truth.blob_uses_except(blob, &ended.entries)?;
    uses.extend(ended.ends.iter().map(|end| BlobUse { ended: Some(*end), removed: None }));
    Ok(of_uses(ended.size_bytes, &uses, life))
}

/// The last use decides. A use without an end keeps the bytes. A blob without uses is already deleted.
fn of_uses(size_bytes: u64, uses: &[BlobUse], life: &BlobLife) -> Frees {
    let ends: Option<Vec<Millis>> = uses.iter().map(|one| one.keeps_until(life)).collect();
    let Some(end) = ends.and_then(|ends| ends.into_iter().max()) else { return Frees::default() };
    let waits = !uses.iter().any(BlobUse::purged);
    Frees { size_bytes, on: Some(if waits { end.plus(life.collect_after) } else { end }) }
}

#[cfg(test)]
mod tests;
