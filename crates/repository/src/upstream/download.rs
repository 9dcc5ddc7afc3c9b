//! A body on its way from an upstream: few bytes are held in memory, more go into a file that others read as it grows.

use crate::content::Grown;
use crate::format::Format;
use crate::upstream::abandoned::Followers;
use crate::upstream::expected_digests::ExpectedDigests;
use crate::upstream::failure::Failure;
use crate::upstream::path_class;
use crate::upstream::trouble::Trouble;
use bytes::{Bytes, BytesMut};
use client::Arriving;
use format::tree::Checksum;
use std::fs::File;
use std::future::Future;
use std::io;
use std::os::unix::fs::FileExt;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use store::{Arrival, Hashes, Held, Store};
use telemetry::{Event, Op, Reason};
use tokio::sync::watch;

/// The last so many bytes are held back until the digest is known to be right: what was sent before them is no file yet.
/// What has no more is never sent before.
const TAIL: u64 = 64 << 10;
/// Bytes that are written at a time, where they have arrived.
const PIECE: usize = 64 << 10;
/// The largest file that is taken.
const FILE_MAX_BYTES: u64 = 64 << 30;
/// One byte more than a document may have.
const DOCUMENT_MAX_BYTES: u64 = format::maven::LONGEST as u64 + 1;

/// Takes a file that others may read from now on as it grows, and the digests that are promised for it.
pub(crate) trait Show: FnOnce(Arc<File>, watch::Receiver<Grown>, Promised) {}
impl<F: FnOnce(Arc<File>, watch::Receiver<Grown>, Promised)> Show for F {}
type Promised = Arc<[(Checksum, String)]>;

/// A body that has come to its end, with its digests. It is not known yet whether they are right.
pub(crate) struct Download {
    pub(crate) hashes: Hashes,
    /// For whoever answers with it.
    pub(crate) held: Held,
    /// For the store.
    pub(crate) arrival: Arrival,
    /// Whom to tell, where others read it already.
    pub(crate) growth: Option<Growth>,
}

/// Tells those who read the file how far it has come. When it is dropped before the end, the file is broken.
pub(crate) struct Growth(watch::Sender<Grown>);

impl Download {
    /// Takes all of a body. `show` is told of the file once there are bytes to read, and what is promised of them.
    pub(crate) async fn take(
        store: &Store,
        path: (Format, &str),
        answer: &mut Arriving,
        (promise, show, followers): (&mut ExpectedDigests, impl Show, Followers<'_>),
        event: &mut Event,
    ) -> Result<Self, Trouble> {
        let mut first = BytesMut::new();
        while first.len() as u64 <= TAIL
            && let Some(piece) = answer.next(event).await
        {
            first.extend_from_slice(&piece?);
            if answer.length().is_some_and(|length| length > TAIL) {
                return Self::take_file(store, path, (answer, first), (promise, show, followers), event).await;
            }
        }
        if first.len() as u64 > TAIL {
            return Self::take_file(store, path, (answer, first), (promise, show, followers), event).await;
        }
        refuse_a_page(path, &first)?;
        let bytes = first.freeze();
        let hashes = event.time(Op::Hash, || Hashes::of(&bytes));
        Ok(Self { hashes, held: Held::Bytes(bytes.clone()), arrival: Arrival::Bytes(bytes), growth: None })
    }

    /// What gives its bytes, for whoever has to look inside.
    pub(crate) fn document(&self) -> impl FnOnce() -> io::Result<Bytes> + Send + 'static {
        document(&self.held, self.hashes.size_bytes)
    }

    async fn take_file(
        store: &Store,
        path: (Format, &str),
        (answer, first): (&mut Arriving, BytesMut),
        (promise, show, followers): (&mut ExpectedDigests, impl Show, Followers<'_>),
        event: &mut Event,
    ) -> Result<Self, Trouble> {
        refuse_a_page(path, &first)?;
        let length = answer.length();
        let mut staged = store.stage(event).await?;
        let file = Arc::new(staged.open()?);
        let (told, grown) = watch::channel(Grown::Going(0));
        let growth = Growth(told);
        let mut piece = Some(first.freeze());
        let (mut show, mut followers) = (Some((show, grown)), followers);
        while let Some(bytes) = piece {
            staged.write(bytes, event).await?;
            growth.come_to(staged.size_bytes(), length);
            if let Some((show, grown)) = show.take() {
                show(file.clone(), grown, promise.soon(event).await?);
            }
            followers.look(growth.readers(), staged.size_bytes(), length)?;
            if staged.size_bytes() > FILE_MAX_BYTES {
                let text = format!("the upstream's file is larger than {FILE_MAX_BYTES} bytes");
                return Err(Failure::new(Reason::UpstreamInvalid, text).into());
            }
            piece = gather(answer, event).await?;
        }
        let hashes = staged.hashes().ok_or(store::Error::GivenUp)?;
        let arrival = Arrival::Staged(Box::new(staged));
        Ok(Self { hashes, held: Held::File(file), arrival, growth: Some(growth) })
    }
}

/// What gives the bytes of a file of so many: all that a document may have, and one more that says that it has too many. It may
/// read a file.
pub(crate) fn document(held: &Held, size_bytes: u64) -> impl FnOnce() -> io::Result<Bytes> + Send + 'static {
    let (held, most) = (held.clone(), size_bytes.min(DOCUMENT_MAX_BYTES));
    move || match held {
        Held::Bytes(bytes) => Ok(bytes),
        Held::File(file) => {
            let mut bytes = vec![0; usize::try_from(most).unwrap_or(usize::MAX)];
            file.read_exact_at(&mut bytes, 0)?;
            Ok(bytes.into())
        }
    }
}

impl Growth {
    /// The digests are right: those who read may have the rest.
    pub(crate) fn whole(&self, len: u64) {
        self.0.send_replace(Grown::Whole(len));
    }

    /// How many read the file, besides who shows it to those who come.
    fn readers(&self) -> usize {
        self.0.receiver_count().saturating_sub(1)
    }

    fn come_to(&self, written: u64, length: Option<u64>) {
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

/// The next piece, with what else has arrived by now: each is written by a thread of the store.
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
            // At the end, the next call says so again.
            Poll::Ready(None) | Poll::Pending => break,
        }
    }
    Ok(Some(piece.freeze()))
}

/// Refuses what begins like a page for people where none can be.
fn refuse_a_page((format, path): (Format, &str), first: &[u8]) -> Result<(), Failure> {
    let text = first.trim_ascii_start();
    let begins = |with: &str| text.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with.as_bytes()));
    let page = begins("<!doctype html") || begins("<html");
    if page && !path_class::may_be_html(format, path) { Err(Failure::page()) } else { Ok(()) }
}
