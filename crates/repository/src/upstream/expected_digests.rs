//! The digests that an upstream declares for a file: in the head of its response, or in a checksum file, which is
//! requested while the body arrives.
//!
//! A checksum file that cannot be fetched or parsed is not the same as a missing one. Then it is unknown whether the
//! bytes are right, and repositories with the policy `strict` refuse them. Only a 404 or 410 of the upstream proves
//! that there is no checksum.

use crate::upstream::Remote;
use crate::upstream::declared_digests::DeclaredDigests;
use crate::upstream::failure::Failure;
use bytes::BytesMut;
use client::{Conditions, Upstream};
use flate2::read::GzDecoder;
use format::tree::{self, Checksum};
use std::borrow::Cow;
use std::future::poll_fn;
use std::io::Read;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use telemetry::{Event, EventId, Job, Op, Reason, lock};
use tokio::time::timeout;

/// How long a body is held back for its checksum file. Clients that receive a digest with the file do not request the
/// checksum.
const SOON: Duration = Duration::from_millis(250);

/// Number of characters that a message quotes of an invalid checksum.
const QUOTED: usize = 40;

/// The content of a checksum file: empty if the upstream has none, or the reason why it is unknown.
type Beside = Result<DeclaredDigests, Failure>;

/// The declared digests, or the request for them, which is under way while [`ExpectedDigests::beside`] or
/// [`ExpectedDigests::sure`] is polled.
pub(crate) struct ExpectedDigests {
    asking: Mutex<Asking>,
    /// The event of the request.
    id: Option<EventId>,
}

enum Asking {
    Known(Beside),
    /// The request for the checksum file.
    Asked(Pin<Box<dyn Future<Output = Beside> + Send>>),
}

impl ExpectedDigests {
    /// Digests that are known.
    pub(crate) fn said(claims: DeclaredDigests) -> Self {
        Self { asking: Mutex::new(Asking::Known(Ok(claims))), id: None }
    }

    /// Those in the checksum file of `path`, which is requested while the body arrives. A job records the request.
    pub(crate) fn ask(upstream: Arc<Upstream>, remote: &Remote, path: &str) -> Self {
        let (job, path) = (remote.job("fetch.checksum", path), path.to_owned());
        let id = Some(job.id);
        Self { asking: Mutex::new(Asking::Asked(Box::pin(beside(upstream, path, job)))), id }
    }

    /// The result of `receive`, which receives the body. The request goes on meanwhile. It begins when the body has to be
    /// waited for, or is complete: then it can have the same connection.
    pub(crate) async fn beside<T>(&self, receive: impl Future<Output = T>) -> T {
        let mut receive = pin!(receive);
        poll_fn(|cx| match receive.as_mut().poll(cx) {
            Poll::Pending if self.goes_on(cx) => receive.as_mut().poll(cx),
            polled => polled,
        })
        .await
    }

    /// Lets the request go on. Returns whether it has ended just now.
    fn goes_on(&self, cx: &mut Context<'_>) -> bool {
        let mut asking = lock(&self.asking);
        let Asking::Asked(request) = &mut *asking else { return false };
        let Poll::Ready(said) = request.as_mut().poll(cx) else { return false };
        *asking = Asking::Known(said);
        true
    }

    /// The digests that are known within a short time, for a client that receives the file as it arrives. Only for the future
    /// that [`ExpectedDigests::beside`] polls.
    pub(crate) async fn soon(&self, event: &mut Event) -> Arc<[(Checksum, String)]> {
        let known = || match &*lock(&self.asking) {
            Asking::Known(Ok(claims)) => Poll::Ready(claims.promised()),
            Asking::Known(Err(_)) => Poll::Ready(Arc::default()),
            Asking::Asked(_) => Poll::Pending,
        };
        match known() {
            Poll::Ready(promised) => promised,
            Poll::Pending => self.waited(event, timeout(SOON, poll_fn(|_| known()))).await.unwrap_or_default(),
        }
    }

    /// Waits for the declared digests.
    pub(crate) async fn sure(self, event: &mut Event) -> Beside {
        let ended = poll_fn(|cx| {
            self.goes_on(cx);
            match &*lock(&self.asking) {
                Asking::Known(said) => Poll::Ready(said.clone()),
                Asking::Asked(_) => Poll::Pending,
            }
        });
        match self.id {
            Some(_) => self.waited(event, ended).await,
            None => ended.await,
        }
    }

