//! The thread that works with object storage where no client waits: it copies segments, copies blobs that object storage lacks, and
//! removes from the disk the blobs that were not used for longest.
//!
//! It also decides whether this store may write to the place at all: the segments there must be of this journal.

use crate::blobs::Blobs;
use crate::disk::Disk;
use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use crate::objects::Objects;
use crate::objects::bell::{Bell, Rung};
use crate::objects::blobs::{NamedBlob, ObjectBlobs};
use crate::objects::local_copies::LocalCopies;
use crate::objects::place;
use crate::objects::round::{Copying, Round, RoundState};
use crate::objects::segment_copies::SegmentCopies;
use crate::objects::state::ObjectsState;
use crate::store::progress::Progress;
use crate::truth::catalog::Catalog;
use crate::truth::postgres::{Leases, PLACE, is_shared};
use crate::writer::Writer;
use crate::writer::committer::Committer;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use telemetry::{Event, Job, Log, Op, Reason, Recorder, lock};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// The wait after a failure.
const AGAIN_AFTER: Duration = Duration::from_secs(2);
/// How long a stop waits for the turn under way, and then for the last segments.
const AT_STOP: Duration = Duration::from_secs(5);
/// The lease of the node that copies segments.
const SEGMENTS: &str = "segments";
/// How often a node looks whether it copies them now, because another one has stopped.
const COPIES_AFTER: Duration = Duration::from_secs(5);
/// How often the segments are listed again if they reach further than this node, which may be about to take in the rows of another one.
const LOOKS: u32 = 8;
/// The pause before that.
const LOOKS_AFTER: Duration = Duration::from_millis(250);
/// How long a move of a folder waits until this node copies segments, and how often it looks: a node gets the lease with its next beats.
const COPIED: [Duration; 2] = [Duration::from_secs(10), Duration::from_millis(50)];

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
    /// Puts changes back that a database has lost; `None`: there is no database.
    pub(crate) writer: Option<Arc<Writer>>,
    pub(crate) objects: Arc<ObjectBlobs>,
    pub(crate) blobs: Arc<Blobs>,
    pub(crate) local: Arc<LocalCopies>,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) layout: Layout,
    pub(crate) space: Arc<Space>,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) log: Log,
    pub(crate) claim: watch::Sender<Claim>,
    /// Of several nodes, one copies segments.
    pub(crate) leases: Arc<Leases>,
    /// Wakes the thread.
    pub(crate) bell: Arc<Bell>,
    /// `None`: they were not listed yet, or another node has changed them since.
    pub(crate) segments: Option<SegmentCopies>,
    /// The copying of blobs that object storage lacks, once after each start.
    pub(crate) round: Round,
}

