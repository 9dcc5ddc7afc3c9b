//! The entries that keep a blob, and deleted blobs.

use super::state::Model;
use crate::blobs::digest::Digest;
use crate::blobs::life::{BlobUse, Keep, UseEnd};
use crate::error::Result;
use crate::journal::change::Change;
use crate::journal::entry::{Entry, State};
use crate::journal::record::{RepositoryId, Seq};
use crate::truth::catalog::BlobReads;
use std::collections::{BTreeMap, BTreeSet};
use telemetry::Millis;

impl BlobReads for Model {
    fn blob_uses(&mut self, from: &Digest, through: &Digest) -> Result<Vec<(Digest, BlobUse)>> {
        let within = self.uses.iter().filter(|((digest, ..), _)| (from..=through).contains(&digest));
        Ok(within.map(|((digest, id, _), ended)| (*digest, self.blob_use(*id, *ended))).collect())
    }

    fn blob_uses_except(&mut self, digest: &Digest, except: &BTreeSet<(RepositoryId, String)>) -> Result<Vec<BlobUse>> {
        let others =
            self.uses.iter().filter(|((of, id, key), _)| of == digest && !except.contains(&(*id, key.clone())));
        Ok(others.map(|((_, id, _), ended)| self.blob_use(*id, *ended)).collect())
    }

    fn blobs_of_entry(&mut self, repository: RepositoryId, key: &str) -> Result<Vec<(Digest, u64)>> {
        let named = self.uses.keys().filter(|(_, id, of)| (*id, of.as_str()) == (repository, key));
        Ok(named.filter_map(|(digest, ..)| Some((*digest, *self.blobs.get(digest)?))).collect())
    }

    fn named_by(&mut self, digest: &Digest) -> Result<Vec<RepositoryId>> {
        let live = self.uses.iter().filter(|((of, ..), ended)| of == digest && ended.is_none());
        let ids: BTreeSet<RepositoryId> = live.map(|((_, id, _), _)| *id).collect();
        Ok(ids.into_iter().collect())
    }

    fn collected(&mut self, digest: &Digest) -> Result<Option<Millis>> {
        Ok(self.collected.get(digest).copied())
    }

    fn blob_size(&mut self, digest: &Digest) -> Result<Option<u64>> {
        Ok(self.blobs.get(digest).copied())
    }

    fn generations(&mut self, from: &Digest, through: &Digest) -> Result<Vec<(Digest, Seq)>> {
        let mut found = BTreeMap::new();
        for row in &self.journal {
            if let Change::Collected { blobs } = &row.change {
                found.extend(
                    blobs.iter().filter(|digest| (from..=through).contains(digest)).map(|digest| (*digest, row.seq)),
                );
            }
        }
        Ok(found.into_iter().collect())
    }
}

impl Model {
    fn blob_use(&self, repository: RepositoryId, ended: Option<UseEnd>) -> BlobUse {
        BlobUse { ended, removed: self.repositories.get(&repository).and_then(|record| record.removed) }
    }

    /// Called before the journal has the change.
    pub(super) fn track_entry(&mut self, at: Millis, repository: RepositoryId, entry: &Entry) {
        let (digest, keep) = (entry.hashes.sha256, entry.keep());
        let earlier = self.journal.iter().rev().filter_map(|row| match &row.change {
            Change::Entry { repository: id, entry: earlier } if *id == repository && earlier.key == entry.key => {
                Some(earlier.hashes.sha256)
            }
            _ => None,
        });
        let purged = entry.state == State::Withdrawn && keep == Keep::Purged;
        let earlier: Vec<Digest> = if purged { earlier.collect() } else { earlier.take(1).collect() };
        for earlier in earlier.into_iter().filter(|earlier| *earlier != digest) {
            if let Some(ended) = self.uses.get_mut(&(earlier, repository, entry.key.clone())) {
                match purged {
                    true => *ended = Some(UseEnd { at, keep }),
                    false => *ended = ended.or(Some(UseEnd { at, keep: Keep::Horizon })),
                }
            }
        }
        if entry.state == State::Live {
            self.collected.remove(&digest);
        } else if self.collected.contains_key(&digest) {
            return;
        }
        self.blobs.entry(digest).or_insert(entry.hashes.size_bytes);
        let place = (digest, repository, entry.key.clone());
        let before = self.uses.get(&place).copied().flatten();
        let ended = match entry.state {
            State::Live => None,
            // A withdrawal that is written again for the same reason keeps its first end.
            State::Withdrawn => before.filter(|end| end.keep == keep).or(Some(UseEnd { at, keep })),
        };
        self.uses.insert(place, ended);
    }

    /// No use and no deletion of a blob is later than the moment of a row that redates others.
    pub(super) fn redate_uses(&mut self, at: Millis) {
        self.uses.values_mut().flatten().for_each(|end| end.at = end.at.min(at));
        self.collected.values_mut().for_each(|collected| *collected = (*collected).min(at));
    }

    pub(super) fn track_collected(&mut self, digest: &Digest, at: Millis) {
        let of = |(of, ..): &(Digest, RepositoryId, String)| of == digest;
        let live = self.uses.iter().filter(|(place, ended)| of(place) && ended.is_none());
        self.lost.extend(live.map(|((_, id, _), _)| *id));
        self.uses.retain(|place, _| !of(place));
        self.blobs.remove(digest);
        self.collected.insert(*digest, at);
    }
}
