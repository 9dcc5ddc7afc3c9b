//! The handle of the writer's thread, which commits all waiting batches in one transaction, acknowledges each of them, and
//! deletes blobs for the collector in between.

pub(crate) mod committer;
pub(crate) mod first_seen_budget;
pub(crate) mod group_membership;
pub(crate) mod revision;

use crate::blobs::deletion::{Deleted, Deletion};
use crate::blobs::digest::Digest;
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use crate::pool::job_times::{JobStart, JobTimes};
use crate::truth::catalog::{Batch, Catalog, CommitError};
use crate::writer::committer::Committer;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use telemetry::{Bound, Event, Millis, Op, PoolThreads, Slot, Tick, Waiting, lock, works_at};
use tokio::sync::{oneshot, watch};

/// The most batches in one transaction. With this many, the cost of a sync per batch is negligible.
const GROUP_MAX: usize = 256;

/// A batch in the queue.
struct PendingCommit {
    batch: Batch,
    start: JobStart,
    reply: oneshot::Sender<Reply>,
    /// Its place in the bound, until it is decided.
    _slot: Slot,
    /// Counted as waiting until its turn.
    wait: Option<Waiting>,
}

/// Blobs to delete, in the queue.
struct PendingDeletion {
    blobs: Vec<Digest>,
    now: Millis,
    start: JobStart,
    reply: oneshot::Sender<DeletionReply>,
    _slot: Slot,
    wait: Option<Waiting>,
}

struct DeletionReply {
    result: Result<Deleted>,
    ended: Tick,
}

/// The work of the thread in one turn.
enum Turn {
    Commit(PendingCommit),
    Delete(PendingDeletion),
}

struct Reply {
    result: Result<Seq, CommitError>,
    ended: Tick,
}

struct Queue {
    /// `None`: it is closed.
    batches: Option<Sender<Turn>>,
    /// The number of batches that were ever queued.
    queued: u64,
}

/// The handle of the thread.
pub(crate) struct Writer {
    bound: Arc<Bound>,
    queue: Mutex<Queue>,
    /// The number of batches that were ever decided.
    answered: watch::Receiver<u64>,
    thread: Mutex<Option<JoinHandle<Box<dyn Catalog>>>>,
}

impl Writer {
    pub(crate) fn start(
        bound: Arc<Bound>,
        threads: Arc<PoolThreads>,
        mut committer: Committer,
        deletion: Deletion,
    ) -> Result<Self> {
        let (sender, batches) = channel();
        let (count, answered) = watch::channel(0);
        let run = move || {
            while let Some(turns) = next_turns(&batches) {
                let (many, _work) = (turns.len() as u64, threads.work());
                let (mut group, mut deletions) = (Vec::new(), Vec::new());
                for turn in turns {
                    match turn {
                        Turn::Commit(pending) => group.push(pending),
                        Turn::Delete(pending) => deletions.push(pending),
                    }
                }
                if !group.is_empty() {
                    works_at(Op::Commit);
                    commit_group(&mut committer, group);
                }
                works_at(Op::BlobCollect);
                deletions.into_iter().for_each(|pending| pending.run(&mut committer, &deletion));
                count.send_modify(|answered| *answered += many);
            }
            committer.into_catalog()
        };
        let thread = std::thread::Builder::new().name("truth-writer".into()).spawn(run);
        let thread = thread.map_err(Error::thread)?;
        let queue = Mutex::new(Queue { batches: Some(sender), queued: 0 });
        Ok(Self { bound, queue, answered, thread: Mutex::new(Some(thread)) })
    }

    /// Commits a batch: waits for its turn and for the disk. Dropping the future does not cancel the batch.
    pub(crate) async fn commit(&self, batch: Batch, event: &mut Event) -> Result<Seq, CommitError> {
        let slot = self.bound.enter().map_err(Error::from)?;
        let (reply, replied) = oneshot::channel();
        let times = JobTimes::queued(Op::CommitWait, Op::Commit, event);
        let (start, wait) = (times.start(), Some(self.bound.wait()));
        self.send(Turn::Commit(PendingCommit { batch, start, reply, _slot: slot, wait }))?;
        let Reply { result, ended } = replied.await.map_err(|_| Error::Closed)?;
        times.ended(ended);
        result
    }

