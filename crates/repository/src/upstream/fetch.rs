//! A file of a remote repository: what is kept while that is good, else what the upstream says; and where the upstream
//! fails, what was good last.

use crate::content::{Content, Source};
use crate::content::{Freshness, How};
use crate::error::Error;
use crate::found::Found;
use crate::maven::upstream::{filtered_metadata, past};
use crate::upstream::failure::Failure;
use crate::upstream::flights::{ArrivedBy, FetchResult, FlightLifetime, FollowUntil, Stage};
use crate::upstream::row::OfUpstream;
use crate::upstream::ttl::{Ttl, TtlState};
use crate::upstream::{KeptFile, PATIENCE, Remembered, Remote, TRIAL_PATIENCE, path_class, refused};
use crate::visible::shown;
use format::maven::path::PREFIXES;
use format::tree::{self, Checksum};
use store::Held;
use telemetry::{Event, EventId, Layer, MemberRecord, MemberSaid, Millis, Reason, Tick};
use tokio::time::timeout;

/// The file at `path`, or what is known of its bytes where `path` is that of a checksum.
pub(crate) async fn fetch(remote: &Remote, path: &str, event: &mut Event) -> Result<Found, Error> {
    event.layer = Layer::Remote;
    let began = Tick::now();
    let mut told = FetchTrace::default();
    let found = match (refused::never_asked(&remote.repository, path), remote.repository.as_of) {
        (Some(why), _) => Err(why),
        (None, Some(then)) => Box::pin(past::file(remote, then, path, &mut told, event)).await,
        (None, None) if filtered_metadata::is_for(remote, path) => {
            Box::pin(filtered_metadata::metadata(remote, path, &mut told, event)).await
        }
        (None, None) => present(remote, path, &mut told, event).await,
    };
    let detail = match &found {
        Err(Error::Upstream(failure)) => Some(failure.detail()),
        Err(Error::Hidden(why)) => Some(why.to_string()),
        _ => told.let_through.take(),
    };
    event.detail = detail.unwrap_or_default();
    let (said, reason) = match (&found, told.stale) {
        (Ok(_), None) => (MemberSaid::Hit, told.unverified.then_some(Reason::Unverified)),
        (Ok(_), Some(reason)) => (MemberSaid::Stale, Some(reason)),
        (Err(Error::Unasked), _) => (MemberSaid::Unknown, None),
        (Err(error), _) if error.is_absence() => (MemberSaid::NotFound, Some(error.reason())),
        (Err(error @ Error::Hidden(_)), _) => (MemberSaid::Blocked, Some(error.reason())),
        (Err(error), _) if error.reason() == Reason::UpstreamTimeout => (MemberSaid::Timeout, Some(error.reason())),
        (Err(error), _) => (MemberSaid::Failed, Some(error.reason())),
    };
    let until = match &found {
        Ok(content) => content.fresh_until,
        Err(error) => error.fresh_until(),
    };
    event.absorb(MemberRecord {
        until,
        nanos: Tick::now().since(began),
        flight: told.flight,
        ..MemberRecord::new(&remote.repository.record.name, said, reason)
    });
    found.map(Found::Content)
}

