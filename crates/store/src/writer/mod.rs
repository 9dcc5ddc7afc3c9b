//! The handle of the writer's thread, which commits all waiting batches in one transaction, acknowledges each of them, and
//! does other work on the truth in between: it follows other processes, changes notes, and deletes blobs for the collector.

pub(crate) mod committer;
mod effects;
pub(crate) mod first_seen_budget;
pub(crate) mod followed;
pub(crate) mod group_membership;
pub(crate) mod revision;

use crate::blobs::deletion::{Deleted, Deletion, DeletionRows};
use crate::blobs::digest::Digest;
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use crate::pool::job_times::{JobStart, JobTimes};
use crate::truth::catalog::{Batch, Catalog, CommitError};
use crate::writer::committer::Committer;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Other work, in the queue.
struct PendingWork {
    op: Op,
    /// Does the work and replies.
    run: Box<dyn FnOnce(&mut Committer) + Send>,
    start: JobStart,
    _slot: Slot,
    wait: Option<Waiting>,
}

/// The work of the thread in one turn.
enum Turn {
    Commit(PendingCommit),
    Work(PendingWork),
    /// Take in what other processes have written.
    Follow,
}

/// Wakes the thread, because other processes may have written.
pub(crate) type Bell = Arc<dyn Fn() + Send + Sync>;

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

impl Queue {
    fn send(&mut self, turn: Turn) -> Result<()> {
        self.batches.as_ref().ok_or(Error::Closed)?.send(turn).map_err(|_| Error::Closed)?;
        self.queued += 1;
        Ok(())
    }
}

/// The handle of the thread.
pub(crate) struct Writer {
    bound: Arc<Bound>,
    deletion: Arc<Deletion>,
    queue: Arc<Mutex<Queue>>,
    /// A bell was rung, and the thread has not begun to follow.
    rung: Arc<AtomicBool>,
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
        let rung = Arc::new(AtomicBool::new(false));
        let is_rung = rung.clone();
        let run = move || {
            while let Some(turns) = next_turns(&batches) {
                let (many, _busy) = (turns.len() as u64, threads.work());
                let (mut group, mut others) = (Vec::new(), Vec::new());
                for turn in turns {
                    match turn {
                        Turn::Commit(pending) => group.push(pending),
                        Turn::Work(pending) => others.push(pending),
                        Turn::Follow => {
                            works_at(Op::Commit);
                            is_rung.store(false, Ordering::Release);
                            // If this fails, the next batch or the next bell repeats it.
                            let _ = committer.follow();
                        }
                    }
                }
                if !group.is_empty() {
                    works_at(Op::Commit);
                    commit_group(&mut committer, group);
                }
                others.into_iter().for_each(|pending| pending.run(&mut committer));
                count.send_modify(|answered| *answered += many);
            }
            committer.into_catalog()
        };
        let thread = std::thread::Builder::new().name("truth-writer".into()).spawn(run);
        let thread = Mutex::new(Some(thread.map_err(Error::thread)?));
        let queue = Arc::new(Mutex::new(Queue { batches: Some(sender), queued: 0 }));
        Ok(Self { bound, deletion: Arc::new(deletion), queue, rung, answered, thread })
    }

    /// Commits a batch: waits for its turn and for the disk. Dropping the future does not cancel the batch.
    pub(crate) async fn commit(&self, batch: Batch, event: &mut Event) -> Result<Seq, CommitError> {
        let slot = self.bound.enter().map_err(Error::from)?;
        let (reply, replied) = oneshot::channel();
        let times = JobTimes::queued(Op::CommitWait, Op::Commit, event);
        let (start, wait) = (times.start(), Some(self.bound.wait()));
        lock(&self.queue).send(Turn::Commit(PendingCommit { batch, start, reply, _slot: slot, wait }))?;
        let Reply { result, ended } = replied.await.map_err(|_| Error::Closed)?;
        times.ended(ended);
        result
    }

    /// Deletes blobs that are unneeded at `now`, after the waiting batches: see [`Deletion::turn`].
    pub(crate) async fn delete(
        &self,
        blobs: Vec<Digest>,
        rows: DeletionRows,
        now: Millis,
        event: &mut Event,
    ) -> Result<Deleted> {
        let deletion = self.deletion.clone();
        self.run(Op::BlobCollect, event, move |committer| deletion.turn(committer, &blobs, rows, now)).await
    }

    /// Does other work on the truth, after the waiting batches. Dropping the future does not cancel it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        op: Op,
        event: &mut Event,
        work: impl FnOnce(&mut Committer) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let slot = self.bound.enter().map_err(Error::from)?;
        let (reply, replied) = oneshot::channel();
        let times = JobTimes::queued(Op::CommitWait, op, event);
        let run = Box::new(move |committer: &mut Committer| {
            let result = work(committer);
            // The caller may have gone.
            let _ = reply.send((result, Tick::now()));
        });
        let (start, wait) = (times.start(), Some(self.bound.wait()));
        lock(&self.queue).send(Turn::Work(PendingWork { op, run, start, _slot: slot, wait }))?;
        let (result, ended) = replied.await.map_err(|_| Error::Closed)?;
        times.ended(ended);
        result
    }

    /// A bell for the part of the catalog that hears of the changes of other processes. At most one ring waits.
    pub(crate) fn bell(&self) -> Bell {
        let (queue, rung) = (self.queue.clone(), self.rung.clone());
        Arc::new(move || {
            if !rung.swap(true, Ordering::AcqRel) {
                // A closed queue needs no bell.
                let _ = lock(&queue).send(Turn::Follow);
            }
        })
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

impl PendingWork {
    fn run(mut self, committer: &mut Committer) {
        self.wait = None;
        works_at(self.op);
        self.start.set(Tick::now());
        (self.run)(committer);
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
