//! Writes new observations of an upstream to the journal.

use crate::author::Author;
use crate::content::rows_of;
use crate::error::{Error, Result};
use crate::tree::file::File;
use crate::upstream::document_bytes;
use crate::upstream::first_seen::age_key::AgeKey;
use crate::upstream::first_seen::history::FolderHistory;
use crate::upstream::first_seen::observation::Observation;
use crate::upstream::first_seen::row::News;
use crate::upstream::first_seen::sights::FirstSight;
use crate::upstream::first_seen::store::{Bytes, BytesRow, First, FirstRow, FirstSeenStore};
use crate::upstream::{KeptFile, Remote};
use crate::workers::aside;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Change, CommitError, Digest, Expect, Lane, RepositoryId, Seq};
use telemetry::{Event, Millis, Op};

/// Maximum number of attempts if concurrent observations of the same folder conflict.
const TRIES: usize = 100;
/// Bytes of a journal row without its unit and its content, in the budget.
const FURTHER_ROW_BYTES: usize = 160;

/// Lets the observation that follows from a fetched file be recorded soon.
pub(crate) async fn file(remote: &Remote, file: &File<'_>, kept: &KeptFile, event: &mut Event) -> Result<()> {
    let modified = kept.known.modified.as_deref().and_then(client::moment);
    let seen = match file.age_key() {
        AgeKey::Bytes => {
            let sha256 = kept.known.hashes.sha256;
            return remote
                .see_first(vec![FirstSight::File { path: file.path.to_owned(), sha256, modified }], event)
                .await;
        }
        AgeKey::Version(version) => file.observe(version, modified),
        AgeKey::Document => {
            let Some(document) = file.document().filter(|_| file.is_metadata()) else { return Ok(()) };
            let (size_bytes, folder) = (kept.known.hashes.size_bytes, file.folder.to_owned());
            let read = document_bytes::read(&kept.held, size_bytes, document.longest());
            let observe =
                move || Ok(read().map_or_else(|_| Vec::new(), |bytes| document.observe(&folder, &bytes, modified)));
            let workers = &remote.remotes.workers;
            aside(workers, Lane::Index, Op::PackageRead, rows_of(size_bytes), event, observe).await?
        }
    };
    remote.see_first(seen.into_iter().map(FirstSight::Folder).collect(), event).await
}

/// Records observations. When this returns, they are in the journal.
pub(crate) async fn sights(remote: &Remote, sights: Vec<Observation>, event: &mut Event) -> Result<()> {
    remote.write_first(sights.into_iter().map(FirstSight::Folder).collect(), event).await
}

/// New rows of a unit: their content, and whether each is complete.
pub(crate) struct NewRows {
    pub(crate) unit: String,
    /// The number of its last row when the rows were made.
    pub(crate) last: Seq,
    pub(crate) rows: Vec<(Value, bool)>,
}

/// Writes the new part of observations, in one commit.
pub(super) async fn write(remote: &Remote, sights: &[Arc<FirstSight>], event: &mut Event) -> Result<()> {
    let mut contended = String::new();
    for _ in 0..TRIES {
        let mut units = of_folders(remote, sights, event).await?;
        units.extend(of_files(remote, sights, event).await?);
        units.retain(|unit| !unit.rows.is_empty());
        let Some(NewRows { unit, .. }) = units.first() else { return Ok(()) };
        contended.clone_from(unit);
        if write_all(remote, units, event).await? != Wrote::Behind {
            return Ok(());
        }
    }
    Err(Error::Contended(contended))
}

/// The rows for the folders in these observations.
async fn of_folders(remote: &Remote, sights: &[Arc<FirstSight>], event: &mut Event) -> Result<Vec<NewRows>> {
    let mut seen: BTreeMap<&str, Vec<&Observation>> = BTreeMap::new();
    for sight in sights {
        if let FirstSight::Folder(sight) = &**sight {
            seen.entry(&sight.folder).or_default().push(sight);
        }
    }
    let (of, now) = (FirstSeenStore::of(remote), remote.now());
    let known = of.folders_at(&seen.keys().copied().collect::<Vec<_>>(), event).await?;
    let rows = seen.into_iter().zip(known).map(|((folder, sights), (mut before, last))| {
        let (unit, mut rows) = (of.units.unit(folder), Vec::new());
        for sight in sights {
            let Some(news) = sight.news(before.as_ref(), now) else { continue };
            let (row, whole) = match before.take() {
                Some(mut folder) if folder.has_many_rows() => {
                    folder.learn(now, News { older: false, ..news });
                    before = Some(FolderHistory { rows: 1, older: false, ..folder.clone() });
                    (folder.whole(), true)
                }
                folder => {
                    let nothing = || FolderHistory { seen: now, ..FolderHistory::default() };
                    let mut folder = folder.unwrap_or_else(nothing);
                    folder.rows += 1;
                    folder.learn(now, news.clone());
                    before = Some(folder);
                    (news, false)
                }
            };
            rows.push((as_json(&row, &unit)?, whole));
        }
        Ok(NewRows { unit, last, rows })
    });
    rows.collect()
}

