//! Cached files of upstreams and facts about their paths, on the cache's thread.

use super::Store;
use crate::blobs::digest::{Digest, Hashes};
use crate::blobs::staged::Staged;
use crate::cache::{
    Arrival as CacheArrival, Arrived, Cache, CacheInput, CachedFile, CachedPath, FolderPresence, Held, Lookup, Origin,
    Queued, Unverified, VERIFIED_FIRST_MAX, has_digest, split,
};
use crate::error::Result;
use crate::pool::lane::Lane;
use crate::truth::catalog::Holding;
use bytes::Bytes;
use std::io::Seek;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use telemetry::{CacheCounts, Event, Millis, Op};
use tokio::time::timeout;

/// The longest wait for figures that include what was fetched just now.
const SETTLE_MAX: Duration = Duration::from_millis(250);

/// Permission to verify a large file after it was served. Only one is given at a time.
struct VerificationTurn(Arc<AtomicBool>);

impl Drop for VerificationTurn {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// The bytes of a downloaded file that is to be cached.
#[derive(Debug)]
pub enum Arrival {
    /// In memory, for a small file.
    Bytes(Bytes),
    /// In a temporary file.
    Staged(Box<Staged>),
}

impl Store {
    /// The cached file or fact for a path of an upstream. The caller decides whether it is still fresh.
    pub async fn lookup_cached(
        &self,
        of: Origin,
        path: &str,
        now: Millis,
        event: &mut Event,
    ) -> Result<Option<CachedPath>> {
        if let Some(found) = self.queued(of, path) {
            return Ok(Some(found));
        }
        let asked = path.to_owned();
        let lookup = move |cache: &mut Cache| cache.lookup(of, &asked, now);
        let found = self.cache.run(Lane::Single, Op::CacheRead, event, lookup).await??;
        // The file may have arrived while the lookup waited for its turn.
        Ok(self.usable(of, path, found, now, event).await?.or_else(|| self.queued(of, path)))
    }

    /// What a lookup found, once its bytes may be used.
    pub(super) async fn usable(
        &self,
        of: Origin,
        path: &str,
        found: Option<Lookup>,
        now: Millis,
        event: &mut Event,
    ) -> Result<Option<CachedPath>> {
        match found {
            None => Ok(None),
            Some(Lookup::Found(found)) => Ok(Some(found)),
            Some(Lookup::Unverified(unverified)) => self.verify(of, path, unverified, now, event).await,
            Some(Lookup::Damaged(digest)) => {
                self.log_damage(path, digest, event);
                Ok(None)
            }
        }
    }

    /// The permission to verify a large file after it was served. `None`: it was verified recently, or another one is being
    /// verified.
    pub fn begin_verification(&self, known: &CachedFile, now: Millis) -> Option<impl Drop + Send + use<>> {
        let Hashes { sha256, size_bytes, .. } = &known.hashes;
        if *size_bytes <= VERIFIED_FIRST_MAX
            || !self.last_verified.is_due(sha256, now)
            || self.verifying.swap(true, Ordering::AcqRel)
        {
            return None;
        }
        self.last_verified.record(sha256, now);
        Some(VerificationTurn(self.verifying.clone()))
    }

    /// Verifies the bytes of a cached file. `false`: they were damaged, and the file was removed.
    pub async fn verify_cached(
        &self,
        of: Origin,
        path: &str,
        known: &CachedFile,
        now: Millis,
        event: &mut Event,
    ) -> Result<bool> {
        let (known, hashes) = (known.clone(), known.hashes.clone());
        let Some(file) = self.cached(Op::CacheRead, event, move |cache| cache.open_file(&hashes)).await? else {
            return Ok(true);
        };
        Ok(self.verify(of, path, Unverified { known, file, earlier_boot: false }, now, event).await?.is_some())
    }

    pub(super) fn log_damage(&self, path: &str, digest: Digest, event: &Event) {
        let repository = event.subject.repository.as_str();
        self.log.error(
            "a cached file of an upstream is damaged: it is removed, and downloaded again at the next request",
            &[("repository", &repository), ("path", &Event::text(path)), ("sha256", &digest)],
        );
    }

