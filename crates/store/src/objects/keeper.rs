//! The thread that works with object storage where no client waits: it copies segments, copies blobs that object storage lacks, and
//! removes from the disk the blobs that were not used for longest.
//!
//! It also decides whether this store may write to the place at all: the segments there must be of this journal.

use crate::blobs::Blobs;
use crate::blobs::digest::Digest;
use crate::blobs::files::{files_in, names};
use crate::disk::Disk;
use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::error::{Error, Result};
use crate::objects::Objects;
use crate::objects::bell::{Bell, Rung};
use crate::objects::blobs::{NamedBlob, ObjectBlobs};
use crate::objects::keys::ObjectBlob;
use crate::objects::local_copies::LocalCopies;
use crate::objects::place;
use crate::objects::segment_copies::SegmentCopies;
use crate::store::progress::Progress;
use crate::truth::catalog::Catalog;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use telemetry::{Event, Job, Log, Op, Reason, Recorder, lock};
use tokio::sync::watch;
use tokio::time::timeout;

/// The wait after a failure.
const AGAIN_AFTER: Duration = Duration::from_secs(2);
/// How long a stop waits for the last segments.
const AT_STOP: Duration = Duration::from_secs(5);
/// The most blobs that are sent in one turn, so that segments do not wait for long.
const SENT_MAX: u64 = 32;
/// The number of rows of blobs that are read at a time.
const PAGE: usize = 1024;

/// Whether this store may write to object storage.
#[derive(Debug, Clone)]
pub(crate) enum Claim {
    /// Nobody has looked yet.
    Unknown,
    /// The segments there are of this journal.
    Ours,
    /// They are not, or they could not be read.
    Refused(Error),
}

/// The state of the thread.
pub(crate) struct Keeping {
    pub(crate) truth: Box<dyn Catalog>,
    pub(crate) objects: Arc<ObjectBlobs>,
    pub(crate) blobs: Arc<Blobs>,
    pub(crate) local: Arc<LocalCopies>,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) layout: Layout,
    pub(crate) space: Arc<Space>,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) log: Log,
    pub(crate) claim: watch::Sender<Claim>,
    /// Wakes the thread.
    pub(crate) bell: Arc<Bell>,
    /// `None`: they were not listed yet.
    pub(crate) segments: Option<SegmentCopies>,
    /// The copying of blobs that object storage lacks, once after each start.
    pub(crate) round: watch::Sender<Round>,
}

/// Where the copying of blobs stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Round {
    /// The first bytes of the digests that were compared.
    done: u16,
    copied: u64,
    /// The blobs that object storage lacks, and that the disk has not either, or with other bytes.
    missing: u64,
    /// Why the last turn failed, if it did.
    failed: Option<Error>,
}

impl Round {
    /// The turns of a round.
    const TURNS: u16 = 1 << 8;
}

