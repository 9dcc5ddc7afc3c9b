//! The way to the one writer: it takes all that wait, makes them one transaction, and tells each how it went.

use crate::desk::Desk;
use crate::pool::lock;
use crate::{Batch, CommitError, Error, Seq, Sqlite};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use telemetry::{Bound, Event, Op, Slot, Tick, Waiting};
use tokio::sync::{oneshot, watch};

/// Most batches that share a transaction: what one sync costs is nothing beside that many.
const GROUP_MAX: usize = 256;

struct Asked {
    batch: Batch,
    at: Tick,
    answer: oneshot::Sender<Answer>,
    /// Its place in the queue, until it is answered.
    _slot: Slot,
    /// Until its turn comes.
    wait: Option<Waiting>,
}

struct Answer {
    result: Result<Seq, CommitError>,
    began: Tick,
    ended: Tick,
}

/// Where batches wait.
struct Queue {
    /// `None`: it is closed.
    to: Option<Sender<Asked>>,
    /// How many batches came.
    came: u64,
}

/// The way to the thread.
pub(crate) struct Writer {
    bound: Arc<Bound>,
    queue: Mutex<Queue>,
    /// How many batches were answered.
    answered: watch::Receiver<u64>,
    thread: Mutex<Option<JoinHandle<Sqlite>>>,
}

impl Writer {
    pub(crate) fn start(bound: Arc<Bound>, mut desk: Desk) -> Result<Self, Error> {
        let (queue, batches) = channel();
        let (answered, seen) = watch::channel(0);
        let run = move || {
            while let Some(group) = next(&batches) {
                let many = group.len() as u64;
                serve(&mut desk, group);
                answered.send_modify(|answered| *answered += many);
            }
            desk.leave()
        };
        let thread = std::thread::Builder::new().name("truth-writer".into()).spawn(run);
        let thread = thread.map_err(Error::thread)?;
        let queue = Mutex::new(Queue { to: Some(queue), came: 0 });
        Ok(Self { bound, queue, answered: seen, thread: Mutex::new(Some(thread)) })
    }

    /// Waits for its turn and for the disk. Dropping the future does not take the batch back.
    pub(crate) async fn commit(&self, batch: Batch, event: &mut Event) -> Result<Seq, CommitError> {
        let slot = self.bound.enter().map_err(Error::from)?;
        let (answer, answered) = oneshot::channel();
        let at = Tick::now();
        let asked = Asked { batch, at, answer, _slot: slot, wait: Some(self.bound.wait()) };
        self.send(asked)?;
        let Answer { result, began, ended } = answered.await.map_err(|_| Error::Closed)?;
        event.add(Op::CommitWait, began.since(at));
        event.add(Op::Commit, ended.since(began));
        result
    }

    fn send(&self, asked: Asked) -> Result<(), Error> {
        let mut queue = lock(&self.queue);
        queue.to.as_ref().ok_or(Error::Closed)?.send(asked).map_err(|_| Error::Closed)?;
        queue.came += 1;
        Ok(())
    }

    /// Waits until all that came by now was answered. Where nothing is under way, that is at once.
    pub(crate) async fn settled(&self, event: &mut Event) -> Result<(), Error> {
        let (came, began) = (lock(&self.queue).came, Tick::now());
        let mut answered = self.answered.clone();
        if *answered.borrow() < came {
            answered.wait_for(|answered| *answered >= came).await.map_err(|_| Error::Closed)?;
            event.add(Op::CommitWait, Tick::now().since(began));
        }
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn under_way(&self) -> u64 {
        self.bound.used()
    }

    /// Commits what waits, ends the thread and gives its connection back; `None` the second time.
    pub(crate) fn close(&self) -> Option<Sqlite> {
        lock(&self.queue).to.take();
        lock(&self.thread).take()?.join().ok()
    }
}

/// All that wait, once there is one; `None` when nobody will come any more.
fn next(batches: &Receiver<Asked>) -> Option<Vec<Asked>> {
    let mut group = vec![batches.recv().ok()?];
    group.extend(batches.try_iter().take(GROUP_MAX - 1));
    Some(group)
}

fn serve(desk: &mut Desk, group: Vec<Asked>) {
    let began = Tick::now();
    let admission = desk.admission();
    let (mut batches, mut admitted) = (Vec::new(), Vec::new());
    for mut one in group {
        one.wait = None;
        match admission(&one.batch) {
            Err(error) => one.tell(Err(error.into()), began),
            Ok(()) => {
                batches.push(std::mem::take(&mut one.batch));
                admitted.push(one);
            }
        }
    }
    if batches.is_empty() {
        return;
    }
    match desk.commit(&batches) {
        Err(error) => admitted.into_iter().for_each(|one| one.tell(Err(error.clone().into()), began)),
        Ok(answers) => {
            for (one, answer) in admitted.into_iter().zip(answers) {
                one.tell(answer.map_err(CommitError::from), began);
            }
        }
    }
}

impl Asked {
    fn tell(self, result: Result<Seq, CommitError>, began: Tick) {
        // Nobody may wait any more; the change stands.
        let _ = self.answer.send(Answer { result, began: began.max(self.at), ended: Tick::now() });
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
