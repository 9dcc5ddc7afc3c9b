//! A file of a remote repository: what is kept while that is good, else what the upstream says; and where the upstream
//! fails, what was good last.

use super::ages::{Age, Ages};
use super::claims::digest;
use super::failure::Trouble;
use super::flights::{Came, Landed, Lasts, Stage, Until};
use super::{KeptFile, Remembered, Remote, kind};
use crate::content::{Freshness, How};
use crate::{Content, Error, Found, Source, visible};
use bytes::Bytes;
use format::tree::{self, Checksum};
use std::time::Duration;
use store::{Hashes, Held};
use telemetry::{Event, EventId, Layer, MemberRecord, MemberSaid, Millis, Reason, Tick};
use tokio::time::timeout;

/// Whoever can be given what was good last waits for its upstream no longer than this. The flight goes on without them.
const PATIENCE: Duration = Duration::from_secs(5);

/// The file at `path`, or what is known of its bytes where `path` is that of a checksum.
pub(crate) async fn fetch(remote: &Remote, path: &str, event: &mut Event) -> Result<Found, Error> {
    event.layer = Layer::Remote;
    let began = Tick::now();
    let mut told = Told::default();
    let found = match kind::checksum_of(remote.repository.format, path) {
        Some((file, checksum)) => checksum_file(remote, path, (file, checksum), &mut told, event).await,
        None => file(remote, path, &mut told, event).await,
    };
    if let Err(Error::Upstream(failure)) = &found {
        event.detail = failure.detail();
    }
    let (said, reason) = match (&found, told.stale) {
        (Ok(_), None) => (MemberSaid::Hit, None),
        (Ok(_), Some(reason)) => (MemberSaid::Stale, Some(reason)),
        (Err(error @ Error::Missing { .. }), _) => (MemberSaid::NotFound, Some(error.reason())),
        (Err(error), _) if error.reason() == Reason::UpstreamTimeout => (MemberSaid::Timeout, Some(error.reason())),
        (Err(error), _) => (MemberSaid::Failed, Some(error.reason())),
    };
    event.absorb(MemberRecord {
        member: remote.repository.record.name.clone(),
        said,
        reason,
        nanos: Tick::now().since(began),
        ops: Vec::new(),
        flight: told.flight,
    });
    found.map(Found::Content)
}

/// What the event is told of how an answer came to be.
#[derive(Debug, Default)]
struct Told {
    flight: Option<EventId>,
    stale: Option<Reason>,
}

/// A checksum: of the bytes that are answered with, where those are known, whatever the upstream has beside them.
async fn checksum_file(
    remote: &Remote,
    path: &str,
    (of, checksum): (&str, Checksum),
    told: &mut Told,
    event: &mut Event,
) -> Result<Content, Error> {
    // Metadata is small: it is fetched for its checksum, so that both are of the same bytes. Other files may be large, and
    // whoever asks for their checksum alone may have the file.
    let of = if kind::is_metadata(remote.repository.format, of) {
        file(remote, of, told, event).await?
    } else {
        match remote.recall(of, event).await? {
            Some(Remembered::File(kept)) if Ages::of(&remote.repository, of).lasting() => {
                answer(remote, of, kept, How::Kept, None)?
            }
            Some(Remembered::File(_)) => file(remote, of, told, event).await?,
            Some(Remembered::MissingUntil(until)) if remote.now() < until => {
                return Err(Error::Missing { path: path.to_owned(), until });
            }
            _ => return file(remote, path, told, event).await,
        }
    };
    let Some(hashes) = &of.hashes else { return file(remote, path, told, event).await };
    let text = Bytes::from(digest(hashes, checksum));
    let hashes = Some(Hashes::of(&text));
    Ok(Content { source: Source::Memory(text), hashes, media: tree::media(path), ..of })
}