/// The rows for the raw files in these observations.
async fn of_files(remote: &Remote, sights: &[Arc<FirstSight>], event: &mut Event) -> Result<Vec<NewRows>> {
    let mut seen: BTreeMap<&str, Vec<(Digest, Option<Millis>)>> = BTreeMap::new();
    for sight in sights {
        if let FirstSight::File { path, sha256, modified } = &**sight {
            seen.entry(path).or_default().push((*sha256, *modified));
        }
    }
    let (of, now) = (FirstSeenStore::of(remote), remote.now());
    let known = of.files_at(&seen.keys().copied().collect::<Vec<_>>(), event).await?;
    let rows = seen.into_iter().zip(known).map(|((path, sights), (before, last))| {
        let (unit, mut rows, mut known) = (of.units.unit(path), Vec::new(), before);
        for (sha256, modified) in sights {
            if let Some(bytes) = Bytes::told(known, sha256, modified, now) {
                rows.push((as_json(&BytesRow { since: bytes.met.since, sha256 }, &unit)?, true));
                known = Some(bytes);
            }
        }
        Ok(NewRows { unit, last, rows })
    });
    rows.collect()
}

fn as_json(row: &impl Serialize, unit: &str) -> Result<Value> {
    serde_json::to_value(row).map_err(|source| Error::Unreadable { key: unit.to_owned(), source })
}

/// The outcome of writing rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrote {
    /// They are in the journal: their date, and the number of the last one.
    Rows(Millis, Seq),
    /// The budget of the repository is used up, which the journal says.
    Full,
    /// Other rows were written first.
    Behind,
    /// The repository was removed.
    Removed,
}

/// Writes rows of units, in one commit, if no unit has newer rows. If the budget of the repository has no room for all rows of
/// a unit, neither these nor those of the units behind it are written.
pub(crate) async fn write_all(remote: &Remote, units: Vec<NewRows>, event: &mut Event) -> Result<Wrote> {
    let (of, id) = (FirstSeenStore::of(remote), remote.repository.id);
    let (first, first_seq) = of.first_at(event).await?;
    let was_full = first.is_some_and(|first| first.full);
    let mut batch = Author::SERVER.batch(Millis(0), vec![Expect::RepositoryLives(id)], Vec::new());
    let (mut admitted, mut fits) = (Vec::with_capacity(units.len()), true);
    for NewRows { unit, last, rows } in units {
        let bytes = rows.iter().map(|(seen, _)| seen.to_string().len()).sum::<usize>();
        let further = rows.len().saturating_sub(1) * (FURTHER_ROW_BYTES + unit.len());
        let Some(place) = remote.remotes.store.admit_first_seen(id, &unit, bytes + further, was_full) else {
            fits = false;
            break;
        };
        admitted.push(place);
        batch.expect.push(Expect::FirstSeenAt { repository: id, unit: unit.clone(), seq: last });
        batch.changes.extend(rows.into_iter().map(|(seen, whole)| seen_row(id, unit.clone(), whole, seen)));
    }
    if first.is_none() || was_full == fits {
        let unit = of.units.first();
        let row = as_json(&FirstRow { since: first.map(|First { since, .. }| since), full: !fits }, &unit)?;
        batch.expect.push(Expect::FirstSeenAt { repository: id, unit: unit.clone(), seq: first_seq });
        batch.changes.insert(0, seen_row(id, unit, true, row));
    }
    if batch.changes.is_empty() {
        return Ok(Wrote::Full);
    }
    // The moment of the commit, not that of the observation: a view of a past moment must never change.
    batch.at = remote.remotes.store.now();
    let at = batch.at;
    let seq = match remote.remotes.store.commit(batch, event).await {
        Ok(seq) => seq,
        Err(CommitError::Conflict(conflict)) if matches!(conflict.0, Expect::FirstSeenAt { .. }) => {
            return Ok(Wrote::Behind);
        }
        Err(CommitError::Conflict(_)) => return Ok(Wrote::Removed),
        Err(CommitError::Error(error)) => return Err(error.into()),
    };
    if was_full == fits {
        tell(remote, fits);
    }
    Ok(if fits { Wrote::Rows(at, seq) } else { Wrote::Full })
}

fn seen_row(repository: RepositoryId, unit: String, whole: bool, seen: Value) -> Change {
    Change::FirstSeen { repository, unit, whole, uncounted: false, seen }
}

/// Logs that the budget is used up, or no longer used up, once each.
fn tell(remote: &Remote, fits: bool) {
    let (log, name) = (remote.remotes.recorder.log(), &remote.repository.record.name);
    match fits {
        true => log.info("the first sight of new versions is recorded again", &[("repository", name)]),
        false => log.warn(
            "the first sight of new versions is no longer recorded: a cooldown hides them, and views of earlier moments \
             do not have them",
            &[("repository", name), ("hint", &"raise `upstream.first_seen_bytes`")],
        ),
    }
}