    /// Records a wait for the request.
    async fn waited<T>(&self, event: &mut Event, wait: impl Future<Output = T>) -> T {
        event.upstream_mut().flight = self.id;
        event.during(Op::FlightWait, wait).await
    }
}

/// Fetches the `.sha1` file of the upstream.
async fn beside(upstream: Arc<Upstream>, path: String, mut job: Job) -> Beside {
    let beside = read_beside(&upstream, &path, &mut job).await.map_err(Failure::of_checksum);
    if let Err(failure) = &beside {
        (job.reason, job.detail) = (Some(failure.reason), failure.detail());
    }
    job.end_as(&beside);
    beside
}

/// A checksum that an object store sends compressed by gzip; otherwise the body itself. No checksum begins like a gzip
/// file.
fn unpacked(body: &[u8]) -> Cow<'_, [u8]> {
    let mut decoded = Vec::new();
    match GzDecoder::new(body).take(tree::LONGEST_CHECKSUM as u64).read_to_end(&mut decoded) {
        Ok(_) if body.starts_with(&[0x1f, 0x8b]) => decoded.into(),
        _ => body.into(),
    }
}

async fn read_beside(upstream: &Arc<Upstream>, path: &str, event: &mut Event) -> Beside {
    let path = format!("{path}.{}", Checksum::Sha1.ending());
    let mut answer = upstream.get(&path, &Conditions::default(), event).await?;
    match answer.status() {
        200 => {}
        // Object stores answer 401 or 403 for a missing object if the caller may not list the bucket.
        401 | 403 | 404 | 410 => return Ok(DeclaredDigests::default()),
        _ => return Err(Failure::said(&answer, false)),
    }
    let mut body = BytesMut::new();
    while body.len() < tree::LONGEST_CHECKSUM
        && let Some(piece) = answer.next(event).await
    {
        body.extend_from_slice(&piece?);
    }
    let claims = DeclaredDigests::beside(Checksum::Sha1, &unpacked(&body));
    if claims.is_empty() {
        // Cleaned before it is cut, because a part of a secret is secret too.
        let begins: String = Event::text(&String::from_utf8_lossy(&body)).chars().take(QUOTED).collect();
        let text = format!("it is no SHA-1: it begins with `{begins}`");
        return Err(Failure::new(Reason::UpstreamInvalid, text));
    }
    Ok(claims)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use telemetry::Millis;
    use tokio::sync::oneshot;
    use tokio::task::yield_now;

    fn asked(request: impl Future<Output = Beside> + Send + 'static) -> ExpectedDigests {
        ExpectedDigests { asking: Mutex::new(Asking::Asked(Box::pin(request))), id: Some(EventId(7)) }
    }

    fn sha1() -> DeclaredDigests {
        DeclaredDigests::said(Checksum::Sha1, "0".repeat(40))
    }

    #[tokio::test]
    async fn a_body_that_is_there_already_is_received_before_its_checksum_is_requested() {
        let begun = Arc::new(AtomicBool::new(false));
        let begins = begun.clone();
        let expected = asked(async move {
            begins.store(true, Relaxed);
            yield_now().await;
            Ok(sha1())
        });
        assert!(!expected.beside(async { begun.load(Relaxed) }).await);
        let mut event = Event::job("test", Millis(1));
        assert_eq!(expected.sure(&mut event).await.unwrap(), sha1());
        assert_eq!((event.tally(Op::FlightWait).count, event.upstream_mut().flight), (1, Some(EventId(7))));
    }

    #[tokio::test]
    async fn the_request_goes_on_while_the_body_is_waited_for() {
        let (end, ended) = oneshot::channel();
        let expected = asked(async move {
            yield_now().await;
            end.send(()).unwrap();
            Ok(sha1())
        });
        let mut event = Event::job("test", Millis(1));
        let promised = expected.beside(async {
            ended.await.unwrap();
            expected.soon(&mut event).await
        });
        assert_eq!(promised.await[..], [(Checksum::Sha1, "0".repeat(40))]);
    }

    #[tokio::test]
    async fn a_client_waits_for_a_promise_while_the_request_is_under_way() {
        let expected = asked(async {
            yield_now().await;
            Ok(sha1())
        });
        let mut event = Event::job("test", Millis(1));
        assert_eq!(expected.beside(expected.soon(&mut event)).await.len(), 1);
        assert_eq!(event.tally(Op::FlightWait).count, 1);
    }
}