async fn file(remote: &Remote, path: &str, told: &mut Told, event: &mut Event) -> Result<Content, Error> {
    let (now, ages) = (remote.now(), Ages::of(&remote.repository, path));
    let had = match remote.recall(path, event).await? {
        Some(Remembered::MissingUntil(until)) if now < until => {
            return Err(Error::Missing { path: path.to_owned(), until });
        }
        Some(Remembered::File(kept)) => match ages.at(kept.known.checked, now) {
            Age::Fresh(until) => return answer(remote, path, kept, How::Kept, until),
            Age::Aging => {
                // Nobody waits for this one. Where it cannot begin, it was no trouble to anybody.
                told.flight = remote.flight(path, Lasts::ToItsEnd).ok().map(|flight| flight.id);
                return answer(remote, path, kept, How::Kept, Some(now));
            }
            Age::Stale => Some(kept),
        },
        _ => None,
    };
    let lasts = if had.is_some() { Lasts::ToItsEnd } else { Lasts::WhileFollowed };
    let flight = remote.flight(path, lasts)?;
    told.flight = Some(flight.id);
    // Whoever has an older one to fall back to is not given half of a newer one.
    let landed = match &had {
        None => flight.follow(Until::Arriving, event).await,
        Some(_) => match timeout(PATIENCE, flight.follow(Until::Landed, event)).await {
            Ok(landed) => landed,
            Err(_) => Some(Stage::Asking),
        },
    };
    match landed.ok_or(Error::GivenUp)? {
        Stage::Arriving(arriving) => {
            seen(remote, &arriving, path)?;
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
        Stage::Landed(Ok(Landed::File(kept, came))) => {
            let how = match came {
                Came::Kept => How::Kept,
                Came::Fetched => How::Fetched,
                Came::Confirmed => How::Confirmed,
            };
            // What takes long to come is as good as it was when it was asked for.
            let until = match ages.at(kept.known.checked, remote.now()) {
                Age::Fresh(until) => until,
                Age::Aging | Age::Stale => Some(now),
            };
            answer(remote, path, kept, how, until)
        }
        Stage::Landed(Ok(Landed::Missing(until))) => Err(Error::Missing { path: path.to_owned(), until }),
        Stage::Landed(Err(trouble)) => match (had, trouble) {
            (Some(kept), Trouble::Upstream(failure)) => {
                told.stale = Some(failure.reason);
                answer(remote, path, kept, How::Stale(failure.reason), Some(now))
            }
            (_, trouble) => Err(trouble.into()),
        },
        Stage::Asking => {
            let kept = had.ok_or(Error::GivenUp)?;
            told.stale = Some(Reason::UpstreamTimeout);
            answer(remote, path, kept, How::Stale(Reason::UpstreamTimeout), Some(now))
        }
    }
}

/// Answers with a file that is kept, and need not be asked for again before `until`.
fn answer(remote: &Remote, path: &str, kept: KeptFile, how: How, until: Option<Millis>) -> Result<Content, Error> {
    let KeptFile { known, held } = kept;
    seen(remote, &*known, path)?;
    let age = remote.now().0.saturating_sub(known.checked.0).max(0) / 1000;
    Ok(Content {
        source: match held {
            Held::Bytes(bytes) => Source::Memory(bytes),
            Held::File(file) => Source::File(file),
        },
        hashes: Some(known.hashes.clone()),
        modified: known.modified.as_deref().and_then(client::moment),
        media: tree::media(path),
        lasting: Ages::of(&remote.repository, path).lasting(),
        fresh_until: until,
        freshness: Some(Freshness { how, age_s: age.cast_unsigned() }),
    })
}

/// Whether the file may be seen.
fn seen<R: crate::visible::Row>(remote: &Remote, row: &R, path: &str) -> Result<(), Error> {
    let view = remote.repository.view(remote.now());
    let shown = visible(std::slice::from_ref(row), view).next().is_some();
    shown.then_some(()).ok_or_else(|| Error::Missing { path: path.to_owned(), until: remote.now() })
}
