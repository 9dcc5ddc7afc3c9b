//! Several are asked at once, and all who answer are heard; but those whose answer can be missed are not waited for for ever.

use crate::group::concurrent::Concurrent;
use std::time::Duration;
use tokio::time::timeout;

/// What each of `all` says, which are so many and asked `width` at a time, in order. The first `surely` of them are waited for
/// whatever that takes. Once they have answered and one of all `has` something, others have so much `patience` left after the
/// last who answered; who is `late` then is told of while it is still asked, and says nothing.
pub(crate) async fn gather<T, F: Future<Output = T>>(
    (all, count): (impl Iterator<Item = F>, usize),
    (width, patience): (usize, Duration),
    (surely, has): (usize, impl Fn(&T) -> bool),
    late: impl Fn(usize),
) -> Vec<Option<T>> {
    let mut heard: Vec<Option<T>> = (0..count).map(|_| None).collect();
    let (mut wide, mut enough) = (Concurrent::new(all, width), false);
    loop {
        let may_end = enough && heard.iter().take(surely).all(Option::is_some);
        let next = match may_end {
            true => timeout(patience, wide.next()).await.unwrap_or_default(),
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

    #[tokio::test]
    async fn once_one_has_something_others_are_waited_for_a_while_and_are_late() {
        let (mut tell, told): (Vec<_>, Vec<_>) = (0..3).map(|_| oneshot::channel()).unzip();
        tell.remove(1).send(true).unwrap();
        let all = told.into_iter().map(|told| async { told.await.unwrap() });
        let late = RefCell::new(Vec::new());
        let heard = gather((all, 3), (8, PATIENCE), (0, |has| *has), |at| late.borrow_mut().push(at)).await;
        assert_eq!((heard, late.into_inner()), (vec![None, Some(true), None], vec![0, 2]));
    }

    #[tokio::test]
    async fn some_are_waited_for_whatever_that_takes() {
        let (mut tell, told): (Vec<_>, Vec<_>) = (0..3).map(|_| oneshot::channel()).unzip();
        tell.remove(1).send(true).unwrap();
        let all = told.into_iter().map(|told| async { told.await.unwrap() });
        let late = RefCell::new(Vec::new());
        let mut heard = pin!(gather((all, 3), (8, PATIENCE), (1, |has| *has), |at| late.borrow_mut().push(at)));
        assert!(timeout(5 * PATIENCE, heard.as_mut()).await.is_err(), "the first is not late");
        tell.remove(0).send(false).unwrap();
        assert_eq!(heard.await, [Some(false), Some(true), None]);
        assert_eq!(*late.borrow(), [2]);
    }
}
