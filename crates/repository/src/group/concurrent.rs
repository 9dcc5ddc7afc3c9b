//! Runs many futures with limited concurrency and returns their results in the order of completion.

use std::future::poll_fn;
use std::iter::{Enumerate, Fuse};
use std::pin::Pin;
use std::task::Poll;

/// The running futures, and the waiting ones. Dropping it drops all that have not ended.
pub(crate) struct Concurrent<I: Iterator<Item: Future>> {
    waiting: Enumerate<Fuse<I>>,
    asked: Vec<(usize, Pin<Box<I::Item>>)>,
    most: usize,
    /// Whether further futures are started.
    on: bool,
}

impl<I: Iterator<Item: Future>> Concurrent<I> {
    /// Runs `all`, at most `most` at a time.
    pub(crate) fn new(all: I, most: usize) -> Self {
        Self { waiting: all.fuse().enumerate(), asked: Vec::with_capacity(most), most, on: true }
    }

    /// The next result, with the index of its future in `all`; `None`: all have ended.
    pub(crate) async fn next(&mut self) -> Option<(usize, <I::Item as Future>::Output)> {
        while self.on
            && self.asked.len() < self.most
            && let Some((number, one)) = self.waiting.next()
        {
            self.asked.push((number, Box::pin(one)));
        }
        if self.asked.is_empty() {
            return None;
        }
        let (at, answer) = poll_fn(|cx| {
            for (at, (_, one)) in self.asked.iter_mut().enumerate() {
                if let Poll::Ready(answer) = one.as_mut().poll(cx) {
                    return Poll::Ready((at, answer));
                }
            }
            Poll::Pending
        })
        .await;
        Some((self.asked.remove(at).0, answer))
    }

    /// Drops the running futures after this index and starts no more. Returns the indexes of the dropped ones.
    pub(crate) fn drop_behind(&mut self, number: usize) -> Vec<usize> {
        // They start in order, so all waiting futures come after all running ones.
        self.on = false;
        let (before, behind): (Vec<_>, Vec<_>) = self.asked.drain(..).partition(|(one, _)| *one < number);
        self.asked = before;
        behind.into_iter().map(|(one, _)| one).collect()
    }

    /// The indexes of the running futures.
    pub(crate) fn left(&self) -> impl Iterator<Item = usize> + '_ {
        self.asked.iter().map(|(one, _)| *one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::future::pending;
    use std::task::{Context, Waker};
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn whoever_answers_first_is_heard_first_and_only_so_many_are_asked_at_a_time() {
        let (mut tell, mut told): (Vec<_>, Vec<_>) = (0..3).map(|_| oneshot::channel::<&str>()).unzip();
        let asked = Cell::new(0);
        let all = told.drain(..).inspect(|_| asked.set(asked.get() + 1));
        let mut wide = Concurrent::new(all, 2);
        tell.remove(1).send("b").unwrap();
        assert_eq!(wide.next().await, Some((1, Ok("b"))));
        assert_eq!(asked.get(), 2);
        tell.remove(1).send("c").unwrap();
        assert_eq!(wide.next().await, Some((2, Ok("c"))));
        tell.remove(0).send("a").unwrap();
        assert_eq!((wide.next().await, wide.next().await), (Some((0, Ok("a"))), None));
    }

    #[test]
    fn nobody_is_heard_before_anybody_answers() {
        let mut wide = Concurrent::new([pending::<()>()].into_iter(), 8);
        let mut next = Box::pin(wide.next());
        assert!(next.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
}
