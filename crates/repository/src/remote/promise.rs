//! What an upstream says of a file's digests: in the head of its answer, or in a file beside it that is asked for while the
//! body arrives.

use super::claims::Claims;
use super::failure::Trouble;
use bytes::BytesMut;
use client::{Conditions, Upstream};
use format::tree::{self, Checksum};
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Event, Millis};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// So long a body is held back for what is beside it: clients that are told the digest with the file do not ask for it.
const SOON: Duration = Duration::from_millis(250);

/// What was said, or is being asked for.
pub(super) enum Promise {
    Said(Claims),
    Asked(JoinHandle<(Claims, Box<Event>)>),
}

impl Promise {
    /// Asks for the checksum beside `path`.
    pub(super) fn ask(upstream: Arc<Upstream>, path: String, now: Millis) -> Self {
        Self::Asked(tokio::spawn(beside(upstream, path, now)))
    }

    /// What is known soon, for who is sent the file before it has come.
    pub(super) async fn soon(&mut self, event: &mut Event) -> Result<Arc<[(Checksum, String)]>, Trouble> {
        if let Self::Asked(asked) = self
            && let Ok(said) = timeout(SOON, asked).await
        {
            *self = Self::Said(taken(said, event)?);
        }
        Ok(match self {
            Self::Said(claims) => claims.promised(),
            Self::Asked(_) => Arc::new([]),
        })
    }

    /// What is said.
    pub(super) async fn sure(self, event: &mut Event) -> Result<Claims, Trouble> {
        match self {
            Self::Said(claims) => Ok(claims),
            Self::Asked(asked) => taken(asked.await, event),
        }
    }
}

fn taken<E>(said: Result<(Claims, Box<Event>), E>, event: &mut Event) -> Result<Claims, Trouble> {
    let (claims, asked) = said.map_err(|_| store::Error::GivenUp)?;
    asked.tallies().for_each(|(op, tally)| event.add_all(op, tally));
    Ok(claims)
}

/// What the upstream says of the file's SHA-1 in a file of its own: nothing, where that cannot be had. A checksum that is
/// not there proves nothing, and clients do as well without.
async fn beside(upstream: Arc<Upstream>, path: String, now: Millis) -> (Claims, Box<Event>) {
    let mut event = Event::job("fetch", now);
    let path = format!("{path}.{}", Checksum::Sha1.ending());
    let mut body = BytesMut::new();
    if let Ok(mut answer) = upstream.get(&path, &Conditions::default(), &mut event).await
        && answer.status() == 200
    {
        while body.len() < tree::LONGEST_CHECKSUM
            && let Some(piece) = answer.next(&mut event).await
        {
            match piece {
                Ok(piece) => body.extend_from_slice(&piece),
                Err(_) => return (Claims::default(), event),
            }
        }
    }
    (Claims::beside(Checksum::Sha1, &body), event)
}
