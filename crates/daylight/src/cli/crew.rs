//! The same work for many things, a few at a time.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc;

/// Does `work` for every thing, on `size` threads, each with tools of its own; tells how many are done after each. The
/// results come in the order in which they were ready. After the first error nothing new is begun.
pub(super) fn each<I: Send, T, R: Send>(
    size: usize,
    things: impl IntoIterator<Item = I>,
    tools: impl Fn() -> Result<T, anyhow::Error> + Sync,
    work: impl Fn(&mut T, I) -> Result<R, anyhow::Error> + Sync,
    mut tell: impl FnMut(u64),
) -> Result<Vec<R>, anyhow::Error> {
    let queue: Mutex<VecDeque<I>> = Mutex::new(things.into_iter().collect());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let (sender, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..size.max(1) {
            let (sender, tools, work, next) = (sender.clone(), &tools, &work, &next);
            scope.spawn(move || {
                let mut mine = match tools() {
                    Ok(mine) => mine,
                    Err(error) => return drop(sender.send(Err(error))),
                };
                while let Some(thing) = next() {
                    // Nobody listens any more after an error.
                    if sender.send(work(&mut mine, thing)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut all = Vec::new();
        for result in &results {
            match result {
                Ok(result) => all.push(result),
                Err(error) => {
                    queue.lock().unwrap_or_else(PoisonError::into_inner).clear();
                    return Err(error);
                }
            }
            tell(all.len() as u64);
        }
        Ok(all)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once_and_an_error_ends_it() {
        let mut told = 0;
        let mut all = each(4, 0..100, || Ok(1), |one, n| Ok(n + *one), |done| told = done).unwrap();
        all.sort_unstable();
        assert_eq!((all, told), ((1..=100).collect::<Vec<_>>(), 100));
        let failed = each(2, 0..1000, || Ok(()), |(), n| if n == 5 { anyhow::bail!("five") } else { Ok(n) }, |_| ());
        assert_eq!(failed.unwrap_err().to_string(), "five");
        assert!(each(2, [1], || anyhow::bail!("no tools"), |(), _| Ok(()), |_| ()).is_err());
    }
}
