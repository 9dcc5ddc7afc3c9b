//! A body that is arriving from an upstream. A small one is held in memory. A larger one goes into a file that other
//! requests read as it grows.

use crate::content::Grown;
use crate::tree::file::File;
use crate::upstream::abandoned::Followers;
use crate::upstream::document_bytes;
use crate::upstream::expected_digests::ExpectedDigests;
use crate::upstream::failure::Failure;
use crate::upstream::pieces::Pieces;
use crate::upstream::trouble::Trouble;
use bytes::{Bytes, BytesMut};
use format::tree::Checksum;
use std::fs;
use std::io;
use std::sync::Arc;
use store::{Arrival, Hashes, Held, MoreDigests, Store};
use telemetry::{Event, Op};
use tokio::sync::watch;

/// This number of bytes at the end is held back until the digest is verified, so that no client has a complete wrong
/// file. A smaller file is sent only after its verification.
pub(crate) const TAIL: u64 = 64 << 10;

/// Receives the file that other requests may read from now on as it grows, and the expected digests.
pub(crate) trait Show: FnOnce(Arc<fs::File>, watch::Receiver<Grown>, Promised) {}
impl<F: FnOnce(Arc<fs::File>, watch::Receiver<Grown>, Promised)> Show for F {}
type Promised = Arc<[(Checksum, String)]>;

/// A body that has arrived completely, with its digests. They are not verified yet.
pub(crate) struct Download {
    pub(crate) hashes: Hashes,
    /// The content for answers.
    pub(crate) held: Held,
    /// The file for the store.
    pub(crate) arrival: Arrival,
    /// Tells the readers of the growing file that it has ended, if there are readers.
    pub(crate) growth: Option<Arc<Growth>>,
}

/// Tells the readers of a growing file how many bytes they may read. Dropping it before the end breaks off their
/// replies.
pub(crate) struct Growth(watch::Sender<Grown>);

/// A body that is arriving, and the parties that need it.
pub(crate) struct Incoming<'a, S> {
    pub(crate) file: &'a File<'a>,
    pub(crate) pieces: Pieces<'a>,
    pub(crate) expected: &'a ExpectedDigests,
    /// The digests that it gets besides SHA-256 and SHA-1.
    pub(crate) more: MoreDigests,
    /// Receives the growing file as soon as there are bytes to read. `None`: no request may read it before its end.
    pub(crate) show: Option<S>,
    pub(crate) followers: Followers<'a>,
}

impl<S: Show> Incoming<'_, S> {
    /// Receives the whole body.
    pub(crate) async fn take(mut self, store: &Store, event: &mut Event) -> Result<Download, Trouble> {
        self.pieces.check_length()?;
        // Of a body that is announced as long, the first bytes are enough to begin its file.
        let enough = if self.pieces.length().is_some_and(|length| length > TAIL) { 0 } else { TAIL };
        let mut first = BytesMut::new();
        while !self.pieces.is_over() && first.len() as u64 <= enough {
            self.pieces.gather(&mut first, event).await?;
        }
        refuse_a_page(self.file, &first)?;
        if !self.pieces.is_over() || first.len() as u64 > TAIL {
            return self.take_file(store, first, event).await;
        }
        let bytes = self.pieces.keep(first);
        let hashes = event.time(Op::Hash, || Hashes::with(&bytes, self.more));
        Ok(Download { hashes, held: Held::Bytes(bytes.clone()), arrival: Arrival::Bytes(bytes), growth: None })
    }

    /// Receives what follows `first` into a file. A piece is written while the next one arrives, and its readers are woken
    /// by the thread that has written it.
    async fn take_file(self, store: &Store, first: BytesMut, event: &mut Event) -> Result<Download, Trouble> {
        let Self { mut pieces, expected, more, show, mut followers, .. } = self;
        let length = pieces.length();
        let (mut staged, file, mut piece) = store.stage_first(more, first, event).await?;
        let (file, mut growth) = (Arc::new(file), None);
        // A file that is complete by now is shown after its verification.
        if !pieces.is_over() {
            let (begun, grown) = Growth::new();
            begun.come_to(pieces.came(), length);
            if let Some(show) = show {
                show(file.clone(), grown, expected.soon(event).await);
            }
            growth = Some(Arc::new(begun));
        }
        while let Some(growth) = growth.as_ref().filter(|_| !pieces.is_over()) {
            followers.look(growth.readers(), pieces.came(), length)?;
            pieces.gather(&mut piece, event).await?;
            let (growth, came) = (growth.clone(), pieces.came());
            piece = staged.write_behind(piece, move || growth.come_to(came, length), event).await?;
        }
        pieces.give_back(staged.settle(event).await?);
        pieces.give_back(piece);
        let hashes = staged.hashes()?;
        let arrival = Arrival::Staged(Box::new(staged));
        Ok(Download { hashes, held: Held::File(file), arrival, growth })
    }
}

impl Download {
    /// Reads the bytes of a document, which may be in a file, up to `longest` bytes.
    pub(crate) fn document(&self, longest: usize) -> impl FnOnce() -> io::Result<Bytes> + Send + 'static {
        document_bytes::read(&self.held, self.hashes.size_bytes, longest)
    }
}

impl Growth {
    /// The state of a file without bytes, and the receiver that readers watch.
    pub(crate) fn new() -> (Self, watch::Receiver<Grown>) {
        let (growth, grown) = watch::channel(Grown::Going(0));
        (Self(growth), grown)
    }

    /// The digests are verified, so readers may have the rest.
    pub(crate) fn whole(&self, len: u64) {
        self.0.send_replace(Grown::Whole(len));
    }

    /// The number of readers of the file, apart from the fetch that shows it.
    fn readers(&self) -> usize {
        self.0.receiver_count().saturating_sub(1)
    }

    /// Records that `written` bytes of `length` have arrived.
    pub(crate) fn come_to(&self, written: u64, length: Option<u64>) {
        let may_be_read = written.min(length.unwrap_or(written).saturating_sub(TAIL));
        self.0.send_replace(Grown::Going(may_be_read));
    }
}

impl Drop for Growth {
    fn drop(&mut self) {
        let broken = |grown: &mut Grown| {
            let going = matches!(grown, Grown::Going(_));
            if going {
                *grown = Grown::Broken;
            }
            going
        };
        self.0.send_if_modified(broken);
    }
}

/// Refuses a body that begins like an HTML page if the file cannot be one.
pub(crate) fn refuse_a_page(file: &File<'_>, first: &[u8]) -> Result<(), Failure> {
    let text = first.trim_ascii_start();
    let begins = |with: &str| text.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with.as_bytes()));
    let page = begins("<!doctype html") || begins("<html");
    if page && !file.may_be_html() { Err(Failure::page()) } else { Ok(()) }
}
