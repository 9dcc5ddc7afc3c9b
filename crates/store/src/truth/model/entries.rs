//! Reads of entries and blobs.

use super::state::Model;
use crate::blobs::digest::Digest;
use crate::error::Result;
use crate::journal::entry::Entry;
use crate::journal::record::RepositoryId;
use crate::truth::catalog::{EntryReads, Holding, Span};
use crate::truth::package::package;
use std::collections::BTreeSet;

impl EntryReads for Model {
    fn entry(&mut self, repository: RepositoryId, key: &str) -> Result<Option<Entry>> {
        Ok(self.entries.get(&(repository, key.to_owned())).cloned())
    }

    fn entry_in_any_case(&mut self, repository: RepositoryId, key: &str) -> Result<Option<Entry>> {
        Ok(self.ignoring_case(repository, key).cloned())
    }

    fn entries(&mut self, repository: RepositoryId, after: &str, through: &str) -> Result<Vec<Entry>> {
        let within = |entry: &&Entry| entry.unit.as_str() > after && entry.unit.as_str() <= through;
        let mut entries: Vec<Entry> = self.entries_of(repository).filter(within).cloned().collect();
        entries.sort_by(|a, b| (&a.unit, a.published, &a.key).cmp(&(&b.unit, b.published, &b.key)));
        Ok(entries)
    }

    fn entries_beginning(
        &mut self,
        repository: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<Entry>> {
        let begins = |entry: &&Entry| entry.key.starts_with(prefix) && entry.key.as_str() > after;
        Ok(self.entries_of(repository).filter(begins).take(limit).cloned().collect())
    }

    fn live_entries_beginning(
        &mut self,
        repository: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<Entry>> {
        let begins = |entry: &&Entry| entry.key.starts_with(prefix) && entry.key.as_str() > after;
        Ok(self.live_entries_of(repository).filter(begins).take(limit).cloned().collect())
    }

    fn keys_of_digest(&mut self, repository: RepositoryId, digest: &str) -> Result<Vec<String>> {
        let has = |entry: &&Entry| entry.hashes.sha1 == digest || entry.hashes.sha256.to_string() == digest;
        Ok(self.live_entries_of(repository).filter(has).map(|entry| entry.key.clone()).collect())
    }

    fn published(&mut self, repository: RepositoryId, span: Span) -> Result<Vec<Entry>> {
        let within = |entry: &&Entry| (span.from..=span.until).contains(&entry.published);
        let mut entries: Vec<Entry> = self.live_entries_of(repository).filter(within).cloned().collect();
        entries.sort_by(|a, b| (b.published, &b.key).cmp(&(a.published, &a.key)));
        Ok(entries.into_iter().skip(span.skip).take(span.limit).collect())
    }

    fn holding(&mut self, repository: RepositoryId) -> Result<Holding> {
        let live = || self.live_entries_of(repository);
        let packages: BTreeSet<&str> = live().filter_map(|entry| package(&entry.unit, &entry.key)).collect();
        Ok(Holding {
            files: live().count() as u64,
            size_bytes: live().map(|entry| entry.hashes.size_bytes).sum(),
            packages: packages.len() as u64,
        })
    }

    fn holdings(&mut self) -> Result<Vec<(RepositoryId, Holding)>> {
        let ids: BTreeSet<RepositoryId> = self.entries.keys().map(|(id, _)| *id).collect();
        ids.into_iter().map(|id| Ok((id, self.holding(id)?))).collect()
    }

    fn blobs(&mut self, after: Option<Digest>, limit: usize) -> Result<Vec<(Digest, u64)>> {
        let blobs = self.blobs.iter().filter(|(digest, _)| Some(**digest) > after);
        Ok(blobs.take(limit).map(|(digest, size)| (*digest, *size)).collect())
    }

    fn blob_count(&mut self) -> Result<u64> {
        Ok(self.blobs.len() as u64)
    }

    fn refers_to_blob(&mut self, digest: &Digest) -> Result<bool> {
        Ok(self.blobs.contains_key(digest))
    }
}
