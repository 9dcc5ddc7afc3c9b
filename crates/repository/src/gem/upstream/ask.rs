//! Asks an upstream for its `/versions`: for the continuation where that can be verified, then for the last lines too, else for the whole.

use crate::error::Error;
use crate::gem::upstream::body::{self, Body, Wanted};
use crate::gem::upstream::first_body::FirstBody;
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::index::UpstreamFile;
use crate::gem::upstream::looked::{Looked, invalid};
use crate::hints::schedule;
use crate::upstream::trouble::Trouble;
use format::gem::upstream::{Kept, Refusal, Tail};
use telemetry::{Event, Millis};

const HOUR_MS: i64 = 3_600_000;
const TOO_OFTEN: &str = "it is another one each time, and was fetched as often as it may be within an hour";
/// Requests of one look: for the continuation, for the last lines too, for the whole file, and for that once more where its ETag is in doubt.
const REQUESTS: usize = 4;

/// A file that breaks off counts as one that was sent, if it was to be larger than this.
const BROKEN_BYTES: u64 = 1 << 20;

impl Follow {
    /// Asks the upstream. The `first` file is shown while it arrives, unless it is in doubt.
    pub(crate) async fn ask(&self, first: &mut FirstBody<'_>, event: &mut Event) -> Result<Looked, Error> {
        let (origin, followed, now) = (self.remote.repository.origin, self.index(), self.now());
        let known = followed.read(origin, |known| (known.file.clone(), known.held_back));
        let (mut file, held) = known.clone().unwrap_or_default();
        let upstream = self.remote.upstream(event).await?;
        // ETags that tell nothing of the bytes are believed for a while only.
        let overdue = file.opaque_etags && !followed.took_whole_since(Millis(now.0 - HOUR_MS));
        let (mut wanted, mut doubted) = (Wanted::Continuation, None);
        if file.kept.is_none() || overdue {
            wanted = Wanted::Whole;
        }
        for asked in 0..REQUESTS {
            if !followed.may_take_whole(now) && (wanted == Wanted::Whole || file.ignores_range) {
                // Its last lines need not be asked for again until the whole file is.
                followed.change(origin, |known| known.file.diverged = file.diverged);
                return if known.is_some() { Ok(Looked::Later) } else { Err(invalid(TOO_OFTEN).into()) };
            }
            let conditions = match held {
                Some(held) if asked == 0 && !held.is_due(now) => body::unless_unchanged(&file),
                Some(_) => body::conditions(&file, Wanted::Whole),
                None => body::conditions(&file, wanted),
            };
            let ranged = conditions.first_byte.is_some();
            let answer = upstream.get(body::PATH, &conditions, event).await;
            self.remote.pin(&upstream, event).await?;
            let mut answer = answer.map_err(Trouble::from)?;
            let paused = upstream.states().iter().filter_map(|state| state.paused_until).max();
            if let Some(failure) = body::failure(&answer, paused) {
                return Err(failure.into());
            }
            let (age, cached) = (answer.header("age"), answer.header("cache-control"));
            self.hints().cached_until(schedule::cached_until(age, cached, now));
            let (etag, status) = (answer.header("etag").map(str::to_owned), answer.status());
            file.ignores_range = (file.ignores_range || ranged && status == 200) && status != 206;
            // Whatever becomes of the answer: one that is refused cost as much.
            followed.change(origin, |known| known.file.ignores_range = file.ignores_range);
            let opaque = file.opaque_etags || doubted.is_some();
            let shown = (known.is_none() && asked == 0).then_some(&mut *first);
            let large = answer.length().is_none_or(|length| length > BROKEN_BYTES);
            let read = body::read(&mut answer, file.kept.as_ref(), opaque, shown, event).await;
            let counts = match &read {
                Ok(read) => !matches!(read, Err(Refusal::Html | Refusal::NoHeader)),
                // It broke off. Where that cost little, the next client may try again.
                Err(_) => large,
            };
            if status == 200 && counts {
                followed.take_whole(now);
            }
            match read? {
                Ok(Body::Unchanged) if held.is_some() => return Ok(Looked::HeldBack(held, file)),
                Ok(Body::Unchanged) => return Ok(Looked::Unchanged(file)),
                // It is another one than the one that was in doubt.
                Ok(Body::Read { seen, .. }) if doubted.is_some_and(|sha256| sha256 != seen.kept.sha256()) => {
                    doubted = Some(seen.kept.sha256());
                }
                Ok(Body::Read { seen, text, is_whole }) => {
                    // The same file twice with an ETag that is not its MD5: its ETags are none.
                    file.opaque_etags |= doubted.is_some();
                    let now_kept =
                        UpstreamFile { kept: Some(seen.kept.clone()), etag, diverged: false, ..file.clone() };
                    match self.compare(&seen, text, is_whole, now_kept, event).await? {
                        Some(looked) => return Ok(looked),
                        // A line of the continuation cannot be relayed as it is, or the last lines do not tell what they hid.
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
    /// What is asked for after an answer that could not be used.
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
