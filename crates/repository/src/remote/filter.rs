//! Metadata of an upstream without what policy hides.
//!
//! How old a version is it does not say. Whatever was published before the document was last changed is as old as that; else what
//! was first seen here long enough ago is; else its POM tells, which the upstream is asked for.

use super::fetch::{Told, file};
use super::flights::{Landed, Lasts, Stage, Until};
use super::sightings::{Seen, unit};
use super::{OfUpstream, PATIENCE, Remembered, Remote, WIDTH, kind};
use crate::content::{digits, soonest};
use crate::visible::Row;
use crate::work::aside;
use crate::{Content, Error, Format, Named, Since, Source, View};
use bytes::Bytes;
use format::maven::metadata::{self, Metadata, Snapshot, moment_of};
use format::maven::path::{self, Kind};
use format::maven::snapshot::Build;
use format::tree;
use std::collections::{HashMap, HashSet};
use std::os::unix::fs::FileExt;
use std::time::Duration;
use store::{Hashes, Lane};
use telemetry::{Event, Millis, Op};
use tokio::time::timeout;

/// So many bytes of metadata are read in about the time of a row.
const ROW_BYTES: u64 = 1024;
/// Most versions whose POM is looked for in one answer, the newest first. More are hidden until somebody asks again.
const LOOKED_FOR: usize = 32;
/// What was not looked for is, this much later.
const AGAIN: Duration = Duration::from_secs(10);

/// Whether what is at `path` tells of versions that policy may hide.
pub(super) fn is_for(remote: &Remote, path: &str) -> bool {
    let format = remote.repository.format;
    let of = kind::checksum_of(format, path).map_or(path, |(of, _)| of);
    !remote.repository.rules.is_open() && kind::is_metadata(format, of)
}

/// The metadata at `path`, or the checksum of it, without what policy hides.
pub(super) async fn metadata(
    remote: &Remote,
    path: &str,
    told: &mut Told,
    event: &mut Event,
) -> Result<Content, Error> {
    let (of, checksum) = match kind::checksum_of(remote.repository.format, path) {
        Some((of, checksum)) => (of, Some(checksum)),
        None => (path, None),
    };
    let content = file(remote, of, told, event).await?;
    let content = filtered(remote, of, content, event).await?;
    let Some((checksum, hashes)) = checksum.zip(content.hashes.as_ref()) else { return Ok(content) };
    let text = Bytes::from(digits(hashes, checksum));
    let hashes = Some(Hashes::of(&text));
    Ok(Content { source: Source::Memory(text), hashes, media: tree::media(path), ..content })
}

async fn filtered(remote: &Remote, path: &str, content: Content, event: &mut Event) -> Result<Content, Error> {
    let Some(Kind::Metadata(at)) = path::read(path).map(|read| read.kind) else { return Ok(content) };
    let document = read(remote, &content, event).await?;
    let (seen, until) = match at.snapshot() {
        Some(of) => builds(&document, of, remote.repository.view(remote.now())),
        None => listed(remote, at.folder, &document, event).await?,
    };
    let fresh_until = soonest(content.fresh_until, until);
    if seen == document {
        return Ok(Content { fresh_until, ..content });
    }
    let bytes = Bytes::from(seen.render());
    let (hashes, source) = (Some(Hashes::of(&bytes)), Source::Memory(bytes));
    Ok(Content { hashes, source, modified: None, fresh_until, ..content })
}

async fn read(remote: &Remote, content: &Content, event: &mut Event) -> Result<Metadata, Error> {
    let len = content.hashes.as_ref().map_or(0, |hashes| hashes.size_bytes);
    let (source, rows) = (content.source.clone(), usize::try_from(len / ROW_BYTES).unwrap_or(usize::MAX));
    let read = move || {
        let bytes = match source {
            Source::Memory(bytes) => bytes,
            Source::File(file) => {
                let mut bytes = vec![0; usize::try_from(len).map_err(|_| Error::GivenUp)?];
                file.read_exact_at(&mut bytes, 0).map_err(|_| Error::GivenUp)?;
                bytes.into()
            }
            Source::Growing(_) => return Err(Error::GivenUp),
        };
        // It was read when it came.
        Metadata::read(&bytes).map_err(|_| Error::GivenUp)
    };
    aside(&remote.remotes.workers, (Lane::Index, Op::PackageRead), rows, event, read).await
}

/// A snapshot's builds that may be seen: each is as old as its name says.
fn builds(
    document: &Metadata,
    (group, artifact, version): (&str, &str, &str),
    view: View<'_>,
) -> (Metadata, Option<Millis>) {
    let named = |moment: Option<i64>| {
        let since = moment.map_or(Since::Unknown, |moment| Since::Moment(Millis(moment)));
        Named::maven((group, artifact), version, since).upstream()
    };
    let mut until = None::<Millis>;
    let mut hides = |moment: Option<i64>| {
        let (named, rules) = (named(moment), view.rules);
        until = soonest(until, rules.turns(&named, view));
        rules.hides(&named, view).is_some()
    };
    let mut seen = document.clone();
    seen.files.retain(|file| {
        let built = Build::trailing(&file.value).map(|build| build.updated()).or_else(|| file.updated.clone());
        !hides(built.as_deref().and_then(moment_of))
    });
    if document.files.is_empty() {
        let moment = |snapshot: &Snapshot| moment_of(&snapshot.timestamp.as_deref()?.replace('.', ""));
        seen.snapshot = seen.snapshot.filter(|snapshot| !hides(moment(snapshot)));
    } else if seen.files.len() < document.files.len() {
        let newest = seen.files.iter().filter_map(|file| Build::trailing(&file.value)).max();
        let snapshot = |build: Build<'_>| Snapshot {
            timestamp: Some(build.timestamp.to_owned()),
            number: build.number,
            local: false,
        };
        seen.snapshot = newest.map(snapshot);
    }
    if seen != *document {
        seen.updated = seen.files.iter().filter_map(|file| file.updated.clone()).max();
    }
    (seen, until)
}