/// The file at `path` as the upstream has it, or what is known of its bytes where `path` is that of a checksum.
pub(crate) async fn present(
    remote: &Remote,
    path: &str,
    told: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content, Error> {
    match path_class::checksum_of(remote.repository.format, path) {
        Some((file, checksum)) => checksum_file(remote, path, (file, checksum), told, event).await,
        None => file(remote, path, told, event).await,
    }
}

/// What the event is told of how an answer came to be.
#[derive(Debug, Default)]
pub(crate) struct FetchTrace {
    flight: Option<EventId>,
    stale: Option<Reason>,
    /// Whether the upstream told no checksum of the bytes that are answered with.
    unverified: bool,
    pub(crate) let_through: Option<String>,
}

/// A checksum: of the bytes that are answered with, where those are known, whatever the upstream has beside them.
async fn checksum_file(
    remote: &Remote,
    path: &str,
    (of, checksum): (&str, Checksum),
    told: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content, Error> {
    // Metadata is small: it is fetched for its checksum, so that both are of the same bytes. Other files may be large, and
    // whoever asks for their checksum alone may have the file.
    let of = if path_class::is_metadata(remote.repository.format, of) {
        file(remote, of, told, event).await?
    } else {
        match remote.recall(of, event).await? {
            Some(Remembered::File(kept)) if Ttl::of(&remote.repository, of).lasting() => {
                answer((remote, told), of, kept, (How::Kept, None), event).await?
            }
            Some(Remembered::File(_)) => file(remote, of, told, event).await?,
            Some(Remembered::MissingUntil(until)) if remote.now() < until => {
                return Err(Error::Missing { path: path.to_owned(), until });
            }
            _ => return file(remote, path, told, event).await,
        }
    };
    match of.sum(checksum) {
        Some(sum) => Ok(sum),
        None => file(remote, path, told, event).await,
    }
}

pub(crate) async fn file(
    remote: &Remote,
    path: &str,
    told: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content, Error> {
    let (now, ages) = (remote.now(), Ttl::of(&remote.repository, path));
    let had = match remote.recall(path, event).await? {
        Some(Remembered::MissingUntil(until)) if now < until => {
            return Err(Error::Missing { path: path.to_owned(), until });
        }
        Some(Remembered::File(kept)) => match ages.at(kept.known.checked, now) {
            TtlState::Fresh(until) => return answer((remote, told), path, kept, (How::Kept, until), event).await,
            TtlState::Aging => {
                // Nobody waits for this one. Where it cannot begin, it was no trouble to anybody.
                told.flight = remote.flight(path, FlightLifetime::ToItsEnd).ok().map(|flight| flight.id);
                return answer((remote, told), path, kept, (How::Kept, Some(now)), event).await;
            }
            TtlState::Stale => Some(kept),
        },
        _ => None,
    };
    // Whether an upstream that hung answers again is for the flight to find out, and nobody waits long for that.
    let trial = remote.is_in_doubt();
    let lasts = if had.is_some() || trial { FlightLifetime::ToItsEnd } else { FlightLifetime::WhileFollowed };
    let flight = match remote.may_wait().and_then(|()| remote.flight(path, lasts)) {
        Ok(flight) => flight,
        // Nobody can be asked now. What was good last is as good then as where the upstream fails.
        Err(error) => {
            return match had {
                Some(kept) => stale((remote, told), path, kept, error.reason(), event).await,
                None => Err(error),
            };
        }
    };
    told.flight = Some(flight.id);
    // Metadata is looked into before it is believed, and lists are read whole. Whoever has an older one to fall back to is not given
    // half of a newer one.
    let whole = path_class::is_metadata(remote.repository.format, path) || path == PREFIXES;
    let until = if whole || had.is_some() { FollowUntil::Done } else { FollowUntil::Arriving };
    let follow = flight.follow(until, event);
    let patience = match (trial, &had) {
        (true, _) => Some(TRIAL_PATIENCE),
        (false, Some(_)) => Some(PATIENCE),
        (false, None) => None,
    };
    let landed = match patience {
        None => follow.await,
        Some(patience) => timeout(patience, follow).await.unwrap_or(Some(Stage::Asking)),
    };
    match landed.ok_or(Error::GivenUp)? {
        Stage::Arriving(arriving) => {
            let mut row = OfUpstream::arriving(remote, path, &arriving, event).await?;
            if row.look_for_date(remote, event).await? {
                row = OfUpstream::arriving(remote, path, &arriving, event).await?;
            }
            told.let_through = seen(remote, row, path)?.or_else(|| told.let_through.take());
            Ok(Content {
                source: Source::Growing(arriving.growing()),
                hashes: None,
                modified: arriving.modified,
                media: tree::media(path),
                lasting: ages.lasting(),
                fresh_until: Some(now),
                freshness: Some(Freshness { how: How::Fetched, age_s: 0 }),
            })
        }
        Stage::Done(Ok(FetchResult::File(kept, came))) => {
            let how = match came {
                ArrivedBy::Kept => How::Kept,
                ArrivedBy::Fetched => How::Fetched,
                ArrivedBy::Confirmed => How::Confirmed,
            };
            // What takes long to come is as good as it was when it was asked for.
            let until = match ages.at(kept.known.checked, remote.now()) {
                TtlState::Fresh(until) => until,
                TtlState::Aging | TtlState::Stale => Some(now),
            };
            answer((remote, told), path, kept, (how, until), event).await
        }
        Stage::Done(Ok(FetchResult::Missing(until))) => Err(Error::Missing { path: path.to_owned(), until }),
        Stage::Done(Err(trouble)) => match (had, trouble.reason()) {
            (Some(kept), Some(reason)) => stale((remote, told), path, kept, reason, event).await,
            _ => Err(trouble.into()),
        },
        Stage::Asking => match had {
            Some(kept) => stale((remote, told), path, kept, Reason::UpstreamTimeout, event).await,
            None => Err(Failure::hung().into()),
        },
    }
}

/// Answers with what was good last, and says why. It is asked for again by whoever comes next.
async fn stale(
    (remote, told): (&Remote, &mut FetchTrace),
    path: &str,
    kept: KeptFile,
    why: Reason,
    event: &mut Event,
) -> Result<Content, Error> {
    told.stale = Some(why);
    answer((remote, told), path, kept, (How::Stale(why), Some(remote.now())), event).await
}

/// Answers with a file that is kept, and need not be asked for again before `until`.
pub(crate) async fn answer(
    (remote, told): (&Remote, &mut FetchTrace),
    path: &str,
    kept: KeptFile,
    (how, until): (How, Option<Millis>),
    event: &mut Event,
) -> Result<Content, Error> {
    let KeptFile { known, held } = kept;
    let mut row = OfUpstream::kept(remote, path, &known, event).await?;
    if row.look_for_date(remote, event).await? {
        row = OfUpstream::kept(remote, path, &known, event).await?;
    }
    told.let_through = seen(remote, row, path)?.or_else(|| told.let_through.take());
    told.unverified = known.verified == Some(false);
    let age = remote.now().0.saturating_sub(known.checked.0).max(0) / 1000;
    Ok(Content {
        source: match held {
            Held::Bytes(bytes) => Source::Memory(bytes),
            Held::File(file) => Source::File(file),
        },
        hashes: Some(known.hashes.clone()),
        modified: known.modified.as_deref().and_then(client::moment),
        media: tree::media(path),
        lasting: Ttl::of(&remote.repository, path).lasting(),
        fresh_until: until,
        freshness: Some(Freshness { how, age_s: age.cast_unsigned() }),
    })
}

/// Whether the file may be seen, and what lets it though it is young.
fn seen(remote: &Remote, row: OfUpstream<'_>, path: &str) -> Result<Option<String>, Error> {
    let now = remote.now();
    let missing = || Error::Missing { path: path.to_owned(), until: now };
    shown(&row, remote.repository.view(now)).map_err(|why| why.map_or_else(missing, Error::from))
}
