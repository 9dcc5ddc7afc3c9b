//! Has the journal remember what was seen of an upstream, where that is new.

use super::age::{Known, Told};
use super::incoming::document;
use super::sight::Sight;
use super::sightings::{Bytes, Folder, Says, Sightings};
use super::{KeptFile, Remote, kind};
use crate::content::rows_of;
use crate::work::aside;
use crate::{Error, Format};
use format::maven::metadata::Metadata;
use format::tree;
use std::collections::BTreeMap;
use store::{Batch, Change, CommitError, Digest, Expect, Lane, Seq};
use telemetry::{Event, Millis, Op};

/// How often it is tried again while others see something in the same folder.
const TRIES: usize = 100;
/// Under whose name it is journaled.
const DAYLIGHT: &str = "daylight";

/// Writes what a file that was fetched tells.
pub(super) async fn file(remote: &Remote, path: &str, kept: &KeptFile, event: &mut Event) -> Result<(), Error> {
    let format = remote.repository.format;
    let modified = kept.known.modified.as_deref().and_then(client::moment);
    if format == Format::Raw {
        return bytes(remote, path, (kept.known.hashes.sha256, modified), event).await;
    }
    if !kind::is_metadata(format, path) {
        return sights(remote, Sight::of_file(path, modified), event).await;
    }
    let look = document(&kept.held, kept.known.hashes.size_bytes);
    // It was read when it came. What cannot be read again is told by who asks for it next.
    let read = move || Ok(look().ok().and_then(|bytes| Metadata::read(&bytes).ok()));
    let rows = rows_of(kept.known.hashes.size_bytes);
    let document = aside(&remote.remotes.workers, (Lane::Index, Op::PackageRead), rows, event, read).await?;
    let Some(document) = document else { return Ok(()) };
    sights(remote, Sight::of_document(tree::folder(path), &document, modified), event).await
}

/// Writes what was seen.
pub(super) async fn sights(remote: &Remote, sights: Vec<Sight>, event: &mut Event) -> Result<(), Error> {
    for part in sights.into_iter().flat_map(Sight::parts) {
        sight(remote, &part, event).await?;
    }
    Ok(())
}

async fn sight(remote: &Remote, sight: &Sight, event: &mut Event) -> Result<(), Error> {
    let (of, now) = (Sightings::of(remote), remote.now());
    let unit = of.units.unit(&sight.folder);
    for _ in 0..TRIES {
        let (before, seq) = of.says_at::<Folder>(&unit, event).await?;
        let versions = match &*sight.versions {
            [(one, _)] => {
                let met = of.says(&of.units.version(&sight.folder, one), event).await?;
                met.map(|met| (one.clone(), met)).into_iter().collect()
            }
            [] => BTreeMap::new(),
            _ => of.versions(&sight.folder, event).await?,
        };
        let plugins = match sight.plugins.is_empty() {
            true => BTreeMap::new(),
            false => of.plugins(&sight.folder, event).await?,
        };
        let Some(units) = sight.news(of.units, (before.as_ref(), &versions, &plugins), now) else { return Ok(()) };
        if write(remote, (&unit, seq), units, event).await? {
            return Ok(());
        }
    }
    Err(Error::Contended(unit))
}

/// Writes which bytes a raw file has.
async fn bytes(
    remote: &Remote,
    path: &str,
    (sha256, modified): (Digest, Option<Millis>),
    event: &mut Event,
) -> Result<(), Error> {
    let (of, now) = (Sightings::of(remote), remote.now());
    let unit = of.units.unit(path);
    for _ in 0..TRIES {
        let (before, seq) = of.says_at::<Bytes>(&unit, event).await?;
        let known = match before {
            Some(bytes) if bytes.sha256 == sha256 => return Ok(()),
            Some(_) => Known::Appeared,
            None => Known::Nothing,
        };
        let met = known.told(Told { date: modified, bound: false }, now);
        let units = vec![(unit.clone(), Says::Bytes(Bytes { met, sha256 }))];
        if write(remote, (&unit, seq), units, event).await? {
            return Ok(());
        }
    }
    Err(Error::Contended(unit))
}

/// Writes units if the one is as it was when that was its last change, and says so if not.
async fn write(
    remote: &Remote,
    (unit, seq): (&str, Seq),
    mut units: Vec<(String, Says)>,
    event: &mut Event,
) -> Result<bool, Error> {
    let (store, repository, at, of) =
        (&remote.remotes.store, remote.repository.id, remote.now(), Sightings::of(remote));
    let mut expect =
        vec![Expect::RepositoryLives(repository), Expect::UnitAt { repository, unit: unit.to_owned(), seq }];
    let (first, seq) = of.says_at::<Millis>(&of.units.first(), event).await?;
    if first.is_none() {
        expect.push(Expect::UnitAt { repository, unit: of.units.first(), seq });
        units.push((of.units.first(), Says::First(at)));
    }
    let change = |(unit, says): (String, Says)| match serde_json::to_value(says) {
        Ok(facts) => Ok(Change::Unit { repository, unit, facts }),
        Err(source) => Err(Error::Unreadable { key: unit, source }),
    };
    let changes = units.into_iter().map(change).collect::<Result<_, _>>()?;
    match store.commit(Batch { by: DAYLIGHT.to_owned(), at, expect, changes }, event).await {
        Ok(_) => Ok(true),
        Err(CommitError::Conflict(conflict)) if matches!(conflict.0, Expect::UnitAt { .. }) => Ok(false),
        // It was removed.
        Err(CommitError::Conflict(_)) => Ok(true),
        Err(CommitError::Error(error)) => Err(error.into()),
    }
}
