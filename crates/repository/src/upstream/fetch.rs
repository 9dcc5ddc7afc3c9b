//! A file of a remote repository: from the cache while its TTL lasts, otherwise from the upstream; if the upstream
//! fails, the last good file.

use crate::content::{Content, Source};
use crate::content::{Freshness, How};
use crate::error::{Error, Result};
use crate::tree::file::File;
use crate::upstream::failure::Failure;
use crate::upstream::flight::{ArrivedBy, FetchResult, Flight, FlightLifetime, FollowUntil, Stage};
use crate::upstream::known_files::KnownFile;
use crate::upstream::proof::Proof;
use crate::upstream::row::OfUpstream;
use crate::upstream::trace::FetchTrace;
use crate::upstream::ttl::{Ttl, TtlState};
use crate::upstream::{KeptFile, Looked, PATIENCE, Remembered, Remote, TRIAL_PATIENCE};
use crate::visible::shown;
use bytes::Bytes;
use format::tree::{self, Checksum};
use std::time::Duration;
use store::Held;
use telemetry::{Event, Millis, Miss, Reason};
use tokio::time::timeout;

/// How long the request for a checksum waits for its file, which is arriving.
const CHECKSUM_PATIENCE: Duration = Duration::from_secs(1);

/// Returns the file, or the checksum of its bytes.
pub(crate) async fn present(
    remote: &Remote,
    asked: &File<'_>,
    trace: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content> {
    match asked.checksum() {
        Some((of, checksum)) => checksum_file(remote, asked, &of, checksum, trace, event).await,
        None => file(remote, asked, trace, event).await,
    }
}

/// Returns a checksum. It is that of the bytes that we answer with, if they are known, whatever checksum the upstream
/// has.
async fn checksum_file(
    remote: &Remote,
    asked: &File<'_>,
    of: &File<'_>,
    checksum: Checksum,
    trace: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content> {
    // Metadata is small, so it is fetched for its checksum, and both have the same state. Other files may be large, and
    // a client that requests only their checksum may have the file already.
    let lasting = !of.is_metadata() && Ttl::of(&remote.repository, of).lasting();
    let under_way = remote.flight_under_way(of.path);
    let known = if lasting { remote.known_file(of, event).await } else { None };
    let of = if of.is_metadata() {
        file(remote, of, trace, event).await?
    } else if let Some(KnownFile::Absent) = known {
        match landed(remote, of, under_way, trace, event).await {
            Some(kept) => answer(remote, of, kept, How::Kept, None, trace, event).await?,
            None => return file(remote, asked, trace, event).await,
        }
    } else if let Some(KnownFile::Cached(known)) = known
        && matches!(checksum, Checksum::Sha1 | Checksum::Sha256)
    {
        // Nobody reads its bytes.
        let kept = KeptFile { known, held: Held::Bytes(Bytes::new()) };
        answer(remote, of, kept, How::Kept, None, trace, event).await?
    } else {
        let mut found = remote.recall(of, event).await?;
        if found.is_none() {
            found = landed(remote, of, under_way, trace, event).await.map(Remembered::File);
        }
        match found {
            Some(Remembered::File(kept)) if Ttl::of(&remote.repository, of).lasting() => {
                answer(remote, of, kept, How::Kept, None, trace, event).await?
            }
            Some(Remembered::File(_)) => file(remote, of, trace, event).await?,
            Some(Remembered::MissingUntil(until)) if remote.repository.counts_as_missing(of, until, remote.now()) => {
                return Err(Error::Missing { path: asked.path.to_owned(), until });
            }
            _ => return file(remote, asked, trace, event).await,
        }
    };
    match of.sum(checksum, remote.late_digests(), event).await? {
        Some(sum) => Ok(sum),
        None => file(remote, asked, trace, event).await,
    }
}

/// The file of a fetch that was under way before the file was looked for, or is now, if it is complete within a short time. So a
/// client that requests files and checksums side by side makes this server call the upstream once for both.
async fn landed(
    remote: &Remote,
    of: &File<'_>,
    flight: Option<Flight>,
    trace: &mut FetchTrace,
    event: &mut Event,
) -> Option<KeptFile> {
    let flight = flight.or_else(|| remote.flight_under_way(of.path)).filter(|_| remote.may_wait().is_ok())?;
    trace.flight = Some(flight.id);
    match timeout(CHECKSUM_PATIENCE, flight.follow(FollowUntil::Done, event)).await.ok()?? {
        Stage::Done(Ok(FetchResult::File(kept, _))) => Some(kept),
        _ => None,
    }
}

/// Returns the cached file while its TTL lasts; otherwise the upstream's file, or, if the upstream fails, the last good
/// one.
pub(crate) async fn file(
    remote: &Remote,
    asked: &File<'_>,
    trace: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content> {
    file_by(remote, asked, Proof::Age, trace, event).await
}

/// The same, with `proof` as the rule for whether the cached file is good.
pub(crate) async fn file_by(
    remote: &Remote,
    file: &File<'_>,
    proof: Proof<'_>,
    trace: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content> {
    let (now, path, ttl) = (remote.now(), file.path, Ttl::of(&remote.repository, file));
    let (cached, facts) = (remote.remotes.store.cached_counts(), remote.remotes.store.facts_counts());
    let landings = remote.remotes.flights.landings(remote.repository.origin, path);
    let recalled = remote.recall(file, event).await?;
    let looked = Looked { found: recalled.clone(), landings };
    let behind = match &recalled {
        Some(Remembered::File(kept)) => remote.is_behind_counterpart(file, &kept.known, event).await?,
        Some(Remembered::MissingUntil(_)) | None => false,
    };
    let had = match recalled {
        Some(Remembered::MissingUntil(until)) if remote.repository.counts_as_missing(file, until, now) => {
            facts.hit();
            return Err(Error::Missing { path: path.to_owned(), until });
        }
        Some(Remembered::MissingUntil(_)) => {
            facts.miss(Miss::Stale);
            None
        }
        // An index of another moment than its properties is never the answer.
        Some(Remembered::File(kept)) if proof.refutes(&kept.known) || behind => {
            cached.miss(Miss::Stale);
            None
        }
        Some(Remembered::File(kept)) => match remote.ttl_state(file, proof, &kept.known, now) {
            TtlState::Fresh(until) => {
                cached.hit();
                return answer(remote, file, kept, How::Kept, until, trace, event).await;
            }
            TtlState::Aging => {
                cached.hit();
                // No request waits for this refresh. If it cannot start, nobody is affected.
                trace.flight = remote.flight(path, FlightLifetime::ToItsEnd).ok().map(|flight| flight.id);
                return answer(remote, file, kept, How::Kept, Some(now), trace, event).await;
            }
            TtlState::Stale => {
                cached.miss(Miss::Stale);
                Some(kept)
            }
        },
        None => {
            cached.miss(cached.why_absent(|| remote.repository.origin.hash_of(path)));
            None
        }
    };
    // The fetch finds out whether an upstream that hung answers again, and no request waits long for that.
    let trial = remote.is_in_doubt();
    let lasts = if had.is_some() || trial { FlightLifetime::ToItsEnd } else { FlightLifetime::WhileFollowed };
    let flight = match remote.may_wait().and_then(|()| remote.flight_of(path, lasts, proof.indexed(), Some(looked))) {
        Ok(flight) => flight,
        // The upstream cannot be called now. The last good file is as good as after a failure.
        Err(error) => {
            return match had {
                Some(kept) => stale(remote, file, kept, error.reason(), trace, event).await,
                None => Err(error),
            };
        }
    };
    trace.flight = Some(flight.id);
    // Metadata is checked before it is accepted, and lists are read completely. If there is an older file to fall back
    // to, no client receives a part of a newer one.
    let whole = file.readable().is_some() || file.document().is_some() || file.is_prefixes();
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
            let mut row = OfUpstream::arriving(remote, file, &arriving, event).await?;
            if row.look_for_date(remote, event).await? {
                row = OfUpstream::arriving(remote, file, &arriving, event).await?;
            }
            trace.let_through = seen(remote, row, file)?.or_else(|| trace.let_through.take());
            Ok(Content {
                source: Source::Growing(arriving.growing()),
                hashes: None,
                modified: arriving.modified,
                media: tree::media(file.facts().without_query),
                lasting: ttl.lasting(),
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
            // The TTL counts from the request, also if the response takes long.
            let until = match remote.ttl_state(file, proof, &kept.known, remote.now()) {
                TtlState::Fresh(until) => until,
                TtlState::Aging | TtlState::Stale => Some(now),
            };
            answer(remote, file, kept, how, until, trace, event).await
        }
        Stage::Done(Ok(FetchResult::Missing(until))) => Err(Error::Missing { path: path.to_owned(), until }),
        Stage::Done(Err(trouble)) => match (had, trouble.reason()) {
            (Some(kept), Some(reason)) => stale(remote, file, kept, reason, trace, event).await,
            _ => Err(trouble.into()),
        },
        Stage::Asking => match had {
            Some(kept) => stale(remote, file, kept, Reason::UpstreamTimeout, trace, event).await,
            None => Err(Failure::hung().into()),
        },
    }
}

/// Answers with the last good bytes and the reason. The next request calls the upstream again.
async fn stale(
    remote: &Remote,
    file: &File<'_>,
    kept: KeptFile,
    why: Reason,
    trace: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content> {
    trace.stale = Some(why);
    answer(remote, file, kept, How::Stale(why), Some(remote.now()), trace, event).await
}

/// Answers with a cached file whose TTL ends at `until`.
pub(crate) async fn answer(
    remote: &Remote,
    file: &File<'_>,
    kept: KeptFile,
    how: How,
    until: Option<Millis>,
    trace: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content> {
    let KeptFile { known, held } = kept;
    let mut row = OfUpstream::kept(remote, file, &known, event).await?;
    if row.look_for_date(remote, event).await? {
        row = OfUpstream::kept(remote, file, &known, event).await?;
    }
    trace.let_through = seen(remote, row, file)?.or_else(|| trace.let_through.take());
    trace.unverified = known.verified == Some(false);
    let age = remote.now().0.saturating_sub(known.checked.0).max(0) / 1000;
    Ok(Content {
        source: match held {
            Held::Bytes(bytes) => Source::Memory(bytes),
            Held::File(file) => Source::File(file),
        },
        hashes: Some(known.hashes.clone()),
        modified: known.modified.as_deref().and_then(client::moment),
        media: tree::media(file.facts().without_query),
        lasting: Ttl::of(&remote.repository, file).lasting(),
        fresh_until: until,
        freshness: Some(Freshness { how, age_s: age.cast_unsigned() }),
    })
}

/// Decides whether the file is visible, and which exceptions make it so.
fn seen(remote: &Remote, row: OfUpstream<'_>, file: &File<'_>) -> Result<Option<String>> {
    let now = remote.now();
    let missing = || Error::Missing { path: file.path.to_owned(), until: now };
    shown(&row, remote.repository.view(now)).map_err(|why| why.map_or_else(missing, Error::from))
}
