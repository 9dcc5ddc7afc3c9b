//! Asks several members concurrently and gathers all answers, with a time limit for members that are not required.

use crate::group::concurrent::Concurrent;
use std::time::Duration;
use tokio::time::timeout;

/// The concurrency, and the members that are required.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    /// Maximum number of members asked at a time.
    pub(crate) width: usize,
    /// How long the others may take after the last answer, once the first `surely` members have answered and one member
    /// has something.
    pub(crate) patience: Duration,
    /// How many members at the front are required: their answers are awaited without a limit.
    pub(crate) surely: usize,
}

/// Returns the answers of `all`, which are `count`, in order; `None`: no answer in time. Such a future is handed to
/// `late` while it still runs. `has` decides whether an answer has something.
pub(crate) async fn gather<T, F: Future<Output = T>>(
    all: impl Iterator<Item = F>,
    count: usize,
    wait: Wait,
    has: impl Fn(&T) -> bool,
    late: impl Fn(usize),
) -> Vec<Option<T>> {
    let mut heard: Vec<Option<T>> = (0..count).map(|_| None).collect();
    let (mut wide, mut enough) = (Concurrent::new(all, wait.width), false);
    loop {
        let may_end = enough && heard.iter().take(wait.surely).all(Option::is_some);
        let next = match may_end {
            true => timeout(wait.patience, wide.next()).await.unwrap_or_default(),
            false => wide.next().await,
        };
        let Some((at, answer)) = next else { break };
        enough |= has(&answer);
        heard[at] = Some(answer);
    }
    heard.iter().enumerate().filter(|(_, heard)| heard.is_none()).for_each(|(at, _)| late(at));
    heard
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::pin::pin;
    use tokio::sync::oneshot;

    const PATIENCE: Duration = Duration::from_millis(1);

    fn wait(surely: usize) -> Wait {
        Wait { width: 8, patience: PATIENCE, surely }
    }

    #[tokio::test]
    async fn once_one_has_something_others_are_waited_for_a_while_and_are_late() {
        let (mut tell, told): (Vec<_>, Vec<_>) = (0..3).map(|_| oneshot::channel()).unzip();
        tell.remove(1).send(true).unwrap();
        let all = told.into_iter().map(|told| async { told.await.unwrap() });
        let late = RefCell::new(Vec::new());
        let heard = gather(all, 3, wait(0), |has| *has, |at| late.borrow_mut().push(at)).await;
        assert_eq!((heard, late.into_inner()), (vec![None, Some(true), None], vec![0, 2]));
    }

    #[tokio::test]
    async fn some_are_waited_for_whatever_that_takes() {
        let (mut tell, told): (Vec<_>, Vec<_>) = (0..3).map(|_| oneshot::channel()).unzip();
        tell.remove(1).send(true).unwrap();
        let all = told.into_iter().map(|told| async { told.await.unwrap() });
        let late = RefCell::new(Vec::new());
        let mut heard = pin!(gather(all, 3, wait(1), |has| *has, |at| late.borrow_mut().push(at)));
        assert!(timeout(5 * PATIENCE, heard.as_mut()).await.is_err(), "the first is not late");
        tell.remove(0).send(false).unwrap();
        assert_eq!(heard.await, [Some(false), Some(true), None]);
        assert_eq!(*late.borrow(), [2]);
    }
}
