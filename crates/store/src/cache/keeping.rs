//! Writes files and facts of upstreams: all that have arrived meanwhile, in one transaction.

use super::arrivals::{Arrival, Arrived, Unplaced};
use super::cached_file::{CacheInput, CachedFile};
use super::database::Cache;
use super::origin::Origin;
use super::rows::{bytes_at, references, replace};
use super::small::SMALL;
use super::weight::weight;
use crate::blobs::digest::Digest;
use crate::error::Result;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Cache {
    /// Writes all that waits in the queue.
    pub(crate) fn write_arrivals(&mut self) {
        if let Err(error) = self.evict_rest() {
            self.log.warn("files of upstreams could not be evicted", &[("error", &error)]);
        }
        let arrivals = self.arrivals.clone();
        let Some((batch, all)) = arrivals.begin() else { return };
        let many = all.len();
        match self.write(all) {
            Ok(_) => batch.written(),
            Err(error) => {
                let text = "files of upstreams could not be cached: they are downloaded again at the next request";
                self.log.warn(text, &[("files", &many), ("error", &error)]);
            }
        }
    }

    /// Writes all that waits, and the uses of files, before the thread ends.
    pub(crate) fn finish(&mut self) {
        self.write_arrivals();
        if let Err(error) = self.together(Self::write_uses) {
            self.log.warn("the last uses of files of upstreams could not be recorded", &[("error", &error)]);
        }
    }

    /// Writes one arrival for which its caller waits. `false`: it was a file that is not cached, because it is too large or comes
    /// from a former upstream.
    pub(crate) fn keep(&mut self, arrival: Arrival) -> Result<bool> {
        let kept = self.write(vec![arrival])?;
        self.arrivals.recovered();
        Ok(kept)
    }

    /// Writes arrivals in their order, and evicts other files for them. Returns whether the last one is cached.
    fn write(&mut self, all: Vec<Arrival>) -> Result<bool> {
        // A panic may have left some.
        self.unplaced.clear();
        let mut limits = BTreeMap::new();
        let written = self.together(|cache| {
            cache.write_uses()?;
            let mut kept = true;
            for Arrival { of, path, what } in all {
                match what {
                    Arrived::File { known, input, max_bytes } => {
                        limits.insert(of.repository, max_bytes);
                        kept = cache.keep_file(of, &path, &known, input, max_bytes)?;
                    }
                    Arrived::Missing { now, until } => cache.record_missing(of, &path, now, until, true)?,
                }
            }
            for (repository, max_bytes) in &limits {
                cache.evict(*repository, *max_bytes)?;
            }
            Ok(kept)
        });
        let done = written.and_then(|kept| self.place_files().map(|()| kept));
        // Evicted files leave free pages.
        let done = done.and_then(|kept| self.give_back().map(|()| kept));
        // Without a commit there is no row, so a file that is left is dropped.
        self.unplaced.clear();
        let measured = match &done {
            Ok(_) => limits.into_keys().try_for_each(|repository| self.measure_holding(repository)),
            // Evicted files of any repository may be there again.
            Err(_) => self.measure_holdings().and_then(|()| self.measure_presence()).map(drop),
        };
        let measured = measured.and_then(|()| self.measure_files());
        done.and_then(|kept| measured.map(|()| kept))
    }

    /// Writes the row of a file in place of the one that was cached for its path. `false`: it is not cached.
    fn keep_file(
        &mut self,
        of: Origin,
        path: &Arc<str>,
        known: &CachedFile,
        input: CacheInput,
        max_bytes: Option<u64>,
    ) -> Result<bool> {
        let (id, digest) = (of.repository, known.hashes.sha256);
        if self.is_former(of) {
            return Ok(false);
        }
        self.record_present(of, path)?;
        let before = self.run(|database| bytes_at(database, id, path))?;
        let replaced = before.map_or(0, |(_, size)| weight(size));
        if !self.admits(id, max_bytes, known.hashes.size_bytes, replaced)? {
            self.bounds.files.cache().refuse(of.hash_of(path));
            self.drop_file(of, path)?;
            return Ok(false);
        }
        let boot = self.file_cache.boot;
        self.run(|database| replace(database, of, path, known, boot))?;
        self.last_verified.record(&digest, known.fetched);
        match input {
            CacheInput::Bytes(bytes) if bytes.len() as u64 <= SMALL => self.keep_small(&digest, &bytes)?,
            input => {
                let unplaced = Unplaced { repository: id, path: path.clone(), input };
                self.unplaced.insert(digest, unplaced);
            }
        }
        if let Some((before, _)) = before.filter(|(before, _)| *before != digest) {
            self.remove_if_unreferenced(&before)?;
        }
        self.bounds.files.cache().insert();
        Ok(true)
    }

    /// Gives the files of a committed transaction their places. Drops the row of one that cannot get it.
    fn place_files(&mut self) -> Result<()> {
        let mut done = Ok(());
        for (digest, Unplaced { repository, path, input }) in std::mem::take(&mut self.unplaced) {
            let placed = match input {
                CacheInput::Bytes(bytes) => self.file_cache.write(&digest, &bytes),
                CacheInput::File(file) => self.file_cache.place(&digest, *file),
            };
            if placed.is_err() {
                self.drop_row(repository, &path, &digest)?;
                done = placed;
            }
        }
        done
    }

    fn remove_if_unreferenced(&mut self, digest: &Digest) -> Result<()> {
        match self.run(|database| references(database, digest))? {
            0 => self.remove_bytes(digest),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
