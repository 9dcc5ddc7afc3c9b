//! An upstream as it was: of what it has today, what had been seen of it by then.
//!
//! What lasts has the same bytes today. Metadata is made again from what had been seen. Else it is answered where the bytes that are
//! kept are those of then; if not, nobody has them any more, and that is said.

use super::ages::Ages;
use super::fetch::{Told, answer, present};
use super::sightings::{FIRST, Seen, unit};
use super::{Remembered, Remote};
use crate::content::{How, digits};
use crate::visible::Row;
use crate::{Content, Error, Format, Named, Past, Repository, Since, Source, visible};
use bytes::Bytes;
use format::maven::metadata::{self, Metadata, Plugin};
use format::maven::path::{self, Artifact, Kind};
use format::tree::Checksum;
use std::sync::Arc;
use store::{Hashes, Seq, State};
use telemetry::{Event, Millis};

/// The file at `path` as of then, or the checksum of one.
pub(super) async fn file(
    remote: &Remote,
    past: Past,
    path: &str,
    told: &mut Told,
    event: &mut Event,
) -> Result<Content, Error> {
    let today = Repository::seen(&remote.repository, remote.repository.rules.clone(), None);
    let today = Remote { remotes: remote.remotes.clone(), repository: Arc::new(today) };
    if remote.repository.format == Format::Raw {
        let seen = seen(remote, past.through, &unit(path), event).await?;
        let Some(sha256) = seen.and_then(|seen| seen.sha256) else {
            return Err(early(remote, past, path, event).await?);
        };
        return match today.recall(path, event).await? {
            Some(Remembered::File(kept)) if kept.known.hashes.sha256 == sha256 => {
                answer((&today, told), path, kept, How::Kept, None)
            }
            _ if Ages::of(&today.repository, path).lasting() => present(&today, path, told, event).await,
            _ => Err(Error::Unkept(path.to_owned())),
        };
    }
    let missing = || Error::NoSuchFile(path.to_owned());
    let read = path::read(path).ok_or_else(missing)?;
    match read.kind {
        Kind::Artifact(Artifact { group, artifact, version, .. }) if !path::is_snapshot(version) => {
            let seen = seen(remote, past.through, &unit(&format!("{group}/{artifact}")), event).await?;
            match seen.is_some_and(|seen| seen.versions.contains_key(version)) {
                true => present(&today, path, told, event).await,
                false => Err(early(remote, past, path, event).await?),
            }
        }
        Kind::Metadata(at) if at.snapshot().is_none() => {
            let seen = seen(remote, past.through, &unit(at.folder), event).await?.filter(|seen| seen.listed);
            let Some(seen) = seen else { return Err(early(remote, past, path, event).await?) };
            document(&remote.repository, at.folder, seen, read.checksum, remote.now()).ok_or_else(missing)
        }
        // Which builds a snapshot had is not remembered.
        Kind::Artifact(_) | Kind::Metadata(_) => Err(Error::Unkept(path.to_owned())),
        Kind::Catalog | Kind::Prefixes | Kind::Settings | Kind::Index => Err(missing()),
    }
}

/// What a unit says that had been seen when `through` was the last change.
async fn seen(remote: &Remote, through: Seq, unit: &str, event: &mut Event) -> Result<Option<Seen>, Error> {
    let Remote { remotes, repository } = remote;
    let facts = remotes.store.then(through).facts(repository.id, unit, event).await?;
    Seen::read(unit, facts, repository.origin.number())
}

/// Why nothing is told of `path` as of then.
async fn early(remote: &Remote, past: Past, path: &str, event: &mut Event) -> Result<Error, Error> {
    let first = match seen(remote, past.through, FIRST, event).await? {
        Some(_) => None,
        None => seen(remote, remote.remotes.store.last(), FIRST, event).await?,
    };
    Ok(match first {
        Some(first) => Error::BeforeItsTime { what: remote.repository.record.name.clone(), since: first.since },
        None => Error::NoSuchFile(path.to_owned()),
    })
}

/// Metadata of all that had been seen, or the checksum of it.
fn document(
    repository: &Repository,
    folder: &str,
    seen: Seen,
    checksum: Option<Checksum>,
    now: Millis,
) -> Option<Content> {
    let of = folder.rsplit_once('/').unwrap_or_default();
    let rows = seen.versions.into_iter().map(|(version, since)| SeenVersion { of, version, since });
    let rows: Vec<SeenVersion<'_>> = rows.collect();
    let shown: Vec<_> = visible(&rows, repository.view(now)).map(|seen| seen.entry()).collect();
    let changed = shown.iter().map(|seen| seen.since).max().unwrap_or(seen.since);
    let plugins = seen.plugins.into_iter().map(|(artifact, (prefix, name))| Plugin { artifact, prefix, name });
    let plugins = metadata::plugins(plugins);
    let document = match of {
        (group, artifact) if !shown.is_empty() && !artifact.is_empty() => {
            let versions = shown.iter().map(|seen| seen.version.as_str());
            let versions = metadata::versions((&group.replace('/', "."), artifact), versions, changed.0);
            Metadata { plugins: plugins.plugins, ..versions }
        }
        _ if plugins.plugins.is_empty() => return None,
        _ => plugins,
    };
    let text = document.render();
    let (text, media) = match checksum {
        Some(checksum) => (digits(&Hashes::of(text.as_bytes()), checksum), "text/plain"),
        None => (text, "application/xml"),
    };
    let bytes = Bytes::from(text);
    Some(Content {
        hashes: Some(Hashes::of(&bytes)),
        source: Source::Memory(bytes),
        modified: Some(changed),
        media,
        lasting: false,
        fresh_until: None,
        freshness: None,
    })
}

/// A version that an upstream was seen to have.
#[derive(Debug)]
struct SeenVersion<'a> {
    /// Its group, as folders, and its artifact.
    of: (&'a str, &'a str),
    version: String,
    since: Millis,
}

impl Row for SeenVersion<'_> {
    fn standing(&self) -> (State, Millis, Millis) {
        (State::Live, self.since, self.since)
    }

    fn what(&self, _: Format) -> Option<Named<'_>> {
        Some(Named::maven(self.of, &self.version, Since::Moment(self.since)).upstream())
    }
}
