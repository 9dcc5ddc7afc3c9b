//! The body of a response for `/versions`, read and verified while it arrives.

use crate::gem::upstream::first_body::FirstBody;
use crate::gem::upstream::index::UpstreamFile;
use crate::upstream::failure::Failure;
use crate::upstream::trouble::Trouble;
use client::{Arriving, Conditions};
use format::gem::upstream::{Begun, Kept, Look, Refusal, Response, Seen, Versions};
use telemetry::{Event, Op, Reason};

/// The path of the index.
pub(crate) const PATH: &str = "versions";

/// The content of a response.
pub(crate) enum Body {
    Unchanged,
    /// A file, or its continuation.
    Read {
        seen: Box<Seen>,
        text: Box<Versions>,
        is_whole: bool,
    },
}

/// How much of the file is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The bytes after the known part.
    Continuation,
    /// The last known lines too, because they may have changed.
    Overlap,
    Whole,
}

/// The headers of the request.
pub(crate) fn conditions(file: &UpstreamFile, wanted: Wanted) -> Conditions {
    match (&file.kept, wanted) {
        (Some(kept), Wanted::Continuation) => {
            Conditions { first_byte: kept.len().checked_sub(1), etag: file.etag.clone(), ..Conditions::default() }
        }
        (Some(kept), Wanted::Overlap) => Conditions { first_byte: kept.overlap(), ..Conditions::default() },
        _ => Conditions::default(),
    }
}

/// The headers of a request for the whole file unless it is unchanged.
pub(crate) fn unless_unchanged(file: &UpstreamFile) -> Conditions {
    Conditions { etag: file.etag.clone(), ..Conditions::default() }
}

/// The failure for a response that has neither a body nor the status 304.
pub(crate) fn failure(answer: &Arriving) -> Option<Failure> {
    match answer.status() {
        200 | 206 | 304 | 416 => None,
        404 | 410 => {
            let text =
                "the upstream has no compact index (`/versions`), and upstreams without one are not supported yet";
            Some(Failure::new(Reason::UpstreamInvalid, text.into()))
        }
        _ => Some(Failure::said(answer, false)),
    }
}

/// Reads a response to its end, and shows it to clients while it arrives if it is the `first`. The inner error says why
/// it is not accepted.
pub(crate) async fn read(
    answer: &mut Arriving,
    kept: Option<&Kept>,
    opaque_etags: bool,
    mut first: Option<&mut FirstBody<'_>>,
    event: &mut Event,
) -> Result<Result<Body, Refusal>, Trouble> {
    let encoded = answer.header("content-encoding").is_some_and(|coding| !coding.eq_ignore_ascii_case("identity"));
    let response = Response {
        status: answer.status(),
        content_range: answer.header("content-range"),
        etag: answer.header("etag"),
        repr_digest: answer.header("repr-digest"),
        digest: answer.header("digest"),
        encoded,
    };
    let mut look = match Look::begin(kept, &response, opaque_etags) {
        Ok(Begun::Unchanged) => return Ok(Ok(Body::Unchanged)),
        Ok(Begun::Body(look)) => look,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if encoded {
        let text = "the upstream answered with a coding that was not asked for";
        return Err(Failure::new(Reason::UpstreamInvalid, text.into()).into());
    }
    let is_whole = look.is_whole();
    if let Some(first) = &mut first {
        let (md5, sha256) = look.promised();
        first.expect(md5, sha256, answer.length());
    }
    let mut text = Box::new(if is_whole { Versions::new() } else { Versions::appended() });
    while let Some(piece) = answer.next(event).await {
        let piece = piece?;
        let add = || {
            let news = look.add(&piece)?.len();
            text.push(piece.slice(piece.len() - news..))?;
            text.check_names()
        };
        if let Err(refusal) = event.time(Op::Hash, add) {
            return Ok(Err(refusal));
        }
        if let Some(first) = &mut first {
            first.show(&text, event).await;
        }
    }
    let seen = match look.end() {
        Ok(seen) => Box::new(seen),
        Err(refusal) => return Ok(Err(refusal)),
    };
    Ok(Ok(Body::Read { seen, text, is_whole }))
}
