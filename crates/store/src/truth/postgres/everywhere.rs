//! When a change is everywhere: every node that calls its answers fresh has it, so it may be acknowledged.
//!
//! A node without the change relies on a beat from before the commit, and for no longer than [`TRUST`](super::rhythm::TRUST). So waiting for
//! [`WAIT`] after the commit always suffices, also if the database goes away. It is enough that all nodes of a beat that was sent after the
//! commit have seen the change: one that began to call answers fresh later has read the counter after the commit
//! ([`TABLES`](super::schema::TABLES)).

use super::beat::Beaten;
use super::rhythm::WAIT;
use crate::journal::record::Seq;
use std::sync::{Arc, Mutex};
use telemetry::{Tick, lock};
use tokio::sync::{Notify, oneshot};

/// The changes of this node that are not known to be everywhere.
#[derive(Debug)]
pub(crate) struct Everywhere {
    inner: Mutex<Inner>,
    /// There is another moment at which something is due.
    due: Arc<Notify>,
    /// Wakes the thread that beats.
    wake: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Inner {
    /// The last change of this node, and when its commit was known.
    made: (Seq, Tick),
    /// Every change up to this one is everywhere.
    through: Seq,
    seen: Option<Seen>,
    waiting: Vec<Waiting>,
}

/// What the last beat told about the others.
#[derive(Debug)]
struct Seen {
    sent: Tick,
    /// By their instances.
    others: Vec<(String, Seq)>,
}

#[derive(Debug)]
struct Waiting {
    seq: Seq,
    /// When its commit was known.
    made: Tick,
    done: oneshot::Sender<()>,
}

impl Everywhere {
    pub(super) fn new(due: Arc<Notify>, wake: Arc<Notify>) -> Self {
        Self { inner: Mutex::default(), due, wake }
    }

    /// This node committed the changes up to `last`, right now. `alone`: no other node calls answers fresh.
    pub(super) fn made(&self, last: Seq, alone: bool) {
        let mut inner = lock(&self.inner);
        inner.made = (last, Tick::now());
        if alone {
            inner.through = inner.through.max(last);
        }
    }

    /// Waits until a change that this node has is everywhere. If the store closes meanwhile, it is too late to wait.
    pub(crate) async fn wait(&self, seq: Seq) {
        let (done, is_done) = oneshot::channel();
        {
            let mut inner = lock(&self.inner);
            if seq <= inner.through {
                return;
            }
            let (last, made) = inner.made;
            let made = if seq <= last {
                made
            } else {
                // Another node made it.
                self.wake.notify_one();
                Tick::now()
            };
            inner.waiting.push(Waiting { seq, made, done });
            inner.release(Tick::now());
        }
        self.due.notify_one();
        let _ = is_done.await;
    }

    /// The answer to a beat of `instance` that was sent at `sent`.
    pub(super) fn saw(&self, answer: &Beaten, instance: &str, sent: Tick) {
        let mut inner = lock(&self.inner);
        // What a node has told meanwhile may be more than its row had.
        let before = inner.seen.take().map(|seen| seen.others).unwrap_or_default();
        let told = |of: &str| before.iter().find(|(other, _)| other == of).map(|(_, has)| *has).unwrap_or_default();
        let fresh = answer.nodes.iter().filter(|node| node.fresh && node.instance != instance);
        let others = fresh.map(|node| (node.instance.clone(), node.seen.max(told(&node.instance))));
        // Without their number the table of nodes may lack some.
        inner.seen = answer.others.map(|_| Seen { sent, others: others.collect() });
        inner.release(Tick::now());
    }

    /// Another node has told that it has all changes up to `seq`.
    pub(super) fn has(&self, instance: &str, seq: Seq) {
        let mut inner = lock(&self.inner);
        let others = inner.seen.iter_mut().flat_map(|seen| &mut seen.others);
        others.filter(|(other, _)| other == instance).for_each(|(_, has)| *has = seq.max(*has));
        inner.release(Tick::now());
    }

    /// Ends the waiting that has lasted long enough. Returns when it must be called again.
    pub(super) fn end_overdue(&self) -> Option<Tick> {
        let mut inner = lock(&self.inner);
        inner.release(Tick::now());
        inner.waiting.iter().map(|waiting| waiting.made.plus(WAIT)).min()
    }
}

impl Inner {
    fn release(&mut self, now: Tick) {
        let Self { through, seen, waiting, .. } = self;
        let lacks = |other: &(String, Seq), seq: Seq| other.1 < seq;
        let has_all =
            |seen: &Seen, of: &Waiting| seen.sent >= of.made && !seen.others.iter().any(|other| lacks(other, of.seq));
        let before = *through;
        let ended = waiting.extract_if(.., |of| {
            now >= of.made.plus(WAIT) || of.seq <= before || seen.as_ref().is_some_and(|seen| has_all(seen, of))
        });
        for of in ended {
            *through = of.seq.max(*through);
            // The caller may have gone.
            let _ = of.done.send(());
        }
    }
}