    /// Deletes blobs that are unneeded at `now`, after the waiting batches.
    pub(crate) async fn delete(&self, blobs: Vec<Digest>, now: Millis, event: &mut Event) -> Result<Deleted> {
        let slot = self.bound.enter().map_err(Error::from)?;
        let (reply, replied) = oneshot::channel();
        let times = JobTimes::queued(Op::CommitWait, Op::BlobCollect, event);
        let (start, wait) = (times.start(), Some(self.bound.wait()));
        self.send(Turn::Delete(PendingDeletion { blobs, now, start, reply, _slot: slot, wait }))?;
        let DeletionReply { result, ended } = replied.await.map_err(|_| Error::Closed)?;
        times.ended(ended);
        result
    }

    fn send(&self, turn: Turn) -> Result<()> {
        let mut queue = lock(&self.queue);
        queue.batches.as_ref().ok_or(Error::Closed)?.send(turn).map_err(|_| Error::Closed)?;
        queue.queued += 1;
        Ok(())
    }

    /// Waits until every batch that was queued by now is decided. Returns at once if none is in progress.
    pub(crate) async fn settled(&self, event: &mut Event) -> Result<()> {
        let queued = lock(&self.queue).queued;
        let mut answered = self.answered.clone();
        if *answered.borrow() < queued {
            let _waiting = event.running(Op::CommitWait);
            answered.wait_for(|answered| *answered >= queued).await.map_err(|_| Error::Closed)?;
        }
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn under_way(&self) -> u64 {
        self.bound.used()
    }

    /// Commits the queued batches, ends the thread and returns its connection; `None` at the second call.
    pub(crate) fn close(&self) -> Option<Box<dyn Catalog>> {
        lock(&self.queue).batches.take();
        lock(&self.thread).take()?.join().ok()
    }
}

/// All queued items, once there is one; `None` when the queue is closed.
fn next_turns(batches: &Receiver<Turn>) -> Option<Vec<Turn>> {
    let mut turns = vec![batches.recv().ok()?];
    turns.extend(batches.try_iter().take(GROUP_MAX - 1));
    Some(turns)
}

fn commit_group(committer: &mut Committer, mut group: Vec<PendingCommit>) {
    let began = Tick::now();
    // A batch with an index line is refused after one with a later moment. Equal ones stay in their order of arrival.
    group.sort_by_key(|pending| pending.batch.at);
    let admission = committer.admission();
    let (mut batches, mut admitted) = (Vec::new(), Vec::new());
    for mut pending in group {
        pending.wait = None;
        pending.start.set(began);
        match admission(&pending.batch) {
            Err(error) => pending.answer(Err(error.into())),
            Ok(()) => {
                batches.push(std::mem::take(&mut pending.batch));
                admitted.push(pending);
            }
        }
    }
    if batches.is_empty() {
        return;
    }
    match committer.commit(&batches) {
        Err(error) => admitted.into_iter().for_each(|pending| pending.answer(Err(error.clone().into()))),
        Ok(answers) => {
            for (pending, answer) in admitted.into_iter().zip(answers) {
                pending.answer(answer.map_err(CommitError::from));
            }
        }
    }
}

impl PendingDeletion {
    fn run(mut self, committer: &mut Committer, deletion: &Deletion) {
        self.wait = None;
        self.start.set(Tick::now());
        let result = deletion.turn(committer, &self.blobs, self.now);
        let _ = self.reply.send(DeletionReply { result, ended: Tick::now() });
    }
}

impl PendingCommit {
    fn answer(self, result: Result<Seq, CommitError>) {
        // The caller may have gone. The change is made nevertheless.
        let _ = self.reply.send(Reply { result, ended: Tick::now() });
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("bound", &self.bound).finish_non_exhaustive()
    }
}