/// The handle of the thread.
#[derive(Debug)]
pub(crate) struct Keeper {
    bell: Arc<Bell>,
    claim: watch::Receiver<Claim>,
    round: watch::Receiver<RoundState>,
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
            let (mut again, mut copied) = (Some(Duration::ZERO), false);
            loop {
                let longest = if keeping.leases.is_alone() { again } else { again.or(Some(COPIES_AFTER)) };
                let Rung { work, stop } = rung.wait(longest);
                let copies = keeping.leases.holds(SEGMENTS);
                let is_same = std::mem::replace(&mut copied, copies) == copies;
                if is_same && again.is_none() && !work && !stop {
                    continue;
                }
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
            let RoundState { done, copied, missing, failed } = rounds.borrow_and_update().clone();
            progress(Progress { done: done.into(), total: RoundState::ALL.into(), of: "parts" });
            match failed {
                Some(error) => return Err(error),
                None if done == RoundState::ALL => return Ok((copied, missing)),
                None => rounds.changed().await.map_err(|_| Error::Closed)?,
            }
        }
    }

    /// Waits until a segment in object storage has this change. Gives up after some seconds: another node copies segments then.
    pub(crate) async fn copied(&self, state: &ObjectsState, last: Seq) {
        let [limit, every] = COPIED;
        let copied = async {
            while state.copied() < last {
                self.bell.ring();
                sleep(every).await;
            }
        };
        let _ = timeout(limit, copied).await;
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
    /// One turn. If there is work, it is a job with its own event. Returns when the next one is due without the bell; `None`: never.
    fn run(&mut self, stop: bool) -> Option<Duration> {
        if !self.has_work(stop) {
            // The node that copies segments changes them from now on.
            self.segments = None;
            self.round.ended_turn(None);
            return None;
        }
        let mut job = Job::begin(&self.recorder, "objects.keep");
        let runtime = self.objects.calls.objects.runtime.clone();
        let done = match stop {
            false => runtime.block_on(async {
                let bell = self.bell.clone();
                let stopped = async {
                    bell.stopped().await;
                    sleep(AT_STOP).await;
                };
                tokio::select! {
                    done = self.turn(stop, &mut job) => done,
                    () = stopped => Ok(false),
                }
            }),
            // The rest is copied after the next start.
            true => runtime.block_on(async { timeout(AT_STOP, self.turn(stop, &mut job)).await.unwrap_or(Ok(false)) }),
        };
        if let Err(error) = &done {
            job.reason = Some(Reason::Io);
            job.detail = error.to_string();
        }
        job.end_as(&done);
        self.round.ended_turn(done.as_ref().err());
        match done {
            Ok(true) => Some(Duration::ZERO),
            Ok(false) => None,
            Err(_) => Some(AGAIN_AFTER),
        }
    }

    /// Whether a turn has anything to do. The bell rings on each node that has new rows, and one node copies them.
    fn has_work(&self, stop: bool) -> bool {
        let is_left = || !self.round.is_done() || self.local.is_over();
        self.copies(stop) || self.objects.calls.state.is_away() || !self.is_ours() || !stop && is_left()
    }

    /// Whether this node copies segments. One that stops has given its leases up before.
    fn copies(&self, stop: bool) -> bool {
        self.leases.holds(SEGMENTS) || stop && self.segments.is_some()
    }

    fn is_ours(&self) -> bool {
        matches!(*self.claim.borrow(), Claim::Ours)
    }

    /// Whether more is to be done.
    async fn turn(&mut self, stop: bool, event: &mut Event) -> Result<bool> {
        let (copies, is_away) = (self.copies(stop), self.objects.calls.state.is_away());
        let mut segments = self.segments.take();
        if segments.is_none() && (copies || is_away || !self.is_ours()) {
            segments = Some(self.claim(event).await?);
        }
        if let Some(mut segments) = segments.filter(|_| copies || is_away) {
            if is_away {
                // It can be used again once it takes one.
                segments.send_last_again();
            }
            let copied = segments.copy(&self.objects.calls, &*self.disk, &self.layout, event).await;
            self.segments = copies.then_some(segments);
            copied?;
        }
        if stop {
            return Ok(false);
        }
        self.remove_unused(event).await?;
        let Self { truth, objects, disk, layout, local, log, bell, recorder, round, .. } = self;
        let now = recorder.clock().now();
        let mut copying = Copying { truth: &mut **truth, objects, disk: &**disk, layout, local, log, bell, now };
        copying.send_some(round, event).await
    }

    async fn claim(&mut self, event: &mut Event) -> Result<SegmentCopies> {
        let writer = self.writer.as_deref();
        let mut looked = SegmentCopies::look(&self.objects.calls, &mut *self.truth, writer, event).await;
        for _ in 0..LOOKS {
            if self.leases.is_alone() || !matches!(looked, Err(Error::ObjectsAhead { .. })) || self.bell.is_stopped() {
                break;
            }
            sleep(LOOKS_AFTER).await;
            looked = SegmentCopies::look(&self.objects.calls, &mut *self.truth, writer, event).await;
        }
        let looked = match looked {
            Ok(known) => self.note_place(event).await.map(|()| known),
            Err(error) => Err(error),
        };
        let claim = looked.as_ref().map_or_else(|error| Claim::Refused(error.clone()), |_| Claim::Ours);
        let before = self.claim.send_replace(claim);
        if let Err(error @ (Error::ObjectsAhead { .. } | Error::ObjectsElsewhere { .. })) = &looked
            && !matches!(before, Claim::Refused(Error::ObjectsAhead { .. } | Error::ObjectsElsewhere { .. }))
        {
            self.log.error("nothing is written to object storage, so uploads are refused", &[("why", error)]);
        }
        looked
    }

    /// Notes the place for all nodes and in the folder. An error if others keep bytes elsewhere.
    async fn note_place(&self, event: &mut Event) -> Result<()> {
        let objects = &self.objects.calls.objects;
        if let Some(writer) = &self.writer {
            let url = objects.url.clone();
            let work = move |committer: &mut Committer| {
                let mut shared = Ok(());
                committer.change_note(PLACE, &mut |noted| {
                    shared = is_shared(noted, Some(&url));
                    noted.is_none().then(|| url.clone())
                })?;
                shared
            };
            match writer.run(Op::Commit, event, work).await {
                // The note is made later.
                Err(Error::Clock(_)) => {}
                noted => noted?,
            }
        }
        place::note(&*self.disk, &self.layout, &self.space, objects)
    }

    /// Removes blobs from the disk that object storage has, if there are too many.
    async fn remove_unused(&mut self, event: &mut Event) -> Result<()> {
        for digest in self.local.to_remove() {
            let Some(blob) = NamedBlob::find(&mut *self.truth, &digest)? else { continue };
            if self.bell.is_stopped() {
                break;
            }
            if !self.objects.has(&blob, event).await? {
                match self.objects.send(&blob, event).await {
                    // Nobody has the right bytes, so these stay.
                    Err(Error::Io { .. }) => continue,
                    sent => sent?,
                }
            }
            self.blobs.remove(&digest)?;
        }
        Ok(())
    }
}
