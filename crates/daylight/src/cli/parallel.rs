//! Does the same work for many items on a few threads.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::mpsc;
use telemetry::lock;

/// Calls `work` for every item on `threads` threads, and `progress` with the number of items that are done. Each thread has a
/// state of its own, such as a connection. The results come in the order in which they were ready. After the first error
/// no further item is started.
pub(crate) fn map<I: Send, S, R: Send>(
    threads: usize,
    items: impl IntoIterator<Item = I>,
    state: impl Fn() -> anyhow::Result<S> + Sync,
    work: impl Fn(&mut S, I) -> anyhow::Result<R> + Sync,
    mut progress: impl FnMut(u64),
) -> anyhow::Result<Vec<R>> {
    let queue: Mutex<VecDeque<I>> = Mutex::new(items.into_iter().collect());
    let next = || lock(&queue).pop_front();
    let (sender, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let (sender, state, work, next) = (sender.clone(), &state, &work, &next);
            scope.spawn(move || {
                let mut state = match state() {
                    Ok(state) => state,
                    Err(error) => return drop(sender.send(Err(error))),
                };
                while let Some(item) = next() {
                    // The receiver is dropped after an error.
                    if sender.send(work(&mut state, item)).is_err() {
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
                    lock(&queue).clear();
                    return Err(error);
                }
            }
            progress(all.len() as u64);
        }
        Ok(all)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once_and_an_error_ends_it() {
        let mut count = 0;
        let mut all = map(4, 0..100, || Ok(1), |one, n| Ok(n + *one), |done| count = done).unwrap();
        all.sort_unstable();
        assert_eq!((all, count), ((1..=100).collect::<Vec<_>>(), 100));
        let failed = map(2, 0..1000, || Ok(()), |(), n| if n == 5 { anyhow::bail!("five") } else { Ok(n) }, |_| ());
        assert_eq!(failed.unwrap_err().to_string(), "five");
        assert!(map(2, [1], || anyhow::bail!("no state"), |(), _| Ok(()), |_| ()).is_err());
    }
}
