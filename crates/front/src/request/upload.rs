//! The body of a request, read in chunks, with limits of size and rate.

use crate::limits::Limits;
use bytes::Bytes;
use h2::RecvStream;
use http::{HeaderMap, header};
use http_body::Body as _;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use telemetry::{Event, Op, lock};
use tokio::time::timeout;

/// Why an upload was not received completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UploadError {
    /// It is longer than the limit, by its declared length or by its actual one.
    #[error("the upload is longer than {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// Nothing arrived for too long, or the average rate was too low.
    #[error("the upload stopped arriving")]
    TooSlow,
    /// The connection ended before the body did, or the framing is invalid.
    #[error("the upload ended before its declared length")]
    Short,
}

/// The source of an upload's bytes.
#[derive(Debug, Default)]
pub(crate) enum UploadSource {
    #[default]
    None,
    Whole(Bytes),
    Http1(Incoming),
    /// HTTP/2: h2 buffers no more than the windows that it grants.
    Http2(RecvStream),
}

impl UploadSource {
    /// Whether the body has ended.
    fn is_ended(&self) -> bool {
        match self {
            UploadSource::None => true,
            UploadSource::Whole(bytes) => bytes.is_empty(),
            UploadSource::Http1(incoming) => incoming.is_end_stream(),
            UploadSource::Http2(stream) => stream.is_end_stream(),
        }
    }
}

/// Returns the unread part of a body from the handler to the exchange, which drains it or closes the connection.
pub(crate) type UnreadBody = Arc<Mutex<Option<UploadSource>>>;

/// The body of a request. It is read in chunks and never held as a whole.
///
/// With `Expect: 100-continue`, the client gets the 100 when the body is first read. If a handler answers without
/// reading the body, the client need not send it.
///
/// It may be taken out of its request, and read elsewhere while the handler works. On HTTP/1 it ends with the reply: an upload that is
/// then still held, and not read to its end, ends the connection.
#[derive(Debug, Default)]
pub struct Upload {
    source: UploadSource,
    declared: Option<u64>,
    received: u64,
    limit: u64,
    pace: Pace,
    unread: Option<UnreadBody>,
    requested: Option<BodyRequested>,
    /// The bytes that have arrived, for the table of open requests. Only a body that arrives has it.
    progress: Option<Arc<AtomicU64>>,
    /// The whole body, after [`Upload::hold`].
    held: Option<Bytes>,
    trailers: Option<HeaderMap>,
}

/// Whether the handler has started to read the body. For HTTP/2, where h2 does not send the 100 by itself.
pub(crate) type BodyRequested = Arc<AtomicBool>;

/// The limits on how slowly an upload may arrive.
#[derive(Debug, Default)]
struct Pace {
    /// Longest time without a byte.
    idle: Duration,
    /// Bytes per second on average, after a wait of `grace`.
    rate: u64,
    grace: Duration,
    /// How long the handler has waited so far. The handler's own work does not count.
    waited: Duration,
}

impl Pace {
    /// Adds a wait, after which `received` bytes have arrived in all. Returns whether the rate is high enough.
    fn keeps(&mut self, waited: Duration, received: u64) -> bool {
        self.waited += waited;
        let due = u128::from(self.rate) * self.waited.as_nanos() / 1_000_000_000;
        self.waited <= self.grace || u128::from(received) >= due
    }
}

impl Upload {
    /// A body in memory, for callers other than the front.
    pub fn whole(bytes: Bytes) -> Self {
        let mut upload = Self::default();
        upload.limit = u64::MAX;
        upload.declared = Some(bytes.len() as u64);
        upload.source = UploadSource::Whole(bytes);
        upload
    }

    /// No body.
    pub(crate) fn none(limits: &Limits) -> Self {
        Self::from(UploadSource::None, Some(0), limits)
    }

