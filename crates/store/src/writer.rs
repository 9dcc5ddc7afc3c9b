//! The one writer: takes all that wait, makes them one transaction, raises revisions, then tells each.
//!
//! Order is everything here: blobs were synced before a batch came; COMMIT; revisions; acknowledgement.

use crate::disk::{Disk, Failpoint};
use crate::holders::Holders;
use crate::pool::lock;
use crate::space::Space;
use crate::{Batch, Catalog, Change, CommitError, Conflict, Error, RepositoryId, Revisions, Seq, Sqlite, Unit};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use telemetry::{Bound, Event, Op, Slot, Tick};
use tokio::sync::oneshot;

/// Most batches that share a transaction: what one sync costs is nothing beside that many.
const GROUP_MAX: usize = 256;

struct Waiting {
    batch: Batch,
    asked: Tick,
    answer: oneshot::Sender<Answer>,
    /// Its place in the queue, until it is answered.
    _slot: Slot,
}

struct Answer {
    result: Result<Seq, CommitError>,
    began: Tick,
    ended: Tick,
}

/// What the thread works with.
pub(crate) struct Desk {
    pub(crate) truth: Sqlite,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) space: Arc<Space>,
    pub(crate) revisions: Arc<Revisions>,
    /// The number of the last change that is committed.
    pub(crate) last: Arc<AtomicU64>,
}

/// The way to the thread.
pub(crate) struct Writer {
    bound: Arc<Bound>,
    queue: Mutex<Option<Sender<Waiting>>>,
    thread: Mutex<Option<JoinHandle<Sqlite>>>,
}

impl Writer {
    pub(crate) fn start(bound: Arc<Bound>, mut desk: Desk) -> Result<Self, Error> {
        let mut holders = Holders::new(desk.truth.repositories()?);
        let (queue, batches) = channel();
        let run = move || {
            while let Some(group) = next(&batches) {
                desk.serve(&mut holders, group);
            }
            desk.truth
        };
        let thread = std::thread::Builder::new().name("truth-writer".into()).spawn(run);
        let thread = thread.map_err(Error::thread)?;
        Ok(Self { bound, queue: Mutex::new(Some(queue)), thread: Mutex::new(Some(thread)) })
    }

    /// Waits for its turn and for the disk. Dropping the future does not take the batch back.
    pub(crate) async fn commit(&self, batch: Batch, event: &mut Event) -> Result<Seq, CommitError> {
        let slot = self.bound.enter().map_err(Error::from)?;
        let (answer, answered) = oneshot::channel();
        let asked = Tick::now();
        let waiting = Waiting { batch, asked, answer, _slot: slot };
        let sent = lock(&self.queue).as_ref().map(|queue| queue.send(waiting));
        if !matches!(sent, Some(Ok(()))) {
            return Err(Error::Closed.into());
        }
        let Answer { result, began, ended } = answered.await.map_err(|_| Error::Closed)?;
        self.bound.waited(began.since(asked));
        event.add(Op::CommitWait, began.since(asked));
        event.add(Op::Commit, ended.since(began));
        result
    }

    #[cfg(test)]
    pub(crate) fn under_way(&self) -> u64 {
        self.bound.used()
    }

    /// Commits what waits, ends the thread and gives its connection back; `None` the second time.
    pub(crate) fn close(&self) -> Option<Sqlite> {
        lock(&self.queue).take();
        lock(&self.thread).take()?.join().ok()
    }
}

/// All that wait, once there is one; `None` when nobody will come any more.
fn next(batches: &Receiver<Waiting>) -> Option<Vec<Waiting>> {
    let mut group = vec![batches.recv().ok()?];
    group.extend(batches.try_iter().take(GROUP_MAX - 1));
    Some(group)
}

impl Desk {
    fn serve(&mut self, holders: &mut Holders, group: Vec<Waiting>) {
        let began = Tick::now();
        let enough = self.space.check();
        let (mut batches, mut waiting) = (Vec::new(), Vec::new());
        for one in group {
            let refused = match &enough {
                Err(error) if !matches!(error, Error::DiskNearlyFull { .. }) || writes_content(&one.batch) => error,
                _ => {
                    batches.push(one.batch.clone());
                    waiting.push(one);
                    continue;
                }
            };
            one.tell(Err(refused.clone().into()), began);
        }
        if batches.is_empty() {
            return;
        }
        match self.commit(holders, &batches) {
            Ok(answers) => {
                for (one, answer) in waiting.into_iter().zip(answers) {
                    one.tell(answer.map_err(CommitError::from), began);
                }
            }
            Err(error) => waiting.into_iter().for_each(|one| one.tell(Err(error.clone().into()), began)),
        }
    }

    fn commit(&mut self, holders: &mut Holders, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>, Error> {
        let answers = self.truth.begin(batches)?;
        if let Err(error) = self.point(Failpoint::BeforeCommit) {
            self.truth.undo();
            return Err(error);
        }
        // A failed COMMIT leaves it open whether the changes last: like after a failed sync, a restart must look.
        self.space.synced(self.truth.finish())?;
        self.point(Failpoint::AfterCommit)?;
        let made = || batches.iter().zip(&answers).filter_map(|(batch, answer)| Some((batch, answer.as_ref().ok()?)));
        for (batch, last) in made() {
            self.last.fetch_max(last.0, Ordering::AcqRel);
            self.raise(holders, batch, *last);
        }
        if made().any(|(batch, _)| batch.changes.iter().any(|change| matches!(change, Change::Repository { .. }))) {
            // Groups may hold others from now on: what changed is raised for the old holders and for the new ones.
            *holders = Holders::new(self.truth.repositories()?);
            made().for_each(|(batch, last)| self.raise(holders, batch, *last));
        }
        self.point(Failpoint::BeforeAcknowledgement)?;
        Ok(answers)
    }

    fn raise(&self, holders: &Holders, batch: &Batch, last: Seq) {
        let first = last.0 + 1 - batch.changes.len() as u64;
        for (number, change) in (first..).zip(&batch.changes) {
            let seq = Seq(number);
            match change {
                Change::Entry { repository, entry } => {
                    for holder in holders.of(*repository) {
                        self.revisions.raise(Unit::Of(holder, &entry.unit), seq);
                        self.revisions.raise(Unit::All(holder), seq);
                    }
                }
                Change::Repository { id, .. } => {
                    let id = if id.0 == 0 { RepositoryId(number) } else { *id };
                    holders.of(id).into_iter().for_each(|holder| self.revisions.raise(Unit::All(holder), seq));
                    self.revisions.raise(Unit::Settings, seq);
                }
                Change::Token { .. } => self.revisions.raise(Unit::Tokens, seq),
                Change::Setting { .. } => self.revisions.raise(Unit::Settings, seq),
            }
        }
    }

    fn point(&self, point: Failpoint) -> Result<(), Error> {
        self.disk.point(point).map_err(Error::io("commit to", std::path::Path::new("truth.sqlite")))
    }
}

impl Waiting {
    fn tell(self, result: Result<Seq, CommitError>, began: Tick) {
        // Nobody may wait any more; the change stands.
        let _ = self.answer.send(Answer { result, began: began.max(self.asked), ended: Tick::now() });
    }
}

/// Settings and tokens may be changed on a nearly full disk: perhaps that is what makes room.
fn writes_content(batch: &Batch) -> bool {
    batch.changes.iter().any(|change| matches!(change, Change::Entry { .. }))
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("bound", &self.bound).finish_non_exhaustive()
    }
}
