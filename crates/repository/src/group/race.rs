//! Asks several members concurrently, until it is certain which is the first in their order that has the file.

use crate::group::concurrent::Concurrent;
use std::time::Duration;
use telemetry::Tick;
use tokio::time::timeout;

/// The result for one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RaceOutcome<T> {
    /// It answered.
    Answer(T),
    /// It had not answered long after a later member that has the file. The number is nanoseconds since the start.
    Late(u64),
    /// It was dropped because an earlier member has the file. The number is nanoseconds since the start.
    Dropped(u64),
    /// It was not asked, because that was not necessary.
    NotAsked,
}

/// Asks `all`, which are `count`, in order, `width` at a time. `has` decides whether an answer has the file. As soon as
/// one does, later members are dropped and earlier ones get `patience` as a time limit. A future that exceeds it is
/// handed to `late` while it still runs.
pub(crate) async fn race<T, F: Future<Output = T>>(
    all: impl Iterator<Item = F>,
    count: usize,
    width: usize,
    patience: Duration,
    has: impl Fn(&T) -> bool,
    late: impl Fn(usize),
) -> Vec<RaceOutcome<T>> {
    let mut came: Vec<RaceOutcome<T>> = (0..count).map(|_| RaceOutcome::NotAsked).collect();
    let (mut wide, began, mut hit) = (Concurrent::new(all, width), Tick::now(), None);
    loop {
        let next = match hit {
            None => Ok(wide.next().await),
            Some(hit) => {
                let left = patience.saturating_sub(Duration::from_nanos(Tick::now().since(hit)));
                timeout(left, wide.next()).await
            }
        };
        let nanos = Tick::now().since(began);
        match next {
            Ok(None) => return came,
            Ok(Some((at, answer))) => {
                if has(&answer) {
                    hit = hit.or_else(|| Some(Tick::now()));
                    wide.drop_behind(at).into_iter().for_each(|behind| came[behind] = RaceOutcome::Dropped(nanos));
                }
                came[at] = RaceOutcome::Answer(answer);
            }
            Err(_) => {
                for at in wide.left() {
                    late(at);
                    came[at] = RaceOutcome::Late(nanos);
                }
                return came;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use tokio::sync::oneshot::{Receiver, Sender, channel};

    const LONG: Duration = Duration::from_secs(60);

    /// Members that answer on command, with or without the file.
    struct Members {
        tell: RefCell<Vec<Option<Sender<bool>>>>,
        told: RefCell<Vec<Option<Receiver<bool>>>>,
        asked: Cell<usize>,
    }

    impl Members {
        fn new(count: usize) -> Self {
            let (tell, told) = (0..count).map(|_| channel()).map(|(tell, told)| (Some(tell), Some(told))).unzip();
            Self { tell: RefCell::new(tell), told: RefCell::new(told), asked: Cell::new(0) }
        }

        fn ask(&self, at: usize) -> impl Future<Output = bool> + use<> {
            self.asked.set(self.asked.get() + 1);
            let told = self.told.borrow_mut()[at].take().unwrap();
            async move { told.await.unwrap() }
        }

        /// Waits until exactly this number of members are being asked.
        async fn asked(&self, count: usize) {
            for _ in 0..9 {
                tokio::task::yield_now().await;
            }
            assert_eq!(self.asked.get(), count);
        }

        fn say(&self, at: usize, has: bool) {
            self.tell.borrow_mut()[at].take().unwrap().send(has).unwrap();
        }

        async fn race(&self, count: usize, width: usize, patience: Duration) -> Vec<RaceOutcome<bool>> {
            let late = |at: usize| assert!(self.tell.borrow()[at].as_ref().is_some_and(|tell| !tell.is_closed()));
            race((0..count).map(|at| self.ask(at)), count, width, patience, |has| *has, late).await
        }
    }

    /// Removes the nanoseconds, which differ from run to run.
    fn kinds(came: Vec<RaceOutcome<bool>>) -> Vec<RaceOutcome<bool>> {
        let kind = |one| match one {
            RaceOutcome::Late(_) => RaceOutcome::Late(0),
            RaceOutcome::Dropped(_) => RaceOutcome::Dropped(0),
            other => other,
        };
        came.into_iter().map(kind).collect()
    }

    #[tokio::test]
    async fn the_first_in_order_wins_though_a_later_one_was_quicker_and_the_rest_is_dropped() {
        let members = Members::new(6);
        let told = async {
            members.asked(4).await;
            members.say(3, true);
            members.asked(4).await;
            members.say(0, false);
            members.say(1, true);
        };
        let (came, ()) = tokio::join!(members.race(6, 4, LONG), told);
        use RaceOutcome::{Answer, Dropped, NotAsked};
        assert_eq!(kinds(came), [Answer(false), Answer(true), Dropped(0), Answer(true), NotAsked, NotAsked]);
    }

    #[tokio::test]
    async fn no_more_are_asked_at_once_than_may_be_and_all_are_where_nobody_has_it() {
        let members = Members::new(20);
        let told = async {
            for at in 0..20 {
                members.asked((at + 8).min(20)).await;
                members.say(at, false);
            }
        };
        let (came, ()) = tokio::join!(members.race(20, 8, LONG), told);
        assert_eq!(came, [RaceOutcome::Answer(false); 20]);
    }

    #[tokio::test]
    async fn an_earlier_one_that_says_nothing_is_waited_for_a_while_and_then_is_late() {
        let members = Members::new(3);
        members.say(1, true);
        let came = members.race(3, 8, Duration::from_millis(1)).await;
        assert_eq!(kinds(came), [RaceOutcome::Late(0), RaceOutcome::Answer(true), RaceOutcome::Dropped(0)]);
    }
}
