//! Compresses pages on a thread of its own. A page is compressed once a client that accepts gzip was served the
//! uncompressed page.

use super::page::Page;
use super::page_cache::{PageCache, PageKey};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use telemetry::{Bound, BoundName, Op, Outcome, Recorder, Slot, background, give_way};

/// Bytes between two yields. Compressing them takes about 100 us.
const AT_ONCE: usize = 4 << 10;

/// A page to compress, and its key.
struct Job {
    key: PageKey,
    page: Arc<Page>,
    _slot: Slot,
}

/// The queue of the thread. The thread ends when this is dropped.
pub(super) struct Compressor {
    jobs: Sender<Job>,
    bound: Arc<Bound>,
}

impl Compressor {
    /// Starts the thread. `cache` holds the pages. Up to `most` of them are compressed or wait for it. A page beyond that is not compressed
    /// now; the request of the next client queues it again.
    pub(super) fn start(cache: Arc<PageCache>, most: u64, recorder: Arc<Recorder>) -> Self {
        let bound = Bound::new(BoundName::PageCompression, "", most);
        recorder.register(bound.clone());
        let (jobs, waiting) = channel();
        // If the thread cannot start, the receiver is gone and jobs are dropped.
        let _ = std::thread::Builder::new()
            .name("page-gzip".to_owned())
            .spawn(move || compress_each(&waiting, &cache, &recorder));
        Self { jobs, bound }
    }

    /// Queues `page` for compression if there is room.
    pub(super) fn ask(&self, key: PageKey, page: &Arc<Page>) {
        let job = self.bound.enter().ok().map(|slot| Job { key, page: page.clone(), _slot: slot });
        if job.is_none_or(|job| self.jobs.send(job).is_err()) {
            page.shed();
        }
    }

    #[cfg(test)]
    pub(super) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// Waits until the queue is empty.
    #[cfg(test)]
    pub(super) fn settle(&self) {
        while self.bound.used() > 0 {
            std::thread::yield_now();
        }
    }
}

fn compress_each(jobs: &Receiver<Job>, cache: &PageCache, recorder: &Arc<Recorder>) {
    background();
    for job in jobs {
        let mut recorded = telemetry::Job::begin(recorder, "page.compress");
        recorded.subject = job.page.subject.clone();
        if let Some(body) = recorded.time(Op::PageCompress, || compress(&job.page.identity.body)) {
            cache.replace(job.key, &job.page, job.page.with_gzip(body));
        }
        recorded.end(Outcome::Done);
    }
}

/// The gzip of `body`, if that is smaller by at least an eighth.
fn compress(body: &[u8]) -> Option<Bytes> {
    let mut gzip = GzEncoder::new(Vec::with_capacity(body.len() / 2), Compression::default());
    for piece in body.chunks(AT_ONCE) {
        give_way();
        gzip.write_all(piece).ok()?;
    }
    let gzip = gzip.finish().ok()?;
    (gzip.len() <= body.len() / 8 * 7).then(|| Bytes::from(gzip.into_boxed_slice()))
}
