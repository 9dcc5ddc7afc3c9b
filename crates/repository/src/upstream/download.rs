//! A body that is arriving from an upstream. A small one is held in memory. A larger one goes into a file that other
//! requests read as it grows.

use crate::content::Grown;
use crate::tree::file::File;
use crate::upstream::abandoned::Followers;
use crate::upstream::document_bytes;
use crate::upstream::expected_digests::ExpectedDigests;
use crate::upstream::failure::Failure;
use crate::upstream::trouble::Trouble;
use bytes::{Bytes, BytesMut};
use client::Arriving;
use format::tree::Checksum;
use std::fs;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use store::{Arrival, Hashes, Held, Store};
use telemetry::{Event, Op, Reason};
use tokio::sync::watch;

/// This number of bytes at the end is held back until the digest is verified, so that no client has a complete wrong
/// file. A smaller file is sent only after its verification.
pub(crate) const TAIL: u64 = 64 << 10;
/// Number of bytes that one write takes, if they have arrived.
const PIECE: usize = 64 << 10;

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
    pub(crate) growth: Option<Growth>,
}

/// Tells the readers of a growing file how many bytes they may read. Dropping it before the end breaks off their
/// replies.
pub(crate) struct Growth(watch::Sender<Grown>);

/// A body that is arriving, and the parties that need it.
pub(crate) struct Incoming<'a, S> {
    pub(crate) file: &'a File<'a>,
    pub(crate) answer: &'a mut Arriving,
    pub(crate) expected: &'a mut ExpectedDigests,
    /// Receives the growing file as soon as there are bytes to read. `None`: no request may read it before its end.
    pub(crate) show: Option<S>,
    pub(crate) followers: Followers<'a>,
    /// The most bytes that it may have.
    pub(crate) longest: u64,
}

impl<S: Show> Incoming<'_, S> {
    /// Receives the whole body.
    pub(crate) async fn take(self, store: &Store, event: &mut Event) -> Result<Download, Trouble> {
        let longest = self.longest;
        refuse_above(longest, self.answer.length().unwrap_or(0))?;
        let mut first = BytesMut::new();
        while first.len() as u64 <= TAIL
            && let Some(piece) = self.answer.next(event).await
        {
            first.extend_from_slice(&piece?);
            refuse_above(longest, first.len() as u64)?;
            if self.answer.length().is_some_and(|length| length > TAIL) {
                return self.take_file(store, first, event).await;
            }
        }
        if first.len() as u64 > TAIL {
            return self.take_file(store, first, event).await;
        }
        refuse_a_page(self.file, &first)?;
        let bytes = first.freeze();
        let hashes = event.time(Op::Hash, || Hashes::of(&bytes));
        Ok(Download { hashes, held: Held::Bytes(bytes.clone()), arrival: Arrival::Bytes(bytes), growth: None })
    }

    async fn take_file(self, store: &Store, first: BytesMut, event: &mut Event) -> Result<Download, Trouble> {
        refuse_a_page(self.file, &first)?;
        let Self { answer, expected, show, mut followers, longest, .. } = self;
        let length = answer.length();
        let mut staged = store.stage(event).await?;
        let file = Arc::new(staged.open()?);
        let (growth, grown) = Growth::new();
        let mut piece = Some(first.freeze());
        let mut show = show.map(|show| (show, grown));
        while let Some(bytes) = piece {
            staged.write(bytes, event).await?;
            growth.come_to(staged.size_bytes(), length);
            if let Some((show, grown)) = show.take() {
                show(file.clone(), grown, expected.soon(event).await?);
            }
            followers.look(growth.readers(), staged.size_bytes(), length)?;
            refuse_above(longest, staged.size_bytes())?;
            piece = gather(answer, event).await?;
        }
        let hashes = staged.hashes()?;
        let arrival = Arrival::Staged(Box::new(staged));
        Ok(Download { hashes, held: Held::File(file), arrival, growth: Some(growth) })
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

/// The next piece, together with everything else that has arrived by now, because each write costs a thread switch.
async fn gather(answer: &mut Arriving, event: &mut Event) -> Result<Option<Bytes>, Trouble> {
    let Some(first) = answer.next(event).await.transpose()? else { return Ok(None) };
    if first.len() >= PIECE {
        return Ok(Some(first));
    }
    let mut piece = BytesMut::from(first);
    while piece.len() < PIECE {
        let next = {
            let mut next = pin!(answer.next(event));
            std::future::poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx))).await
        };
        match next {
            Poll::Ready(Some(more)) => piece.extend_from_slice(&more?),
            // At the end of the body, the next call reports the end again.
            Poll::Ready(None) | Poll::Pending => break,
        }
    }
    Ok(Some(piece.freeze()))
}

/// Refuses a body of more bytes than its file can have.
fn refuse_above(longest: u64, size_bytes: u64) -> Result<(), Failure> {
    if size_bytes <= longest {
        return Ok(());
    }
    Err(Failure::new(Reason::UpstreamInvalid, format!("the upstream's file is larger than {longest} bytes")))
}

/// Refuses a body that begins like an HTML page if the file cannot be one.
pub(crate) fn refuse_a_page(file: &File<'_>, first: &[u8]) -> Result<(), Failure> {
    let text = first.trim_ascii_start();
    let begins = |with: &str| text.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with.as_bytes()));
    let page = begins("<!doctype html") || begins("<html");
    if page && !file.may_be_html() { Err(Failure::page()) } else { Ok(()) }
}