    pub(crate) fn http1(incoming: Incoming, limits: &Limits) -> Self {
        let (declared, some) = (incoming.size_hint().exact(), !incoming.is_end_stream());
        let source = if some { UploadSource::Http1(incoming) } else { UploadSource::None };
        let mut upload = Self::from(source, declared, limits);
        (upload.unread, upload.progress) = (some.then(UnreadBody::default), some.then(Arc::default));
        upload
    }

    /// The body of an HTTP/2 request. h2 discards unread bytes.
    pub(crate) fn http2(stream: RecvStream, headers: &HeaderMap, limits: &Limits) -> Self {
        if stream.is_end_stream() {
            return Self::none(limits);
        }
        let declared = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let mut upload = Self::from(UploadSource::Http2(stream), declared, limits);
        (upload.unread, upload.progress) = (Some(UnreadBody::default()), Some(Arc::default()));
        upload.requested = Some(BodyRequested::default());
        upload
    }

    fn from(source: UploadSource, declared: Option<u64>, limits: &Limits) -> Self {
        let pace = Pace {
            idle: limits.upload_idle,
            rate: limits.upload_rate,
            grace: limits.upload_grace,
            waited: Duration::ZERO,
        };
        Self {
            source,
            declared,
            received: 0,
            limit: limits.upload,
            pace,
            unread: None,
            requested: None,
            progress: None,
            held: None,
            trailers: None,
        }
    }

    pub(crate) fn unread(&self) -> Option<UnreadBody> {
        self.unread.clone()
    }

    /// The bytes that have arrived, for as long as the handler has the upload.
    pub(crate) fn progress(&self) -> Option<Arc<AtomicU64>> {
        self.progress.clone()
    }

    pub(crate) fn requested(&self) -> Option<BodyRequested> {
        self.requested.clone()
    }

    /// Sets the limit in bytes. Call it before the first [`Upload::next`].
    pub fn limit(&mut self, bytes: u64) {
        self.limit = bytes;
    }

    /// The declared length; `None` for a chunked body.
    pub fn declared(&self) -> Option<u64> {
        self.declared
    }

    /// The trailers, after the last chunk. `None`: there were none.
    pub fn trailers(&mut self) -> Option<HeaderMap> {
        self.trailers.take()
    }

    /// Whether there is no body at all.
    pub fn is_none(&self) -> bool {
        matches!(self.source, UploadSource::None)
    }

