//! Interim responses (1xx) that a handler sends before its reply, such as 103 with early hints (RFC 8297).

use http::{HeaderMap, StatusCode};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use telemetry::lock;

/// Interim responses for one request. Further ones are left out: each is only a hint.
const MOST: usize = 16;
/// Bytes of the headers of one. A larger one is left out.
const HEAD: usize = 16 << 10;

/// Sends interim responses for one request. The default one sends none: the client is older than HTTP/1.1, or there is no connection.
#[derive(Debug, Clone, Default)]
pub struct Interim(Option<Arc<InterimQueue>>);

impl Interim {
    pub(crate) fn through(queue: Arc<InterimQueue>) -> Self {
        Self(Some(queue))
    }

    /// Whether the client understands interim responses.
    pub fn is_possible(&self) -> bool {
        self.0.is_some()
    }

    /// Sends an interim response, unless the reply has begun. `status` is 102 to 199, and no other is sent: 100 is sent by the front
    /// when the upload is read, and 101 is a reply. At most 16 are sent for a request, with headers of at most 16 KiB each.
    pub fn send(&self, status: StatusCode, headers: HeaderMap) {
        let Some(queue) = &self.0 else { return };
        let len: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
        if status.is_informational() && status > StatusCode::SWITCHING_PROTOCOLS && len <= HEAD {
            queue.push(status, headers);
        }
    }
}

/// The interim responses of one request that are not sent yet.
#[derive(Debug, Default)]
pub(crate) struct InterimQueue(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    responses: VecDeque<(StatusCode, HeaderMap)>,
    /// How many there were.
    count: usize,
    /// One was taken and is being written.
    writing: bool,
    /// There is a reply.
    closed: bool,
    /// Wakes the exchange.
    waker: Option<Waker>,
}

impl InterimQueue {
    fn push(&self, status: StatusCode, headers: HeaderMap) {
        let mut waiting = lock(&self.0);
        if !waiting.closed && waiting.count < MOST {
            waiting.count += 1;
            waiting.responses.push_back((status, headers));
            waiting.waker.take().into_iter().for_each(Waker::wake);
        }
    }

    /// Makes it new.
    pub(crate) fn reset(&mut self) {
        if let Ok(waiting) = self.0.get_mut() {
            *waiting = Waiting::default();
        }
    }

    /// The next one. It counts as being written until [`InterimQueue::written`].
    pub(crate) fn next(&self) -> Option<(StatusCode, HeaderMap)> {
        let mut waiting = lock(&self.0);
        let next = waiting.responses.pop_front();
        waiting.writing |= next.is_some();
        next
    }

    /// Whether one is there.
    pub(crate) fn has_some(&self) -> bool {
        !lock(&self.0).responses.is_empty()
    }

    /// Everything that was taken has been written.
    pub(crate) fn written(&self) {
        let mut waiting = lock(&self.0);
        if std::mem::take(&mut waiting.writing) {
            waiting.waker.take().into_iter().for_each(Waker::wake);
        }
    }

    /// Has the next response wake this task.
    pub(crate) fn wakes(&self, cx: &Context<'_>) {
        let mut waiting = lock(&self.0);
        if !waiting.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            waiting.waker = Some(cx.waker().clone());
        }
    }

    /// Accepts no more, and waits until all have been written.
    pub(crate) fn poll_closed(&self, cx: &Context<'_>) -> Poll<()> {
        let mut waiting = lock(&self.0);
        waiting.closed = true;
        if waiting.responses.is_empty() && !waiting.writing {
            return Poll::Ready(());
        }
        waiting.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}
