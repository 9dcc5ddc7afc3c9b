//! The gzip form of a page: made on a thread that no client waits for, once somebody who accepts it was answered without.

use super::page::{Form, Page};
use super::page_cache::{Key, Shelf};
use crate::request::Request;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderMap, header};
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use telemetry::{Bound, BoundName, Event, Op, Outcome, Recorder, Slot, Tick, background, give_way};

/// Pages that may wait for the thread. One more is not compressed now; whoever asks next asks for it again.
const QUEUE: u64 = 256;
/// Less fits into one packet as it is.
const SMALLEST: usize = 1 << 10;

/// So much is compressed in some 100 us.
const AT_ONCE: usize = 4 << 10;

/// A page to compress, and where it stands.
struct Job<S> {
    key: Key,
    page: Arc<Page<S>>,
    _slot: Slot,
}

/// The way to the thread, which ends when this is dropped.
pub(super) struct Compressor<S> {
    jobs: Sender<Job<S>>,
    bound: Arc<Bound>,
}

impl<S: Clone + Send + Sync + 'static> Compressor<S> {
    /// Starts the thread. `shelf` is where the pages stand.
    pub(super) fn start(shelf: Arc<Shelf<S>>, recorder: Arc<Recorder>) -> Self {
        let bound = Bound::new(BoundName::PageCompression, "", QUEUE);
        recorder.register(bound.clone());
        let (jobs, waiting) = channel();
        // Without the thread there is nobody to send to, and the jobs are shed.
        let _ = std::thread::Builder::new()
            .name("page-gzip".to_owned())
            .spawn(move || compress_each(&waiting, &shelf, &recorder));
        Self { jobs, bound }
    }

    /// Has the gzip form of `page` made, some time, if there is room in the queue.
    pub(super) fn ask(&self, key: Key, page: &Arc<Page<S>>) {
        let job = self.bound.enter().ok().map(|slot| Job { key, page: page.clone(), _slot: slot });
        if job.is_none_or(|job| self.jobs.send(job).is_err()) {
            page.shed();
        }
    }

    /// Waits until nothing waits.
    #[cfg(test)]
    pub(super) fn settle(&self) {
        while self.bound.used() > 0 {
            std::thread::yield_now();
        }
    }
}

fn compress_each<S: Clone>(jobs: &Receiver<Job<S>>, shelf: &Shelf<S>, recorder: &Recorder) {
    background();
    for job in jobs {
        recorder.attempt();
        let mut event = Event::job("page.compress", recorder.clock().now());
        event.subject = job.page.subject.clone();
        if let Some(body) = event.time(Op::PageCompress, || compress(&job.page.identity.body)) {
            shelf.replace(job.key, &job.page, job.page.with_gzip(body));
        }
        event.outcome = Some(Outcome::Done);
        event.duration = Tick::now().since(event.began);
        recorder.release(event);
    }
}

/// The gzip of `body`, if it is smaller by an eighth at least.
fn compress(body: &[u8]) -> Option<Bytes> {
    let mut gzip = GzEncoder::new(Vec::with_capacity(body.len() / 2), Compression::default());
    for piece in body.chunks(AT_ONCE) {
        give_way();
        gzip.write_all(piece).ok()?;
    }
    let gzip = gzip.finish().ok()?;
    (gzip.len() <= body.len() / 8 * 7).then(|| Bytes::from(gzip.into_boxed_slice()))
}

/// Whether a gzip form may be made: whoever made the reply says by `Vary` that it may come in several, and it is text.
pub(super) fn fits(form: &Form) -> bool {
    const TEXT: [&str; 4] = ["text/", "application/json", "application/xml", "image/svg+xml"];
    let text = |name| form.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    form.body.len() >= SMALLEST
        && TEXT.iter().any(|kind| text(header::CONTENT_TYPE).starts_with(kind))
        && text(header::VARY).split(',').any(|name| name.trim().eq_ignore_ascii_case("accept-encoding"))
}

/// Whether `request` is to get the gzip form. Ranges are of identity: clients join them to what they have decoded.
pub fn wanted(request: &Request) -> bool {
    accepted(|| codings(&request.headers)) && !request.headers.contains_key(header::RANGE)
}

fn codings(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok())
}

/// Whether whoever sent these lines of `Accept-Encoding` takes gzip (RFC 9110, 12.5.3). One who names no coding is not taken to
/// mean all.
pub(crate) fn accepted<'a, L: Iterator<Item = &'a str>>(lines: impl Fn() -> L) -> bool {
    let weight = |wanted: &[&str]| {
        lines().flat_map(|line| line.split(',')).find_map(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let refused = parts.any(|part| part.strip_prefix("q=").is_some_and(is_zero));
            wanted.iter().any(|wanted| name.eq_ignore_ascii_case(wanted)).then_some(!refused)
        })
    };
    weight(&["gzip", "x-gzip"]).or_else(|| weight(&["*"])).unwrap_or(false)
}

fn is_zero(weight: &str) -> bool {
    weight.bytes().all(|byte| matches!(byte, b'0' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn gzip_is_given_to_those_who_say_that_they_take_it() {
        let said = |lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::ACCEPT_ENCODING, HeaderValue::from_static(line));
            }
            accepted(|| codings(&headers))
        };
        for yes in [
            &["gzip"][..],
            &["gzip;q=1.0,deflate;q=0.6,identity;q=0.3"],
            &["br, GZIP ; q=0.5"],
            &["br", "x-gzip"],
            &["*"],
            &["br;q=0, *;q=0.1"],
        ] {
            assert!(said(yes), "{yes:?}");
        }
        for no in [&[][..], &[""], &["identity"], &["gzip;q=0"], &["gzip; q=0.000, *"], &["*;q=0"], &["gzipped"]] {
            assert!(!said(no), "{no:?}");
        }
    }
}