/// The handle of the thread.
#[derive(Debug)]
pub(crate) struct Keeper {
    bell: Arc<Bell>,
    claim: watch::Receiver<Claim>,
    round: watch::Receiver<Round>,
    url: String,
    patience: Duration,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Keeper {
    /// Starts the thread. It works whenever its bell rings.
    pub(crate) fn start(mut keeping: Keeping) -> Result<Self> {
        let (claim, round, bell) = (keeping.claim.subscribe(), keeping.round.subscribe(), keeping.bell.clone());
        let rung = bell.clone();
        let Objects { url, patience, .. } = keeping.objects.calls.objects.clone();
        let run = move || {
            let mut again = Some(Duration::ZERO);
            loop {
                let Rung { stop, .. } = rung.wait(again);
                // What was not copied is copied after the next start.
                if stop && keeping.objects.calls.state.is_away() {
                    return;
                }
                again = keeping.run(stop);
                if stop {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("objects".into()).spawn(run).map_err(Error::thread)?;
        Ok(Self { bell, claim, round, url, patience, thread: Mutex::new(Some(thread)) })
    }

    /// An error unless this store may write to object storage. If that is not known, waits until the thread has looked.
    pub(crate) async fn may_write(&self, event: &mut Event) -> Result<()> {
        let mut claim = self.claim.clone();
        if matches!(*claim.borrow_and_update(), Claim::Ours) {
            return Ok(());
        }
        self.bell.ring();
        let looked = timeout(self.patience, claim.changed());
        let looked = event.waited(Op::ObjectList, looked).await;
        match (looked, &*claim.borrow()) {
            (Ok(Err(_)), _) => Err(Error::Closed),
            (_, Claim::Ours) => Ok(()),
            (_, Claim::Refused(error)) => Err(error.clone()),
            (_, Claim::Unknown) => Err(Error::ObjectsAway {
                url: self.url.clone(),
                cause: "its segments were not listed in time".to_owned(),
            }),
        }
    }

    /// Waits until object storage has each blob that a row names. Returns how many were sent since the start, and how many are nowhere.
    pub(crate) async fn round(&self, progress: &mut dyn FnMut(Progress)) -> Result<(u64, u64)> {
        let mut rounds = self.round.clone();
        loop {
            let Round { done, copied, missing, failed } = rounds.borrow_and_update().clone();
            progress(Progress { done: done.into(), total: Round::TURNS.into(), of: "parts" });
            match failed {
                Some(error) => return Err(error),
                None if done == Round::TURNS => return Ok((copied, missing)),
                None => rounds.changed().await.map_err(|_| Error::Closed)?,
            }
        }
    }

    /// Copies the remaining segments and ends the thread.
    pub(crate) fn close(&self) {
        self.bell.stop();
        if let Some(thread) = lock(&self.thread).take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.close();
    }
}

impl Keeping {
    /// One turn. Returns when the next one is due without the bell; `None`: never.
    fn run(&mut self, stop: bool) -> Option<Duration> {
        let mut job = Job::begin(&self.recorder, "objects.keep");
        let runtime = self.objects.calls.objects.runtime.clone();
        let done = match stop {
            false => runtime.block_on(self.turn(stop, &mut job)),
            // The rest is copied after the next start.
            true => runtime.block_on(async { timeout(AT_STOP, self.turn(stop, &mut job)).await.unwrap_or(Ok(false)) }),
        };
        if let Err(error) = &done {
            job.reason = Some(Reason::Io);
            job.detail = error.to_string();
        }
        job.end_as(&done);
        self.round.send_if_modified(|round| {
            round.failed = done.as_ref().err().cloned();
            round.failed.is_some()
        });
        match done {
            Ok(true) => Some(Duration::ZERO),
            Ok(false) => None,
            Err(_) => Some(AGAIN_AFTER),
        }
    }

    /// Whether more is to be done.
    async fn turn(&mut self, stop: bool, event: &mut Event) -> Result<bool> {
        let mut segments = match self.segments.take() {
            Some(known) => known,
            None => self.claim(event).await?,
        };
        if self.objects.calls.state.is_away() {
            // It can be used again once it takes one.
            segments.send_last_again();
        }
        let copied = segments.copy(&self.objects.calls, &*self.disk, &self.layout, event).await;
        self.segments = Some(segments);
        copied?;
        if stop {
            return Ok(false);
        }
        self.remove_unused(event).await?;
        self.copy_some_blobs(event).await
    }

    async fn claim(&mut self, event: &mut Event) -> Result<SegmentCopies> {
        let looked = SegmentCopies::look(&self.objects.calls, &mut *self.truth, event).await;
        let looked = looked.and_then(|known| {
            place::note(&*self.disk, &self.layout, &self.space, &self.objects.calls.objects).map(|()| known)
        });
        let claim = looked.as_ref().map_or_else(|error| Claim::Refused(error.clone()), |_| Claim::Ours);
        let before = self.claim.send_replace(claim);
        if let Err(error @ Error::ObjectsAhead { .. }) = &looked
            && !matches!(before, Claim::Refused(Error::ObjectsAhead { .. }))
        {
            self.log.error("nothing is written to object storage, so uploads are refused", &[("why", error)]);
        }
        looked
    }

    /// Removes blobs from the disk that object storage has, if there are too many.
    async fn remove_unused(&mut self, event: &mut Event) -> Result<()> {
        for digest in self.local.to_remove() {
            let Some(blob) = self.named(&digest)? else { continue };
            if self.bell.is_stopped() {
                break;
            }
            if !self.objects.has(&blob, event).await? {
                match self.objects.send(digest, blob.generation, event).await {
                    // Nobody has the right bytes, so these stay.
                    Err(Error::Io { .. }) => continue,
                    sent => sent?,
                }
            }
            self.blobs.remove(&digest)?;
        }
        Ok(())
    }

    /// A blob, if a row names it. The collector deletes others.
    fn named(&mut self, digest: &Digest) -> Result<Option<NamedBlob>> {
        let Some(size_bytes) = self.truth.blob_size(digest)? else { return Ok(None) };
        Ok(Some(NamedBlob { digest: *digest, size_bytes, generation: self.truth.generation(digest)? }))
    }

    /// Compares the blobs of one first byte with object storage, and sends some blobs that it lacks: they were published without
    /// it, or lost there. Returns whether the round goes on.
    async fn copy_some_blobs(&mut self, event: &mut Event) -> Result<bool> {
        let Ok(first) = u8::try_from(self.round.borrow().done) else { return Ok(false) };
        let here = self.on_disk(first)?;
        // Read before the list: their objects were written before their rows.
        let named = self.all_named(first)?;
        let objects = &self.objects.calls.objects;
        let listed = event.waited(Op::ObjectList, self.objects.calls.list(objects.blobs(first))).await?;
        let there: BTreeSet<_> = listed
            .iter()
            .filter_map(|meta| objects.read_blob(meta))
            .map(|ObjectBlob { digest, generation, size_bytes }| (digest, generation.0, size_bytes))
            .collect();
        let lacks = |blob: &&NamedBlob| !there.contains(&(blob.digest, blob.generation.0, blob.size_bytes));
        let (mut sent, mut missing) = (0, 0);
        for blob in named.iter().filter(lacks) {
            if here.contains(&blob.digest) {
                if sent == SENT_MAX || self.bell.is_stopped() {
                    return Ok(true);
                }
                match self.objects.send(blob.digest, blob.generation, event).await {
                    Ok(()) => {
                        self.round.send_modify(|round| round.copied += 1);
                        sent += 1;
                    }
                    // The disk has other bytes, or cannot read them. The other blobs are copied nevertheless.
                    Err(error @ Error::Io { .. }) => {
                        self.log.error("a blob of the disk cannot be copied to object storage", &[("error", &error)]);
                        missing += 1;
                    }
                    Err(error) => return Err(error),
                }
            } else if self.named(&blob.digest)? == Some(*blob) {
                let key = self.objects.calls.objects.blob(&blob.digest, blob.generation);
                self.objects.calls.state.is_missing(&blob.digest, key.as_ref());
                missing += 1;
            }
        }
        self.round.send_modify(|round| {
            round.done += 1;
            round.missing += missing;
        });
        let Round { done, copied, .. } = *self.round.borrow();
        if done == Round::TURNS && copied > 0 {
            self.log.info("all blobs of this disk are in object storage", &[("copied", &copied)]);
        }
        Ok(done < Round::TURNS)
    }

    /// The blobs on the disk whose digests start with this byte.
    fn on_disk(&self, first: u8) -> Result<BTreeSet<Digest>> {
        let root = self.layout.blobs_by_digest();
        let outer = format!("{first:02x}");
        let mut found = BTreeSet::new();
        if !names(&*self.disk, &root)?.contains(&outer) {
            return Ok(found);
        }
        for (digest, file) in files_in(&*self.disk, &root.join(outer))? {
            let size_bytes = self.disk.size(&file).map_err(Error::io("look at", &file))?;
            if let (Some(digest), Some(size_bytes)) = (digest, size_bytes) {
                found.insert(digest);
                self.local.found(digest, size_bytes);
            }
        }
        Ok(found)
    }

    fn all_named(&mut self, first: u8) -> Result<Vec<NamedBlob>> {
        let (from, through) = Digest::beginning_with(first);
        let generations: BTreeMap<_, _> = self.truth.generations(&from, &through)?.into_iter().collect();
        let (mut all, mut after) = (Vec::new(), from.before());
        loop {
            let page = self.truth.blobs(after, PAGE)?;
            let within = page.iter().take_while(|(digest, _)| *digest <= through);
            let before = all.len();
            all.extend(within.map(|(digest, size_bytes)| NamedBlob {
                digest: *digest,
                size_bytes: *size_bytes,
                generation: generations.get(digest).copied().unwrap_or_default(),
            }));
            if page.len() < PAGE || all.len() - before < page.len() {
                return Ok(all);
            }
            after = all.last().map(|blob| blob.digest);
        }
    }
}