    /// The next chunk; `None` after the last one. After an error there are no more chunks.
    pub async fn next(&mut self, event: &mut Event) -> Option<Result<Bytes, UploadError>> {
        if self.declared.is_some_and(|declared| declared > self.limit) {
            self.give_back();
            return Some(Err(UploadError::TooLarge { limit: self.limit }));
        }
        if let Some(requested) = &self.requested {
            requested.store(true, Relaxed);
        }
        let piece = match &mut self.source {
            UploadSource::None => return None,
            UploadSource::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                self.source = UploadSource::None;
                if bytes.is_empty() {
                    return None;
                }
                Ok(bytes)
            }
            from => {
                let receiving = event.running(Op::BodyReceive);
                let piece = receive(from, &mut self.trailers, self.pace.idle).await;
                let waited = receiving.end();
                match piece {
                    Some(Ok(bytes)) => {
                        let received = self.received + bytes.len() as u64;
                        let enough = self.pace.keeps(Duration::from_nanos(waited), received);
                        if enough || from.is_ended() { Ok(bytes) } else { Err(UploadError::TooSlow) }
                    }
                    Some(Err(error)) => Err(error),
                    None => {
                        self.source = UploadSource::None;
                        // Nothing of it is unread, even while it is held.
                        self.unread = None;
                        return None;
                    }
                }
            }
        };
        let piece = piece.and_then(|bytes| {
            self.received += bytes.len() as u64;
            if let Some(progress) = &self.progress {
                progress.store(self.received, Relaxed);
            }
            event.bytes_in += bytes.len() as u64;
            if self.received > self.limit { Err(UploadError::TooLarge { limit: self.limit }) } else { Ok(bytes) }
        });
        if piece.is_err() {
            self.give_back();
        }
        Some(piece)
    }

    /// The whole body, for small bodies. `limit` is the most that may be in memory.
    pub async fn collect(&mut self, limit: u64, event: &mut Event) -> Result<Bytes, UploadError> {
        if let Some(held) = self.held.take() {
            return if held.len() as u64 > limit { Err(UploadError::TooLarge { limit }) } else { Ok(held) };
        }
        self.limit(limit);
        let mut whole = Vec::new();
        while let Some(piece) = self.next(event).await {
            whole.extend_from_slice(&piece?);
        }
        Ok(whole.into())
    }

    /// Waits until the whole body is in memory, at most until `until` ends. [`Upload::collect`] then returns it.
    pub async fn hold(
        &mut self,
        limit: u64,
        until: impl Future<Output = ()>,
        event: &mut Event,
    ) -> Result<(), UploadError> {
        let whole = {
            let (mut whole, mut until) = (pin!(self.collect(limit, event)), pin!(until));
            poll_fn(|cx| match whole.as_mut().poll(cx) {
                Poll::Ready(whole) => Poll::Ready(Some(whole)),
                Poll::Pending => until.as_mut().poll(cx).map(|()| None),
            })
            .await
        };
        let Some(whole) = whole else {
            self.give_back();
            return Err(UploadError::TooSlow);
        };
        self.held = Some(whole?);
        Ok(())
    }

    fn give_back(&mut self) {
        let source = std::mem::take(&mut self.source);
        if let Some(unread) = self.unread.as_ref().filter(|_| !source.is_ended()) {
            *lock(unread) = Some(source);
        }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// The next bytes. Trailers after the last are kept.
async fn receive(
    from: &mut UploadSource,
    trailers: &mut Option<HeaderMap>,
    idle: Duration,
) -> Option<Result<Bytes, UploadError>> {
    loop {
        let piece = timeout(idle, async {
            match from {
                UploadSource::Http1(incoming) => {
                    let frame = incoming.frame().await?.map_err(|_| UploadError::Short);
                    Some(frame.map(|frame| frame.into_data().map_err(|frame| frame.into_trailers().ok())))
                }
                UploadSource::Http2(stream) => match poll_fn(|cx| stream.poll_data(cx)).await {
                    Some(data) => {
                        // Grants the client the same number of bytes again. This fails after the end of the stream, which
                        // is harmless.
                        let _ = data.as_ref().map(|data| stream.flow_control().release_capacity(data.len()));
                        Some(data.map(Ok).map_err(|_| UploadError::Short))
                    }
                    None => {
                        match poll_fn(|cx| stream.poll_trailers(cx)).await {
                            Ok(last) => *trailers = last,
                            Err(_) => return Some(Err(UploadError::Short)),
                        }
                        None
                    }
                },
                UploadSource::None | UploadSource::Whole(_) => None,
            }
        });
        match piece.await {
            Err(_) => return Some(Err(UploadError::TooSlow)),
            Ok(None) => return None,
            Ok(Some(Err(error))) => return Some(Err(error)),
            Ok(Some(Ok(Ok(bytes)))) => return Some(Ok(bytes)),
            Ok(Some(Ok(Err(last)))) => *trailers = last,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_that_trickles_is_too_slow_after_its_grace_and_a_slow_line_is_not() {
        let seconds = Duration::from_secs;
        let pace = || Pace { idle: seconds(30), rate: 1024, grace: seconds(30), waited: Duration::ZERO };
        let mut trickle = pace();
        assert!(trickle.keeps(seconds(29), 1), "within the grace period");
        assert!(!trickle.keeps(seconds(29), 2));
        let mut slow = pace();
        assert!((1..1000).all(|second| slow.keeps(seconds(1), second * 1024)));
        assert!(!slow.keeps(seconds(2), 1000 * 1024), "the average counts, not the current rate");
        assert!(Pace { rate: 0, ..pace() }.keeps(seconds(1 << 40), 0));
    }
}