/// An artifact's versions that may be seen, and a group's plugins.
async fn listed(
    remote: &Remote,
    folder: &str,
    document: &Metadata,
    event: &mut Event,
) -> Result<(Metadata, Option<Millis>), Error> {
    let (of, view) = (folder.rsplit_once('/').unwrap_or(("", folder)), remote.repository.view(remote.now()));
    let named = |version, since| Named::maven(of, version, since).upstream();
    let hides = |version, since| view.rules.hides(&named(version, since), view).is_some();
    let told = [&document.latest, &document.release].into_iter().flatten();
    let all: Vec<&str> = document.versions.iter().chain(told).map(String::as_str).collect();
    let (ages, again) = ages(remote, folder, document, (&all, &hides), event).await?;
    let since = |version: &str| ages.get(version).copied().unwrap_or(Since::Always);
    let turns = all.iter().filter_map(|version| view.rules.turns(&named(version, since(version)), view)).min();
    let again = again.then(|| view.now.plus(AGAIN));
    let until = soonest(turns, again);

    let hidden: HashSet<&str> = all.iter().copied().filter(|version| hides(version, since(version))).collect();
    let mut seen = document.clone();
    seen.versions.retain(|version| !hidden.contains(version.as_str()));
    let plugin = |artifact: &str| Named::maven((folder, artifact), "", Since::Always).upstream();
    seen.plugins.retain(|one| view.rules.hides(&plugin(&one.artifact), view).is_none());
    if !hidden.is_empty() {
        let made = metadata::versions(("", ""), seen.versions.iter().map(String::as_str), 0);
        (seen.latest, seen.release, seen.updated) = (made.latest, made.release, None);
    }
    Ok((seen, until))
}

/// Since when those of `versions` exist whose age decides whether they are seen; and whether some were not looked for.
async fn ages<'a>(
    remote: &Remote,
    folder: &str,
    document: &Metadata,
    (versions, hides): (&[&'a str], &(dyn Fn(&'a str, Since) -> bool + Send + Sync)),
    event: &mut Event,
) -> Result<(HashMap<&'a str, Since>, bool), Error> {
    let mut ages = HashMap::new();
    let waits = |version: &&'a str| !hides(version, Since::Always) && hides(version, Since::Unknown);
    let young: Vec<&'a str> = versions.iter().copied().filter(waits).collect();
    if young.is_empty() {
        return Ok((ages, false));
    }
    let updated = document.updated.as_deref().and_then(moment_of).map(Millis);
    let (id, seen_unit) = (remote.repository.id, unit(folder));
    let facts = remote.remotes.store.facts(id, &seen_unit, event).await?.facts;
    let first_seen = Seen::read(&seen_unit, facts, remote.repository.origin.number())?.unwrap_or_default().versions;
    let mut open = Vec::new();
    for version in young {
        let moments = [updated, first_seen.get(version).copied()];
        let old = moments.into_iter().flatten().find(|moment| !hides(version, Since::Moment(*moment)));
        ages.insert(version, old.map_or(Since::Unknown, Since::Moment));
        if old.is_none() && !open.contains(&version) {
            open.push(version);
        }
    }
    let artifact = folder.rsplit('/').next().unwrap_or(folder);
    let asked: Vec<&'a str> = open.iter().rev().copied().take(LOOKED_FOR).collect();
    for some in asked.chunks(WIDTH) {
        let poms: Vec<_> = some.iter().map(|version| format!("{folder}/{version}/{artifact}-{version}.pom")).collect();
        for (version, since) in some.iter().zip(dates(remote, &poms, event).await?) {
            ages.insert(version, since);
        }
    }
    Ok((ages, open.len() > asked.len()))
}

/// Since when these POMs exist: those that are kept, and else those that the upstream gives.
async fn dates(remote: &Remote, poms: &[String], event: &mut Event) -> Result<Vec<Since>, Error> {
    let since = |row: OfUpstream<'_>| row.what(Format::Maven).map_or(Since::Unknown, |named| named.since);
    let mut dates = vec![Since::Unknown; poms.len()];
    let mut flights = Vec::new();
    for (at, pom) in poms.iter().enumerate() {
        match remote.recall(pom, event).await? {
            Some(Remembered::File(kept)) => dates[at] = since(OfUpstream::kept(pom, &kept.known)),
            None if remote.repository.asks => {
                // All of them are under way before the first is waited for. Where there is no room nothing is known.
                flights.extend(remote.flight(pom, Lasts::ToItsEnd).ok().map(|flight| (at, flight)));
            }
            _ => {}
        }
    }
    for (at, flight) in flights {
        let came = timeout(PATIENCE, flight.follow(Until::Arriving, event)).await;
        dates[at] = match came.ok().flatten() {
            Some(Stage::Arriving(arriving)) => since(OfUpstream::arriving(&poms[at], &arriving)),
            Some(Stage::Landed(Ok(Landed::File(kept, _)))) => since(OfUpstream::kept(&poms[at], &kept.known)),
            _ => Since::Unknown,
        };
    }
    Ok(dates)
}
