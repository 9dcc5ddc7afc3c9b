//! An operation under way. Its time is added to the event also if the task gives up in the middle of it.

use crate::threads::register;
use crate::{Event, Op, Tick, UnderWay, under_way};
use std::future::poll_fn;
use std::ops::{Deref, DerefMut};
use std::pin::pin;
use std::task::Poll;

/// An operation under way. When this is dropped, its time is added to the event. A task that is cancelled drops it, too.
#[derive(Debug)]
pub struct RunningOp<'a> {
    event: &'a mut Event,
    op: Op,
    began: Tick,
    /// Shows that the request waits for it.
    _under_way: UnderWay,
}

impl Event {
    /// Begins a run of `op`, which lasts until the result is dropped.
    pub fn running(&mut self, op: Op) -> RunningOp<'_> {
        RunningOp { op, began: Tick::now(), event: self, _under_way: under_way(op) }
    }

    /// Waits for `work` and adds its time as `op`.
    pub async fn during<T>(&mut self, op: Op, work: impl Future<Output = T>) -> T {
        let _running = self.running(op);
        let mut work = pin!(work);
        poll_fn(|cx| {
            let before = register::begin(op);
            let polled = work.as_mut().poll(cx);
            register::resume(before);
            polled
        })
        .await
    }

    /// The same for a wait, which often ends at once: then nothing is added.
    pub async fn waited<T>(&mut self, op: Op, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        if let Poll::Ready(done) = poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await {
            return done;
        }
        self.during(op, work).await
    }

    /// Adds `op`, which ran on this thread since `began`, also to the monitor of the event loop. Returns the present time.
    pub fn ran(&mut self, op: Op, began: Tick) -> Tick {
        let now = Tick::now();
        self.add(op, now.since(began));
        crate::threads::loop_monitor::ran(op, now.since(began));
        now
    }
}

impl RunningOp<'_> {
    /// Ends the operation. Returns how long it took, in nanoseconds.
    pub fn end(self) -> u64 {
        Tick::now().since(self.began)
    }
}

impl Deref for RunningOp<'_> {
    type Target = Event;

    fn deref(&self) -> &Event {
        self.event
    }
}

impl DerefMut for RunningOp<'_> {
    fn deref_mut(&mut self) -> &mut Event {
        self.event
    }
}

impl Drop for RunningOp<'_> {
    fn drop(&mut self) {
        let nanos = Tick::now().since(self.began);
        self.event.add(self.op, nanos);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Millis;
    use std::future::{pending, ready};
    use std::task::{Context, Waker};

    #[test]
    fn a_wait_that_is_given_up_is_added_and_one_that_ends_at_once_is_not() {
        let (mut event, mut cx) = (Event::job("test", Millis(1)), Context::from_waker(Waker::noop()));
        assert!(pin!(event.waited(Op::FlightWait, pending::<()>())).poll(&mut cx).is_pending());
        assert!(pin!(event.waited(Op::TruthWait, ready(()))).poll(&mut cx).is_ready());
        assert!(pin!(event.during(Op::TruthRead, ready(()))).poll(&mut cx).is_ready());
        assert!(event.running(Op::Hash).end() <= event.tally(Op::Hash).nanos);
        let counts = [Op::FlightWait, Op::TruthWait, Op::TruthRead, Op::Hash].map(|op| event.tally(op).count);
        assert_eq!(counts, [1, 0, 1, 1]);
    }

    #[test]
    fn an_operation_that_is_given_up_is_added() {
        let mut event = Event::job("test", Millis(1));
        drop(event.running(Op::UpstreamFirstByte));
        let mut running = event.running(Op::UpstreamFirstByte);
        running.status = 200;
        drop(running);
        assert_eq!((event.tally(Op::UpstreamFirstByte).count, event.status), (2, 200));
    }
}
