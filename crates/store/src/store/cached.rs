//! What is kept of upstreams: asked for and brought on the cache's thread.

use super::Store;
use crate::cache::{Arrived, Cache, CachedFile, Doubtful, Folder, Found, Held, Recalled, WAITED_FOR, sound, split};
use crate::pool::lock;
use crate::{Digest, Error, Hashes, Holding, Lane, Origin, RepositoryId, Staged, Unit};
use bytes::Bytes;
use std::io::Seek;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use telemetry::{Event, Millis, Op};

/// Ends when dropped.
struct Turn(Arc<AtomicBool>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Bytes of an upstream's file that have arrived and are to be kept.
#[derive(Debug)]
pub enum Arrival {
    /// In memory, as they are few.
    Bytes(Bytes),
    /// On the disk.
    Staged(Box<Staged>),
}

impl Store {
    /// What is remembered of a path of an upstream, with the bytes. The caller holds its age against the time.
    pub async fn recall(
        &self,
        of: Origin,
        path: &str,
        now: Millis,
        event: &mut Event,
    ) -> Result<Option<Recalled>, Error> {
        let asked = path.to_owned();
        let recall = move |cache: &mut Cache| cache.recall(of, &asked, now);
        match self.cached(Op::CacheRead, event, recall).await? {
            None => Ok(None),
            Some(Found::Recalled(recalled)) => Ok(Some(recalled)),
            Some(Found::Doubtful(doubtful)) => self.settle((of, path), doubtful, now, event).await,
            Some(Found::Damaged(digest)) => {
                self.tell_damage(path, digest, event);
                Ok(None)
            }
        }
    }

    /// The turn to look at the bytes of a large file after it was answered with, where nobody did for long: one at a time.
    pub fn turn_to_verify(&self, known: &CachedFile, now: Millis) -> Option<impl Drop + Send + use<>> {
        let Hashes { sha256, size_bytes, .. } = &known.hashes;
        if *size_bytes <= WAITED_FOR || !self.looked.is_due(sha256, now) || self.looking.swap(true, Ordering::AcqRel) {
            return None;
        }
        self.looked.note(sha256, now);
        Some(Turn(self.looking.clone()))
    }

    /// Looks at the bytes of a kept file. `false`: they were damaged, and are dropped.
    pub async fn verify_cached(
        &self,
        of: Origin,
        path: &str,
        (known, now): (&CachedFile, Millis),
        event: &mut Event,
    ) -> Result<bool, Error> {
        let (known, hashes) = (known.clone(), known.hashes.clone());
        let Some(file) = self.cached(Op::CacheRead, event, move |cache| cache.open_file(&hashes)).await? else {
            return Ok(true);
        };
        Ok(self.settle((of, path), Doubtful { known, file, aged: false }, now, event).await?.is_some())
    }

    /// Says in the log that the bytes of a kept file are not what they were.
    fn tell_damage(&self, path: &str, digest: Digest, event: &Event) {
        let repository = event.subject.repository.as_str();
        self.log.error(
            "a kept file of an upstream is damaged: it is dropped, and fetched again when it is asked for",
            &[("repository", &repository), ("path", &Event::text(path)), ("sha256", &digest)],
        );
    }

    /// Looks at the bytes of a file that was written before the machine began anew, or was not looked at for long.
    async fn settle(
        &self,
        (of, path): (Origin, &str),
        Doubtful { known, mut file, aged }: Doubtful,
        now: Millis,
        event: &mut Event,
    ) -> Result<Option<Recalled>, Error> {
        let digest = known.hashes.sha256;
        let look = move |_: &mut _| (sound(&mut file, &digest) && file.rewind().is_ok()).then_some(file);
        let file = self.blob_threads.run(Lane::Change, (Op::BlobWait, Op::BlobRead), event, look).await?;
        let (asked, good) = (path.to_owned(), file.is_some());
        match good {
            true => self.looked.note(&digest, now),
            false if !aged => self.tell_damage(path, digest, event),
            false => {}
        }
        let note = move |cache: &mut Cache| match good {
            true => cache.trust(of, &asked),
            false => cache.drop_damaged(of, &asked, &digest),
        };
        self.cached(Op::CacheWrite, event, note).await?;
        Ok(file.map(|file| Recalled::File(Arc::new(known), Held::File(Arc::new(file)))))
    }

    /// Keeps a file of an upstream in place of what was remembered of its path. Not synced: a crash of the machine may
    /// lose it. Of its repository at most `max_bytes` are kept. `false`: it was not.
    pub async fn keep_cached(
        &self,
        of: Origin,
        path: &str,
        (file, arrival): (CachedFile, Arrival),
        max_bytes: Option<u64>,
        event: &mut Event,
    ) -> Result<bool, Error> {
        self.space.check()?;
        let path = path.to_owned();
        let arrived = match arrival {
            Arrival::Bytes(bytes) => Arrived::Bytes(bytes),
            Arrival::Staged(staged) => Arrived::File(Box::new(staged.hand_over()?)),
        };
        let keep = move |cache: &mut Cache| cache.keep((of, &path), &file, arrived, max_bytes);
        self.cached(Op::CacheWrite, event, keep).await
    }

    /// Notes that an upstream proved at `at` that a file is as it was.
    pub async fn confirm_cached(&self, of: Origin, path: &str, at: Millis, event: &mut Event) -> Result<(), Error> {
        let path = path.to_owned();
        self.cached(Op::CacheWrite, event, move |cache| cache.confirm(of, &path, at)).await
    }

    /// Notes at `now` that an upstream proved that it has no such path, which is believed until then. On a disk that is nearly
    /// full it is only forgotten what was known of the path.
    pub async fn miss(
        &self,
        of: Origin,
        path: &str,
        (now, until): (Millis, Millis),
        event: &mut Event,
    ) -> Result<(), Error> {
        let (path, room) = (path.to_owned(), self.space.check().is_ok());
        self.cached(Op::CacheWrite, event, move |cache| cache.miss(of, &path, (now, until), room)).await
    }

    /// From now on a repository is turned to another upstream, or to none. What it gave before is seen no more, and
    /// [`Store::drop_former`] drops it; what flights bring from there is not kept.
    pub async fn turn(&self, id: RepositoryId, to: Option<Origin>, event: &mut Event) -> Result<(), Error> {
        let turn = move |cache: &mut Cache| {
            cache.turn(id, to);
            Ok(())
        };
        self.cached(Op::CacheWrite, event, turn).await?;
        lock(&self.holders).of(id).into_iter().for_each(|holder| self.revisions.raise(Unit::All(holder)));
        self.revisions.raise(Unit::Settings);
        Ok(())
    }

    /// What was noted of the hosts of an upstream with [`Store::pin`].
    pub async fn pins(&self, of: Origin, event: &mut Event) -> Result<Vec<(String, String)>, Error> {
        self.cached(Op::CacheRead, event, move |cache| cache.pins(of)).await
    }

    /// Notes in which zone a host of an upstream was found first.
    pub async fn pin(&self, of: Origin, host: String, zone: &'static str, event: &mut Event) -> Result<(), Error> {
        self.cached(Op::CacheWrite, event, move |cache| cache.pin(of, &host, zone)).await
    }

    /// Forgets in which zones the hosts of a repository's upstreams were found.
    pub async fn unpin(&self, id: RepositoryId, event: &mut Event) -> Result<(), Error> {
        self.cached(Op::CacheWrite, event, move |cache| cache.unpin(id)).await
    }

    /// Makes files at these paths, of a former upstream, those of the one that the repository is turned to.
    pub async fn take_over(
        &self,
        from: Origin,
        to: Origin,
        paths: Vec<String>,
        event: &mut Event,
    ) -> Result<(), Error> {
        self.cached(Op::CacheWrite, event, move |cache| cache.take_over(from, to, &paths)).await
    }

    /// Drops what former upstreams gave, some at a time: others are let in between.
    pub async fn drop_former(&self, id: RepositoryId, event: &mut Event) -> Result<(), Error> {
        while self.cached(Op::CacheWrite, event, move |cache| cache.drop_former(id)).await? {}
        Ok(())
    }

    /// Forgets what is remembered of a path of an upstream: it is asked for anew. `false`: nothing was.
    pub async fn forget_cached(&self, of: Origin, path: &str, event: &mut Event) -> Result<bool, Error> {
        let asked = path.to_owned();
        let was = self.cached(Op::CacheWrite, event, move |cache| cache.lose(of, &asked)).await?;
        Ok(was)
    }

    /// How much of an upstream is kept.
    pub async fn cached_holding(&self, of: Origin, event: &mut Event) -> Result<Holding, Error> {
        self.cached(Op::CacheRead, event, move |cache| cache.holding(of)).await
    }

    /// Files of an upstream whose paths begin with `prefix`, after `after`, in byte order, `limit` at most.
    pub async fn cached_files(
        &self,
        of: Origin,
        (prefix, after): (&str, &str),
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<(String, CachedFile)>, Error> {
        let (prefix, after) = (prefix.to_owned(), after.to_owned());
        self.cached(Op::CacheRead, event, move |cache| cache.files(of, (&prefix, &after), limit)).await
    }

    /// Paths after `after` that an upstream was proven not to have, and until when that is believed: those that are at
    /// `now`, folder by folder, each in byte order, `limit` at most.
    pub async fn missing(
        &self,
        of: Origin,
        after: &str,
        now: Millis,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<(String, Millis)>, Error> {
        let (mut paths, mut from) = (Vec::new(), split(after).0.to_owned());
        loop {
            let (after, room) = (after.to_owned(), limit - paths.len());
            let look = move |cache: &mut Cache| cache.missing(of, (&from, &after), now, room);
            let listing = self.cached(Op::CacheRead, event, look).await?;
            paths.extend(listing.paths);
            match listing.next {
                Some(next) if paths.len() < limit => from = next,
                _ => return Ok(paths),
            }
        }
    }

    /// What was proven of a folder, of every upstream, where that is in memory.
    pub fn folder_in_memory(&self, folder: &str) -> Option<Arc<Folder>> {
        self.folders.get(folder)
    }

    /// What was proven of a folder, of every upstream, in one turn.
    pub async fn folder(&self, folder: &str, event: &mut Event) -> Result<Arc<Folder>, Error> {
        let folder = folder.to_owned();
        self.cached(Op::CacheRead, event, move |cache| cache.folder(&folder)).await
    }

    /// Voids what was answered from a unit of an upstream, as it is another from now on: by its repository, and by every
    /// group that holds it.
    pub fn refreshed(&self, id: RepositoryId, unit: &str) {
        lock(&self.holders).of(id).into_iter().for_each(|holder| self.revisions.raise(Unit::Of(holder, unit)));
    }

    async fn cached<T: Send + 'static>(
        &self,
        op: Op,
        event: &mut Event,
        work: impl FnOnce(&mut Cache) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.cache.run(Lane::Single, (Op::CacheWait, op), event, work).await?
    }
}
