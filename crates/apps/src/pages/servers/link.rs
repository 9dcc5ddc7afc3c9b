//! The reads of one core from one server, until they are answered. The runtime of a core drives the connections that it opened.

use super::asked::Asked;
use super::{Answer, Trouble};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::Waker;
use telemetry::Tick;

/// The reads of this core from one server.
#[derive(Debug, Default)]
pub(super) struct Link {
    /// Reads that were not written yet.
    pub(super) waiting: RefCell<Vec<Asked>>,
    /// Reads whose replies come next, in this order.
    pub(super) sent: RefCell<VecDeque<Asked>>,
    /// Wakes the driver. Empty while it is awake already.
    pub(super) driver: RefCell<Option<Waker>>,
    /// A task drives the connection.
    pub(super) is_driven: Cell<bool>,
}

/// A link while a task drives its connection. However that ends, each read gets an answer.
#[derive(Debug)]
pub(super) struct Driven(pub(super) Rc<Link>);

impl std::ops::Deref for Driven {
    type Target = Link;

    fn deref(&self) -> &Link {
        &self.0
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        self.0.is_driven.set(false);
        self.0.driver.take();
        self.0.fail(Trouble::Unreachable);
    }
}

impl Link {
    /// Answers all reads so.
    pub(super) fn fail(&self, trouble: Trouble) {
        let waiting = self.waiting.take();
        for mut asked in self.sent.take().into_iter().chain(waiting) {
            asked.answer(Answer::Failed(trouble));
        }
    }

    /// Answers the reads whose time is over. Returns whether there were any without an answer, whether their clients still waited or not.
    pub(super) fn expire(&self, now: Tick) -> bool {
        let mut any = false;
        let (mut waiting, mut sent) = (self.waiting.borrow_mut(), self.sent.borrow_mut());
        for asked in sent.iter_mut().chain(waiting.iter_mut()).filter(|asked| asked.deadline <= now) {
            any |= asked.call.is_some();
            asked.answer(Answer::Failed(Trouble::Timeout));
        }
        waiting.retain(Asked::is_awaited);
        any
    }

    /// When the next read expires.
    pub(super) fn next_deadline(&self) -> Option<Tick> {
        let (waiting, sent) = (self.waiting.borrow(), self.sent.borrow());
        let all = sent.iter().chain(waiting.iter()).filter(|asked| asked.call.is_some());
        all.map(|asked| asked.deadline).min()
    }
}