    /// Verifies the bytes of a file, and removes it if they are damaged.
    async fn verify(
        &self,
        of: Origin,
        path: &str,
        unverified: Unverified,
        now: Millis,
        event: &mut Event,
    ) -> Result<Option<CachedPath>> {
        let Unverified { known, mut file, earlier_boot } = unverified;
        let digest = known.hashes.sha256;
        let verify = move |_: &mut _| (has_digest(&mut file, &digest) && file.rewind().is_ok()).then_some(file);
        let file = self.blob_threads.run(Lane::Change, Op::BlobRead, event, verify).await?;
        let (asked, good) = (path.to_owned(), file.is_some());
        match good {
            true => {
                self.last_verified.record(&digest, now);
                // Otherwise its row names this boot of the machine already.
                if earlier_boot {
                    self.cached(Op::CacheWrite, event, move |cache| cache.mark_verified(of, &asked)).await?;
                }
            }
            false => {
                let drop = move |cache: &mut Cache| cache.drop_damaged(of, &asked, &digest);
                if self.cached(Op::CacheWrite, event, drop).await? && !earlier_boot {
                    self.log_damage(path, digest, event);
                }
            }
        }
        Ok(file.map(|file| CachedPath::File(Arc::new(known), Held::File(Arc::new(file)))))
    }

    /// What waits to be written for a path. A large file that gets its final path at this moment is not found: the thread knows it.
    pub(super) fn queued(&self, of: Origin, path: &str) -> Option<CachedPath> {
        match self.arrivals.find(of, path)? {
            Queued::Bytes(known, bytes) => Some(CachedPath::File(known, Held::Bytes(bytes))),
            Queued::Staged(known, path) => {
                self.blobs.open_staged(&path).ok().map(|file| CachedPath::File(known, Held::File(Arc::new(file))))
            }
            Queued::MissingUntil(until) => Some(CachedPath::MissingUntil(until)),
        }
    }

    /// Queues a file or a fact for the cache's thread, or waits until the thread has written it, if the queue does not take it.
    /// `false`: it was a file that is not cached.
    async fn queue(&self, arrival: CacheArrival, event: &mut Event) -> Result<bool> {
        let may_wait = match &arrival.what {
            Arrived::File { known, max_bytes, .. } => {
                self.cache_bounds.always_admits(*max_bytes, known.hashes.size_bytes)
            }
            Arrived::Missing { .. } => true,
        };
        let offered = match may_wait && !self.changed_upstreams.is_former(arrival.of) {
            true => self.arrivals.offer(arrival),
            false => Err(arrival),
        };
        match offered {
            Ok(None) => Ok(true),
            Ok(Some(delay)) => {
                self.cache.run_later(delay, Op::CacheWrite, Cache::write_arrivals);
                Ok(true)
            }
            Err(arrival) => {
                let _waiting = self.arrivals.bound().wait();
                self.cached(Op::CacheWrite, event, |cache| cache.keep(arrival)).await
            }
        }
    }

    /// Waits a moment until all that was queued is written, so that figures of the cache include it.
    pub async fn settle_cached(&self, event: &mut Event) {
        if !self.arrivals.is_empty() {
            // Figures are worth no longer wait, and no error.
            let _ = timeout(SETTLE_MAX, self.cached(Op::CacheWrite, event, |_| Ok(()))).await;
        }
    }

    /// Caches a file, replacing what was cached for its path. It is written together with others, soon after this returns, and is not
    /// synced: a killed process or a crash of the machine may lose it. `max_bytes`: the limit of its repository's cached files.
    /// `false`: it was not cached.
    pub async fn keep_cached(
        &self,
        of: Origin,
        path: &str,
        file: CachedFile,
        arrival: Arrival,
        max_bytes: Option<u64>,
        event: &mut Event,
    ) -> Result<bool> {
        self.space.check()?;
        let input = match arrival {
            Arrival::Bytes(bytes) => CacheInput::Bytes(bytes),
            Arrival::Staged(staged) => CacheInput::File(Box::new(staged.into_temporary()?)),
        };
        self.last_verified.record(&file.hashes.sha256, file.fetched);
        let what = Arrived::File { known: Arc::new(file), input, max_bytes };
        self.queue(CacheArrival { of, path: path.into(), what }, event).await
    }

    /// Records that an upstream proved at `at` that a file is unchanged.
    pub async fn confirm_cached(&self, of: Origin, path: &str, at: Millis, event: &mut Event) -> Result<()> {
        let path = path.to_owned();
        self.cached(Op::CacheWrite, event, move |cache| cache.confirm(of, &path, at)).await
    }

    /// Records at `now` that an upstream proved that it has no such path, with the TTL ending at `until`. On a nearly full disk,
    /// and for a path that contains a secret, only removes the facts about the path.
    pub async fn record_missing(
        &self,
        of: Origin,
        path: &str,
        now: Millis,
        until: Millis,
        event: &mut Event,
    ) -> Result<()> {
        if self.space.check().is_ok() && !Event::has_secret(path) {
            let what = Arrived::Missing { now, until };
            return self.queue(CacheArrival { of, path: path.into(), what }, event).await.map(drop);
        }
        let path = path.to_owned();
        let record = move |cache: &mut Cache| cache.record_missing(of, &path, now, until, false);
        self.cached(Op::CacheWrite, event, record).await
    }

