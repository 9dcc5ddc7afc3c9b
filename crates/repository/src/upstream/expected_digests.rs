//! What an upstream says of a file's digests: in the head of its answer, or in a file beside it that is asked for while the
//! body arrives.
//!
//! What stands beside a file and cannot be had, or cannot be read, is not the same as nothing: nobody knows then whether the bytes are
//! right, and `strict` repositories refuse them. Only an upstream that says itself that it has no checksum has none.

use crate::upstream::declared_digests::DeclaredDigests;
use crate::upstream::failure::Failure;
use crate::upstream::trouble::Trouble;
use bytes::BytesMut;
use client::{Conditions, Upstream};
use format::tree::{self, Checksum};
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Event, Millis, Reason};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// So long a body is held back for what is beside it: clients that are told the digest with the file do not ask for it.
const SOON: Duration = Duration::from_millis(250);

/// So many characters of what is no checksum are told.
const QUOTED: usize = 40;

/// What was said, or is being asked for.
pub(crate) enum ExpectedDigests {
    Said(DeclaredDigests),
    /// There is a checksum beside the file, or there may be, and it cannot be had.
    Unknown(Failure),
    Asked(JoinHandle<(Beside, Box<Event>)>),
}

/// What stands beside a file: nothing where the upstream has none, or why nobody knows.
type Beside = Result<DeclaredDigests, Failure>;

impl ExpectedDigests {
    /// Asks for the checksum beside `path`.
    pub(crate) fn ask(upstream: Arc<Upstream>, path: String, now: Millis) -> Self {
        Self::Asked(tokio::spawn(beside(upstream, path, now)))
    }

    /// What is known soon, for who is sent the file before it has come.
    pub(crate) async fn soon(&mut self, event: &mut Event) -> Result<Arc<[(Checksum, String)]>, Trouble> {
        if let Self::Asked(asked) = self
            && let Ok(said) = timeout(SOON, asked).await
        {
            *self = taken(said, event)?.map_or_else(Self::Unknown, Self::Said);
        }
        Ok(match self {
            Self::Said(claims) => claims.promised(),
            Self::Asked(_) | Self::Unknown(_) => Arc::new([]),
        })
    }

    /// What is said.
    pub(crate) async fn sure(self, event: &mut Event) -> Result<Beside, Trouble> {
        match self {
            Self::Said(claims) => Ok(Ok(claims)),
            Self::Unknown(failure) => Ok(Err(failure)),
            Self::Asked(asked) => taken(asked.await, event),
        }
    }
}

fn taken<E>(said: Result<(Beside, Box<Event>), E>, event: &mut Event) -> Result<Beside, Trouble> {
    let (beside, asked) = said.map_err(|_| store::Error::GivenUp)?;
    asked.tallies().for_each(|(op, tally)| event.add_all(op, tally));
    Ok(beside)
}

/// What the upstream says of the file's SHA-1 in a file of its own.
async fn beside(upstream: Arc<Upstream>, path: String, now: Millis) -> (Beside, Box<Event>) {
    let mut event = Event::job("fetch", now);
    let beside = read_beside(&upstream, &path, &mut event).await.map_err(Failure::of_checksum);
    (beside, event)
}

async fn read_beside(upstream: &Arc<Upstream>, path: &str, event: &mut Event) -> Beside {
    let path = format!("{path}.{}", Checksum::Sha1.ending());
    let mut answer = upstream.get(&path, &Conditions::default(), event).await?;
    match answer.status() {
        200 => {}
        // Stores of objects answer 401 or 403 for what is not there to whoever may not list them.
        401 | 403 | 404 | 410 => return Ok(DeclaredDigests::default()),
        _ => return Err(Failure::said(&answer, None)),
    }
    let mut body = BytesMut::new();
    while body.len() < tree::LONGEST_CHECKSUM
        && let Some(piece) = answer.next(event).await
    {
        body.extend_from_slice(&piece?);
    }
    let claims = DeclaredDigests::beside(Checksum::Sha1, &body);
    if claims.is_empty() {
        let begins: String = String::from_utf8_lossy(&body).chars().take(QUOTED).collect();
        let text = format!("it is no SHA-1: it begins with `{}`", Event::text(&begins));
        return Err(Failure::new(Reason::UpstreamInvalid, text));
    }
    Ok(claims)
}
