//! An upstream as it was: of what it has today, what had been seen of it by then.
//!
//! What lasts has the same bytes today. Metadata is made again from what had been seen. Else it is answered where the bytes that are
//! kept are those of then; if not, nobody has them any more, and that is said.

use crate::as_of::Past;
use crate::content::Content;
use crate::content::How;
use crate::error::Error;
use crate::format::Format;
use crate::maven::upstream::filtered_metadata::hide_plugins;
use crate::policy::named::Named;
use crate::policy::rules::OPEN;
use crate::repository::Repository;
use crate::upstream::fetch::{FetchTrace, answer, present};
use crate::upstream::first_seen::store::{Bytes, First, FirstSeenStore, FolderHistory};
use crate::upstream::release_age::AgeRecord;
use crate::upstream::ttl::Ttl;
use crate::upstream::{Remembered, Remote};
use crate::visible;
use crate::visible::Row;
use crate::visible::{shown, turns};
use format::maven::metadata;
use format::maven::path::{self, Artifact, Kind};
use std::sync::Arc;
use store::State;
use telemetry::{Event, Millis};

/// The file at `path` as of then, or the checksum of one.
pub(crate) async fn file(
    remote: &Remote,
    past: Past,
    path: &str,
    told: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content, Error> {
    let then = FirstSeenStore::of(remote).through(past.through);
    if remote.repository.format == Format::Raw {
        let Some(Bytes { met, sha256 }) = then.bytes(path, event).await? else {
            return Err(early(remote, then, path, event).await?);
        };
        let today = today(remote, Named::file(Format::Raw, path, met.age()), (met, path), told)?;
        return match today.recall(path, event).await? {
            Some(Remembered::File(kept)) if kept.known.hashes.sha256 == sha256 => {
                answer((&today, told), path, kept, (How::Kept, None), event).await
            }
            _ if Ttl::of(&today.repository, path).lasting() => present(&today, path, told, event).await,
            _ => Err(Error::Unkept(path.to_owned())),
        };
    }
    let missing = || Error::NoSuchFile(path.to_owned());
    let read = path::read(path).ok_or_else(missing)?;
    match read.kind {
        Kind::Artifact(Artifact { group, artifact, version, .. }) if !path::is_snapshot(version) => {
            let folder = then.folder(&format!("{group}/{artifact}"), event).await?;
            let Some(met) = folder.and_then(|folder| folder.versions.get(version).copied()) else {
                return Err(early(remote, then, path, event).await?);
            };
            let named = Named::maven((group, artifact), version, met.age());
            let today = today(remote, Some(named), (met, path), told)?;
            present(&today, path, told, event).await
        }
        Kind::Metadata(at) if at.snapshot().is_none() => {
            let listed = then.folder(at.folder, event).await?.filter(|folder| folder.listed);
            let Some(listed) = listed else { return Err(early(remote, then, path, event).await?) };
            // What turned up since then is on no list.
            if then.is_full(event).await? {
                return Err(over_budget(remote));
            }
            let document = document(remote, (at.folder, listed)).ok_or_else(missing)?;
            let sum = read.checksum.and_then(|checksum| document.sum(checksum));
            Ok(sum.unwrap_or(document))
        }
        // Which files a snapshot had is not remembered.
        Kind::Artifact(_) | Kind::Metadata(_) => Err(Error::Unkept(path.to_owned())),
        Kind::Catalog | Kind::Prefixes | Kind::Settings | Kind::Index => Err(missing()),
    }
}

/// The repository as it is, for what was to be seen then: policy has been asked, and is not asked again as of today.
fn today(
    remote: &Remote,
    named: Option<Named<'_>>,
    (met, path): (AgeRecord, &str),
    told: &mut FetchTrace,
) -> Result<Remote, Error> {
    let Remote { remotes, repository, place } = remote;
    let row = Seen { named: named.map(Named::upstream), met };
    let missing = || Error::NoSuchFile(path.to_owned());
    let shown = shown(&row, repository.view(remote.now()));
    told.let_through = shown.map_err(|why| why.map_or_else(missing, Error::from))?;
    let today = Repository::seen(repository, OPEN.clone(), None);
    let repository = Arc::new(Repository { asks: repository.asks, ..today });
    Ok(Remote { remotes: remotes.clone(), repository, place: place.clone() })
}

/// Why nothing is told of `path` as of then.
async fn early(remote: &Remote, then: FirstSeenStore<'_>, path: &str, event: &mut Event) -> Result<Error, Error> {
    let first = match then.first(event).await? {
        Some(First { full: true, .. }) => return Ok(over_budget(remote)),
        Some(_) => None,
        None => FirstSeenStore::of(remote).first(event).await?,
    };
    Ok(match first {
        Some(First { since, .. }) => Error::BeforeItsTime { what: remote.repository.record.name.clone(), since },
        None => Error::NoSuchFile(path.to_owned()),
    })
}

fn over_budget(remote: &Remote) -> Error {
    Error::FirstSeenFull(remote.repository.record.name.clone())
}

/// Metadata of all that had been seen in a folder.
fn document(remote: &Remote, (folder, mut known): (&str, FolderHistory)) -> Option<Content> {
    let (seen, versions) = (known.seen, std::mem::take(&mut known.versions));
    let mut plugins = known.listed_plugins();
    let view = remote.repository.view(remote.now());
    hide_plugins(&mut plugins, folder, view);
    let of = folder.rsplit_once('/').unwrap_or(("", folder));
    let named = |version, met: AgeRecord| Some(Named::maven(of, version, met.age()).upstream());
    let rows: Vec<_> = versions.iter().map(|(version, met)| Seen { named: named(version, *met), met: *met }).collect();
    let shown: Vec<_> = visible(&rows, view).map(|row| row.entry()).collect();
    let changed = shown.iter().map(|row| row.met.seen).max().unwrap_or(seen);
    let versions = shown.iter().filter_map(|row| row.named.as_ref()).map(|named| &*named.version);
    let document = metadata::listing(folder, (versions, !rows.is_empty()), plugins, changed.0);
    let (modified, fresh_until) = (Some(changed), turns(&rows, view));
    let content = |text| Content { modified, fresh_until, ..Content::text(text, "application/xml") };
    document.map(|document| content(document.render()))
}

/// What an upstream was seen to have.
#[derive(Debug)]
struct Seen<'a> {
    named: Option<Named<'a>>,
    met: AgeRecord,
}

impl Row for Seen<'_> {
    fn standing(&self) -> (State, Millis, Millis) {
        (State::Live, self.met.seen, self.met.seen)
    }

    fn what(&self, _: Format) -> Option<Named<'_>> {
        self.named.clone()
    }
}
