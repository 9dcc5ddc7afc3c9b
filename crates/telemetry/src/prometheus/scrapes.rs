//! Writes metrics on a thread of its own, which gives way to threads that answer clients. Callers that wait at the same time and may
//! see the same get one answer. It is compressed here, too, for callers that want gzip: no event loop spends time on it.

use crate::machine::process::thread_nanos;
use crate::{Bound, BoundName, Full, MetricsView, Slot, background};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
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
    nanos: Arc<AtomicU64>,
}

/// Takes an answer.
type Gets = Box<dyn FnOnce(Arc<[u8]>) + Send>;

/// A caller that waits for metrics.
struct Caller {
    view: MetricsView,
    /// Whether it wants gzip.
    gzip: bool,
    gets: Gets,
    _slot: Slot,
}

impl Scrapes {
    pub(crate) fn new() -> Self {
        Self {
            thread: OnceLock::new(),
            waiting: Bound::new(BoundName::Scrapes, "", WAITING_MAX),
            answers: AtomicU64::new(0),
            nanos: Arc::default(),
        }
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.waiting
    }

    /// The number of answers, and their processor time in nanoseconds, without that of gauges.
    pub(crate) fn cost(&self) -> (u64, u64) {
        (self.answers.load(Relaxed), self.nanos.load(Relaxed))
    }

    /// Passes an answer for `view` to `gets`, on the thread, compressed if `gzip`. `gets` is dropped if writing the answer panics. Only the
    /// first call's `write` is used. If it returns nothing, the thread ends.
    pub(crate) fn ask(
        &self,
        write: impl Fn(&MetricsView) -> Option<String> + Send + 'static,
        view: MetricsView,
        gzip: bool,
        gets: Gets,
    ) -> Result<(), Full> {
        let caller = Caller { view, gzip, gets, _slot: self.waiting.enter()? };
        let thread = self.thread.get_or_init(|| start(write, self.nanos.clone()));
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

fn start(write: impl Fn(&MetricsView) -> Option<String> + Send + 'static, nanos: Arc<AtomicU64>) -> Sender<Caller> {
    let (sender, callers) = channel();
    let writes = move || {
        background();
        answer_all(write, &callers, &nanos);
    };
    let _ = std::thread::Builder::new().name("metrics".to_owned()).spawn(writes);
    sender
}

/// The thread. It ends when the sender is dropped.
fn answer_all(write: impl Fn(&MetricsView) -> Option<String>, callers: &Receiver<Caller>, nanos: &AtomicU64) {
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
            pass(page, std::iter::once(caller).chain::<Vec<_>>(same), nanos);
        }
    }
}

/// Passes a page to callers. The ones that want gzip get it from the same page, after the others.
fn pass(page: Arc<[u8]>, callers: impl Iterator<Item = Caller>, nanos: &AtomicU64) {
    let (zipped, plain): (Vec<Caller>, Vec<Caller>) = callers.partition(|caller| caller.gzip);
    plain.into_iter().for_each(|caller| (caller.gets)(page.clone()));
    if zipped.is_empty() {
        return;
    }
    let began = thread_nanos();
    // Without an answer the callers are dropped. Writing to memory does not fail.
    let Ok(page) = compressed(&page) else { return };
    nanos.fetch_add(thread_nanos().saturating_sub(began), Relaxed);
    zipped.into_iter().for_each(|caller| (caller.gets)(page.clone()));
}

/// The page as a gzip stream. The names of series repeat so much that the quickest level leaves a tenth.
fn compressed(page: &[u8]) -> std::io::Result<Arc<[u8]>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(page.len() / 8), Compression::fast());
    encoder.write_all(page)?;
    Ok(encoder.finish()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
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
            scrapes.ask(write, MetricsView::default(), false, gets)
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
            let gets = Box::new(move |page| got.send(page).unwrap());
            scrapes.ask(write, MetricsView::default(), false, gets).unwrap();
        };
        ask(got);
        assert!(answers.recv().is_err());
        let (got, answers) = channel();
        ask(got);
        assert_eq!(&*answers.recv().unwrap(), b"a");
    }

    #[test]
    fn one_page_goes_to_callers_as_it_is_and_as_gzip() {
        let (scrapes, (got, answers)) = (Scrapes::new(), channel());
        let nanos = AtomicU64::new(0);
        let page: Arc<[u8]> = "daylight_a 1\n".repeat(1000).into_bytes().into();
        let caller = |gzip| {
            let got = got.clone();
            let gets: Gets = Box::new(move |page| got.send((gzip, page)).unwrap());
            Caller { view: MetricsView::default(), gzip, gets, _slot: scrapes.waiting.enter().unwrap() }
        };
        pass(page.clone(), [true, false, true].map(caller).into_iter(), &nanos);
        let all: Vec<(bool, Arc<[u8]>)> = answers.try_iter().collect();
        assert_eq!(all.iter().map(|(gzip, _)| *gzip).collect::<Vec<_>>(), [false, true, true]);
        assert_eq!(all[0].1, page);
        assert!(Arc::ptr_eq(&all[1].1, &all[2].1), "it is compressed once");
        assert!(all[1].1.len() < page.len() / 10, "{} bytes", all[1].1.len());
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(&all[1].1[..]).read_to_end(&mut text).unwrap();
        assert_eq!(text, *page);
        assert!(nanos.load(Relaxed) > 0, "its cost counts");
    }
}
