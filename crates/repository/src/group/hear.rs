//! Several are asked at once, and all who answer are heard; but those whose answer can be missed are not waited for for ever.

use super::wide::Wide;
use std::time::Duration;
use tokio::time::timeout;

/// What each of `all` says, which are so many and asked `width` at a time, in order. The first `surely` of them are waited for
/// whatever that takes. Once they have answered and one of all `has` something, others have so much `patience` left after the
/// last who answered; who is `late` then is told of while it is still asked, and says nothing.
pub(super) async fn hear<T, F: Future<Output = T>>(
    (all, count): (impl Iterator<Item = F>, usize),
    (width, patience): (usize, Duration),
    (surely, has): (usize, impl Fn(&T) -> bool),
    late: impl Fn(usize),
) -> Vec<Option<T>> {
    let mut heard: Vec<Option<T>> = (0..count).map(|_| None).collect();
    let (mut wide, mut enough) = (Wide::new(all, width), false);
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
    use std::future::pending;
    use tokio::sync::oneshot;

    /// What three say of whom the first `surely` are waited for, and who is late: the second has something, and the first answers
    /// when nobody is waited for any more.
    async fn heard(surely: usize) -> (Vec<Option<bool>>, Vec<usize>) {
        let (mut tell, told): (Vec<_>, Vec<_>) = (0..3).map(|_| oneshot::channel()).unzip();
        let (first, late) = (tell.remove(0), RefCell::new(Vec::new()));
        tell.remove(0).send(true).unwrap();
        let all = told.into_iter().map(|told| async { told.await.unwrap() });
        let is_late = |at| late.borrow_mut().push(at);
        let patience = Duration::from_millis(1);
        let hear = hear((all, 3), (8, patience), (surely, |has| *has), is_late);
        let answer = async {
            // Begins behind what is waited for there, and takes longer.
            let _ = timeout(2 * patience, pending::<()>()).await;
            // Nobody may hear it any more.
            let _ = first.send(false);
        };
        let (heard, ()) = tokio::join!(hear, answer);
        drop(tell);
        (heard, late.into_inner())
    }

    #[tokio::test]
    async fn once_one_has_something_others_are_waited_for_a_while_but_some_whatever_that_takes() {
        assert_eq!(heard(0).await, (vec![None, Some(true), None], vec![0, 2]));
        assert_eq!(heard(1).await, (vec![Some(false), Some(true), None], vec![2]));
    }
}
