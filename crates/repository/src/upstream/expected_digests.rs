//! The digests that an upstream declares for a file: in the head of its response, or in a checksum file, which is
//! requested while the body arrives.
//!
//! A checksum file that cannot be fetched or parsed is not the same as a missing one. Then it is unknown whether the
//! bytes are right, and repositories with the policy `strict` refuse them. Only a 404 or 410 of the upstream proves
//! that there is no checksum.

use crate::upstream::Remote;
use crate::upstream::declared_digests::DeclaredDigests;
use crate::upstream::failure::Failure;
use crate::upstream::trouble::Trouble;
use bytes::BytesMut;
use client::{Conditions, Upstream};
use flate2::read::GzDecoder;
use format::tree::{self, Checksum};
use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Event, EventId, Job, Op, Reason};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long a body is held back for its checksum file. Clients that receive a digest with the file do not request the
/// checksum.
const SOON: Duration = Duration::from_millis(250);

/// Number of characters that a message quotes of an invalid checksum.
const QUOTED: usize = 40;

/// The declared digests, or the request for them.
pub(crate) enum ExpectedDigests {
    Said(DeclaredDigests),
    /// There is or may be a checksum file, and it cannot be fetched.
    Unknown(Failure),
    /// The job that requests it, and the id of its event.
    Asked(JoinHandle<Beside>, EventId),
}

/// The content of a checksum file: empty if the upstream has none, or the reason why it is unknown.
type Beside = Result<DeclaredDigests, Failure>;

impl ExpectedDigests {
    /// Requests the checksum file of `path`, as a job, because the body arrives at the same time.
    pub(crate) fn ask(upstream: Arc<Upstream>, remote: &Remote, path: &str) -> Self {
        let (job, path) = (remote.job("fetch.checksum", path), path.to_owned());
        let id = job.id;
        Self::Asked(tokio::spawn(beside(upstream, path, job)), id)
    }

    /// The digests that are known within a short time, for a client that receives the file as it arrives.
    pub(crate) async fn soon(&mut self, event: &mut Event) -> Result<Arc<[(Checksum, String)]>, Trouble> {
        if let Self::Asked(asked, id) = self {
            event.upstream_mut().flight = Some(*id);
            let _running = event.running(Op::FlightWait);
            if let Ok(said) = timeout(SOON, asked).await {
                *self = said.map_err(|_| store::Error::GivenUp)?.map_or_else(Self::Unknown, Self::Said);
            }
        }
        Ok(match self {
            Self::Said(claims) => claims.promised(),
            Self::Asked(..) | Self::Unknown(_) => Arc::new([]),
        })
    }

    /// Waits for the declared digests.
    pub(crate) async fn sure(self, event: &mut Event) -> Result<Beside, Trouble> {
        match self {
            Self::Said(claims) => Ok(Ok(claims)),
            Self::Unknown(failure) => Ok(Err(failure)),
            Self::Asked(asked, id) => {
                event.upstream_mut().flight = Some(id);
                let _running = event.running(Op::FlightWait);
                Ok(asked.await.map_err(|_| store::Error::GivenUp)?)
            }
        }
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