    /// Removes the cached file and facts for a path of an upstream: the next request goes to the upstream. `false`: nothing was cached.
    pub async fn forget_cached(&self, of: Origin, path: &str, event: &mut Event) -> Result<bool> {
        let path = path.to_owned();
        self.freeing(event, move |cache| cache.forget(of, &path)).await
    }

    /// The number and size of the cached files of an upstream. Read from memory; [`Store::settle_cached`] makes it exact.
    pub fn cached_holding(&self, of: Origin) -> Holding {
        self.holdings.cached(of)
    }

    /// Cached files of an upstream whose paths begin with `prefix` and come after `after`, ordered by path, at most `limit`.
    pub async fn cached_files(
        &self,
        of: Origin,
        prefix: &str,
        after: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<(String, CachedFile)>> {
        let (prefix, after) = (prefix.to_owned(), after.to_owned());
        self.cached(Op::CacheRead, event, move |cache| cache.files(of, &prefix, &after, limit)).await
    }

    /// The paths of cached files of an upstream with this SHA-1 (40 hexadecimal digits) or SHA-256 (64), in byte order.
    pub async fn cached_paths_of_digest(&self, of: Origin, digest: &str, event: &mut Event) -> Result<Vec<String>> {
        let digest = digest.to_owned();
        self.cached(Op::CacheRead, event, move |cache| cache.paths_of_digest(of, &digest)).await
    }

    /// Paths after `after` that count as missing at `now`, with the end of their TTL: folder by folder, each in byte order, at
    /// most `limit`.
    pub async fn missing(
        &self,
        of: Origin,
        after: &str,
        now: Millis,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<(String, Millis)>> {
        let (mut paths, mut from) = (Vec::new(), split(after).0.to_owned());
        loop {
            let (after, rest) = (after.to_owned(), limit - paths.len());
            let list = move |cache: &mut Cache| cache.missing(of, &from, &after, now, rest);
            let page = self.cached(Op::CacheRead, event, list).await?;
            paths.extend(page.paths);
            match page.next {
                Some(next) if paths.len() < limit => from = next,
                _ => return Ok(paths),
            }
        }
    }

    /// The lookups of cached files.
    pub fn cached_counts(&self) -> &CacheCounts {
        self.cache_bounds.files.cache()
    }

    /// The lookups of files that upstreams are known to lack.
    pub fn facts_counts(&self) -> &CacheCounts {
        self.cache_bounds.presence.cache()
    }

    /// The facts about a folder, of all upstreams, if they are in memory. Counts a hit or a miss.
    pub fn folder_presence_in_memory(&self, folder: &str) -> Option<Arc<FolderPresence>> {
        let queued = self.arrivals.facts_in(folder);
        self.presence.get(folder).map(|known| known.with(queued))
    }

    /// The same without counting.
    pub fn peek_folder_presence(&self, folder: &str) -> Option<Arc<FolderPresence>> {
        let queued = self.arrivals.facts_in(folder);
        self.presence.peek(folder).map(|known| known.with(queued))
    }

    /// The facts about a folder, of all upstreams.
    pub async fn folder_presence(&self, folder: &str, event: &mut Event) -> Result<Arc<FolderPresence>> {
        let (queued, folder) = (self.arrivals.facts_in(folder), folder.to_owned());
        let read = move |cache: &mut Cache| cache.folder(&folder);
        Ok(self.cache.run(Lane::Single, Op::CacheRead, event, read).await??.with(queued))
    }

    /// A change that frees space, or that another one needs for it. On a full disk it uses the space of the reserve.
    pub(super) async fn freeing<T: Send + 'static>(
        &self,
        event: &mut Event,
        work: impl Fn(&mut Cache) -> Result<T> + Clone + Send + 'static,
    ) -> Result<T> {
        match self.cached(Op::CacheWrite, event, work.clone()).await {
            Err(error) if error.is_disk_full() && self.space.use_reserve() => {
                self.cached(Op::CacheWrite, event, work).await
            }
            done => done,
        }
    }

    /// Runs an operation on the cache's thread, after all that was queued before.
    pub(super) async fn cached<T: Send + 'static>(
        &self,
        op: Op,
        event: &mut Event,
        work: impl FnOnce(&mut Cache) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let work = |cache: &mut Cache| {
            cache.write_arrivals();
            work(cache)
        };
        self.cache.run(Lane::Single, op, event, work).await?
    }
}
