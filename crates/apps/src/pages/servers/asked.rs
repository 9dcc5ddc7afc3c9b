//! The reads of one request, and what each of them still needs.

use super::{Answer, Trouble, Version};
use bytes::Bytes;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use telemetry::Tick;

/// A kind of read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An item.
    Read { known: Option<Version>, early_s: Option<u32> },
    /// An item whose version has turned out to be another one than `known`. `won`: the first reply has given the right to write it again.
    Changed { won: bool },
    /// A lock.
    Lock,
}

/// The reads of one request. It is woken once, when all have an answer.
#[derive(Debug)]
pub(super) struct Call {
    answers: RefCell<Vec<Answer>>,
    left: Cell<usize>,
    waker: RefCell<Option<Waker>>,
    given_up: Cell<bool>,
}

impl Call {
    pub(super) fn new(asks: usize) -> Rc<Self> {
        let answers = RefCell::new(vec![Answer::Failed(Trouble::Unreachable); asks]);
        Rc::new(Self { answers, left: Cell::new(asks), waker: RefCell::default(), given_up: Cell::new(false) })
    }

    /// The answer to the ask at this place. Each gets one.
    pub(super) fn answer(&self, at: usize, answer: Answer) {
        if let Some(place) = self.answers.borrow_mut().get_mut(at) {
            *place = answer;
        }
        self.left.set(self.left.get().saturating_sub(1));
        if self.left.get() == 0 {
            let waker = self.waker.take();
            waker.into_iter().for_each(Waker::wake);
        }
    }

    pub(super) fn poll(&self, cx: &Context<'_>) -> Poll<Vec<Answer>> {
        if self.left.get() == 0 {
            return Poll::Ready(self.answers.take());
        }
        self.waker.replace(Some(cx.waker().clone()));
        Poll::Pending
    }

    /// Nobody waits for the answers any more.
    pub(super) fn give_up(&self) {
        self.given_up.set(true);
    }

    pub(super) fn is_given_up(&self) -> bool {
        self.given_up.get()
    }
}

/// One read, until its answer.
#[derive(Debug)]
pub(super) struct Asked {
    /// `None` where nobody waits for the answer: the reply is skipped.
    pub(super) call: Option<Rc<Call>>,
    /// Its place in the call.
    pub(super) at: usize,
    pub(super) key: Bytes,
    pub(super) kind: Kind,
    pub(super) deadline: Tick,
}

impl Asked {
    /// Whether somebody waits for the answer.
    pub(super) fn is_awaited(&self) -> bool {
        self.call.as_ref().is_some_and(|call| !call.is_given_up())
    }

    /// Gives the answer, if there was none.
    pub(super) fn answer(&mut self, answer: Answer) {
        if let Some(call) = self.call.take() {
            call.answer(self.at, answer);
        }
    }
}

impl Drop for Asked {
    /// Whatever became of it, its call does not wait for it without end.
    fn drop(&mut self) {
        self.answer(Answer::Failed(Trouble::Invalid));
    }
}
