//! Writes metrics on a thread of its own, which gives way to threads that answer clients. Callers that wait at the same time and may
//! see the same get one answer.

use crate::machine::process::thread_nanos;
use crate::{Bound, BoundName, Full, MetricsView, Slot, background};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};

/// The most callers that wait.
const WAITING_MAX: u64 = 256;

/// The thread that writes metrics, and what it has cost.
pub(crate) struct Scrapes {
    thread: OnceLock<Sender<Caller>>,
    waiting: Arc<Bound>,
    answers: AtomicU64,
    /// The processor time of the answers, without that of gauges.
    nanos: AtomicU64,
}

/// A caller that waits for metrics.
struct Caller {
    view: MetricsView,
    gets: Box<dyn FnOnce(Arc<[u8]>) + Send>,
    _slot: Slot,
}

impl Scrapes {
    pub(crate) fn new() -> Self {
        Self {
            thread: OnceLock::new(),
            waiting: Bound::new(BoundName::Scrapes, "", WAITING_MAX),
            answers: AtomicU64::new(0),
            nanos: AtomicU64::new(0),
        }
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.waiting
    }

    /// The number of answers, and their processor time in nanoseconds, without that of gauges.
    pub(crate) fn cost(&self) -> (u64, u64) {
        (self.answers.load(Relaxed), self.nanos.load(Relaxed))
    }

    /// Passes an answer for `view` to `gets`, on the thread. `gets` is dropped if writing the answer panics. Only the first call's
    /// `write` is used. If it returns nothing, the thread ends.
    pub(crate) fn ask(
        &self,
        write: impl Fn(&MetricsView) -> Option<String> + Send + 'static,
        view: MetricsView,
        gets: Box<dyn FnOnce(Arc<[u8]>) + Send>,
    ) -> Result<(), Full> {
        let caller = Caller { view, gets, _slot: self.waiting.enter()? };
        let thread = self.thread.get_or_init(|| start(write));
        // If there is no thread, the caller is dropped.
        let _ = thread.send(caller);
        Ok(())
    }

    /// Counts the processor time of one answer.
    pub(crate) fn timed<T>(&self, write: impl FnOnce() -> T) -> T {
        let began = thread_nanos();
        let written = write();
        self.answers.fetch_add(1, Relaxed);
        self.nanos.fetch_add(thread_nanos().saturating_sub(began), Relaxed);
        written
    }
}

fn start(write: impl Fn(&MetricsView) -> Option<String> + Send + 'static) -> Sender<Caller> {
    let (sender, callers) = channel();
    let writes = move || {
        background();
        answer_all(write, &callers);
    };
    let _ = std::thread::Builder::new().name("metrics".to_owned()).spawn(writes);
    sender
}

/// The thread. It ends when the sender is dropped.
fn answer_all(write: impl Fn(&MetricsView) -> Option<String>, callers: &Receiver<Caller>) {
    while let Ok(first) = callers.recv() {
        let mut waiting: Vec<Caller> = std::iter::once(first).chain(callers.try_iter()).collect();
        while let Some(caller) = waiting.pop() {
            // The same view is answered once. Everybody asked before the answer is begun.
            let (same, others) = waiting.into_iter().partition(|other| other.view == caller.view);
            waiting = others;
            let page: Arc<[u8]> = match catch_unwind(AssertUnwindSafe(|| write(&caller.view))) {
                Ok(Some(page)) => page.into_bytes().into(),
                Ok(None) => return,
                Err(_) => continue,
            };
            std::iter::once(caller).chain::<Vec<_>>(same).for_each(|caller| (caller.gets)(page.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    #[test]
    fn callers_that_wait_at_the_same_time_and_see_the_same_get_one_answer() {
        let (scrapes, (begun, begins), (release, held)) = (Scrapes::new(), channel(), sync_channel::<()>(0));
        let mut hold = Some((begun, held));
        let write = move |_: &MetricsView| {
            if let Some((begun, held)) = hold.take() {
                begun.send(()).unwrap();
                let _ = held.recv();
            }
            "a".to_owned()
        };
        let write = Arc::new(std::sync::Mutex::new(write));
        let (got, answers) = channel();
        let ask = |scrapes: &Arc<Scrapes>| {
            let (got, write, timed) = (got.clone(), write.clone(), Arc::downgrade(scrapes));
            let gets = Box::new(move |page| got.send(page).unwrap());
            let write = move |view: &MetricsView| Some(timed.upgrade()?.timed(|| (write.lock().unwrap())(view)));
            scrapes.ask(write, MetricsView::default(), gets)
        };
        let scrapes = Arc::new(scrapes);
        ask(&scrapes).unwrap();
        begins.recv().unwrap();
        (1..WAITING_MAX).for_each(|_| ask(&scrapes).unwrap());
        assert!(ask(&scrapes).is_err(), "too many wait");
        drop(release);
        for _ in 0..WAITING_MAX {
            assert_eq!(&*answers.recv().unwrap(), b"a");
        }
        assert_eq!(scrapes.cost().0, 2);
    }

    #[test]
    fn an_answer_that_panics_is_dropped_and_the_next_one_is_written() {
        let (scrapes, (got, answers)) = (Scrapes::new(), channel::<Arc<[u8]>>());
        let written = AtomicU64::new(0);
        let write = move |_: &MetricsView| match written.fetch_add(1, Relaxed) {
            0 => std::panic::resume_unwind(Box::new("no")),
            _ => Some("a".to_owned()),
        };
        let mut write = Some(write);
        let mut ask = |got: Sender<Arc<[u8]>>| {
            let write = write.take();
            let write = move |view: &MetricsView| write.as_ref().and_then(|write| write(view));
            scrapes.ask(write, MetricsView::default(), Box::new(move |page| got.send(page).unwrap())).unwrap();
        };
        ask(got);
        assert!(answers.recv().is_err());
        let (got, answers) = channel();
        ask(got);
        assert_eq!(&*answers.recv().unwrap(), b"a");
    }
}
