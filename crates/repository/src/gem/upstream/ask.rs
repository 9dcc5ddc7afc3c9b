//! Requests the `/versions` of an upstream: the continuation if that can be verified, then the continuation with an
//! overlap, and otherwise the whole file.

use crate::error::Result;
use crate::gem::upstream::body::{self, Body, Wanted};
use crate::gem::upstream::first_body::FirstBody;
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::index::UpstreamFile;
use crate::gem::upstream::looked::{Looked, invalid};
use crate::hints::schedule;
use crate::upstream::trouble::Trouble;
use client::Conditions;
use format::gem::upstream::{Kept, Refusal, Tail};
use telemetry::{Event, Millis};

const HOUR_MS: i64 = 3_600_000;
const TOO_OFTEN: &str = "it is another one each time, and was fetched as often as it may be within an hour";
/// Maximum number of requests of one look: for the continuation, for the overlap, for the whole file, and for the whole
/// file again if its ETag is in doubt.
const REQUESTS: usize = 4;

/// An aborted response for a file that was to be larger than this counts as a transfer of the whole file.
const BROKEN_BYTES: u64 = 1 << 20;

impl Follow {
    /// Calls the upstream. The `first` file is shown to clients while it arrives, unless it is in doubt.
    pub(crate) async fn ask(&self, first: &mut FirstBody<'_>, event: &mut Event) -> Result<Looked> {
        let (origin, followed, now) = (self.remote.repository.origin, self.index(), self.now());
        let known = followed.read(origin, |known| (known.file.clone(), known.held_back));
        let (mut file, held) = known.clone().unwrap_or_default();
        let upstream = self.remote.upstream(event).await?;
        // An ETag that is not derived from the bytes is trusted for a limited time.
        let overdue = file.opaque_etags && !followed.took_whole_since(Millis(now.0 - HOUR_MS));
        let (mut wanted, mut doubted) = (Wanted::Continuation, None);
        if file.kept.is_none() || overdue {
            wanted = Wanted::Whole;
        }
        for asked in 0..REQUESTS {
            if !followed.may_take_whole(now) && (wanted == Wanted::Whole || file.ignores_range) {
                // The overlap need not be requested again before the whole file is.
                followed.change(origin, |known| known.file.diverged = file.diverged);
                return if known.is_some() { Ok(Looked::Later) } else { Err(invalid(TOO_OFTEN).into()) };
            }
            let conditions = match held {
                Some(held) if asked == 0 && !held.is_due(now) => body::unless_unchanged(&file),
                Some(_) => body::conditions(&file, Wanted::Whole),
                None => body::conditions(&file, wanted),
            };
            let conditions = Conditions { has_answer: known.is_some(), ..conditions };
            let ranged = conditions.first_byte.is_some();
            let answer = upstream.get(body::PATH, &conditions, event).await;
            self.remote.pin(&upstream, event).await?;
            let mut answer = answer.map_err(Trouble::from)?;
            if let Some(failure) = body::failure(&answer) {
                return Err(failure.into());
            }
            let (age, cached) = (answer.header("age"), answer.header("cache-control"));
            self.hints().cached_until(schedule::cached_until(age, cached, now));
            let (etag, status) = (answer.header("etag").map(str::to_owned), answer.status());
            file.ignores_range = (file.ignores_range || ranged && status == 200) && status != 206;
            // Counted for any result: a refused response costs the upstream as much.
            followed.change(origin, |known| known.file.ignores_range = file.ignores_range);
            let opaque = file.opaque_etags || doubted.is_some();
            let shown = (known.is_none() && asked == 0).then_some(&mut *first);
            let large = answer.length().is_none_or(|length| length > BROKEN_BYTES);
            let read = body::read(&mut answer, file.kept.as_ref(), opaque, shown, event).await;
            let counts = match &read {
                Ok(read) => !matches!(read, Err(Refusal::Html | Refusal::NoHeader)),
                // The response was aborted. If that cost little, the next client may try again.
                Err(_) => large,
            };
            if status == 200 && counts {
                followed.take_whole(now);
            }
            match read? {
                Ok(Body::Unchanged) if held.is_some() => return Ok(Looked::HeldBack(held, file)),
                Ok(Body::Unchanged) => return Ok(Looked::Unchanged(file)),
                // This file differs from the one that was in doubt.
                Ok(Body::Read { seen, .. }) if doubted.is_some_and(|sha256| sha256 != seen.kept.sha256()) => {
                    doubted = Some(seen.kept.sha256());
                }
                Ok(Body::Read { seen, text, is_whole }) => {
                    // The same file came twice with an ETag that is not its MD5, so its ETags are not MD5s.
                    file.opaque_etags |= doubted.is_some();
                    let now_kept =
                        UpstreamFile { kept: Some(seen.kept.clone()), etag, diverged: false, ..file.clone() };
                    match self.compare(&seen, text, is_whole, now_kept, event).await? {
                        Some(looked) => return Ok(looked),
                        // A line of the continuation cannot be relayed unchanged, or the overlap does not show what
                        // changed.
                        None => wanted = file.go_on(wanted, None),
                    }
                }
                Err(Refusal::Tail(tail)) if wanted != Wanted::Whole => wanted = file.go_on(wanted, Some(tail)),
                Err(Refusal::Etag { sha256 }) => {
                    first.break_off();
                    (wanted, doubted) = (Wanted::Whole, Some(sha256));
                }
                Err(refusal) => return Err(invalid(&refusal.to_string()).into()),
            }
        }
        Err(invalid("it is another one with each request").into())
    }
}

impl UpstreamFile {
    /// The next request after an unusable response.
    fn go_on(&mut self, wanted: Wanted, why: Option<Tail>) -> Wanted {
        let overlaps = self.kept.as_ref().and_then(Kept::overlap).is_some() && !self.diverged;
        match wanted {
            Wanted::Continuation if overlaps && why.is_some_and(Tail::is_of_another_file) => Wanted::Overlap,
            Wanted::Overlap => {
                self.diverged = true;
                Wanted::Whole
            }
            Wanted::Continuation | Wanted::Whole => Wanted::Whole,
        }
    }
}
