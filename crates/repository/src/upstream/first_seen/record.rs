//! Writes new observations of an upstream to the journal.

use crate::author::Author;
use crate::content::rows_of;
use crate::error::{Error, Result};
use crate::tree::file::File;
use crate::upstream::document_bytes;
use crate::upstream::first_seen::age_key::AgeKey;
use crate::upstream::first_seen::observation::Observation;
use crate::upstream::first_seen::row::News;
use crate::upstream::first_seen::store::{BytesRow, First, FirstRow, FirstSeenStore};
use crate::upstream::release_age::{KnownAge, ReportedDate};
use crate::upstream::{KeptFile, Remote};
use crate::workers::aside;
use serde::Serialize;
use store::{Change, CommitError, Digest, Expect, Lane, Seq};
use telemetry::{Event, Millis, Op};

/// Maximum number of attempts if concurrent observations of the same folder conflict.
const TRIES: usize = 100;
/// Bytes of a journal row without its unit and its content, in the budget.
const FURTHER_ROW_BYTES: usize = 160;

/// Records the observation that follows from a fetched file.
pub(crate) async fn file(remote: &Remote, file: &File<'_>, kept: &KeptFile, event: &mut Event) -> Result<()> {
    let modified = kept.known.modified.as_deref().and_then(client::moment);
    match file.age_key() {
        AgeKey::Bytes => return bytes(remote, file.path, kept.known.hashes.sha256, modified, event).await,
        AgeKey::Version(version) => {
            return sights(remote, file.observe(version, modified), event).await;
        }
        AgeKey::Document => {}
    }
    let Some(document) = file.document().filter(|_| file.is_metadata()) else { return Ok(()) };
    let (size_bytes, folder) = (kept.known.hashes.size_bytes, file.folder.to_owned());
    let read = document_bytes::read(&kept.held, size_bytes, document.longest());
    let observe = move || Ok(read().map_or_else(|_| Vec::new(), |bytes| document.observe(&folder, &bytes, modified)));
    let workers = &remote.remotes.workers;
    let seen = aside(workers, Lane::Index, Op::PackageRead, rows_of(size_bytes), event, observe).await?;
    sights(remote, seen, event).await
}

/// Records observations.
pub(crate) async fn sights(remote: &Remote, sights: Vec<Observation>, event: &mut Event) -> Result<()> {
    for each in sights {
        sight(remote, &each, event).await?;
    }
    Ok(())
}

async fn sight(remote: &Remote, sight: &Observation, event: &mut Event) -> Result<()> {
    let (of, now) = (FirstSeenStore::of(remote), remote.now());
    let unit = of.units.unit(&sight.folder);
    for _ in 0..TRIES {
        let (before, last) = of.folder_at(&sight.folder, event).await?;
        let Some(news) = sight.news(before.as_ref(), now) else { return Ok(()) };
        let (row, whole) = match before {
            Some(mut folder) if folder.has_many_rows() => {
                folder.learn(now, News { older: false, ..news });
                (folder.whole(), true)
            }
            _ => (news, false),
        };
        if write(remote, (&unit, last), (&row, whole), event).await? {
            return Ok(());
        }
    }
    Err(Error::Contended(unit))
}

/// Records the digest of a raw file.
async fn bytes(remote: &Remote, path: &str, sha256: Digest, modified: Option<Millis>, event: &mut Event) -> Result<()> {
    let (of, now) = (FirstSeenStore::of(remote), remote.now());
    let unit = of.units.unit(path);
    for _ in 0..TRIES {
        let (before, last) = of.bytes_at(path, event).await?;
        let known = match before {
            Some(bytes) if bytes.sha256 == sha256 => return Ok(()),
            Some(_) => KnownAge::Appeared,
            None => KnownAge::Nothing,
        };
        let row = BytesRow { since: known.told(ReportedDate { date: modified, bound: false }, now).since, sha256 };
        if write(remote, (&unit, last), (&row, true), event).await? {
            return Ok(());
        }
    }
    Err(Error::Contended(unit))
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

/// Writes a row of a unit if `last` is still the number of its last row, and returns whether it did. If the budget of
/// the repository is used up, the only row that is written is the one that says so.
async fn write(
    remote: &Remote,
    (unit, last): (&str, Seq),
    (says, whole): (&impl Serialize, bool),
    event: &mut Event,
) -> Result<bool> {
    let unreadable = |source| Error::Unreadable { key: unit.to_owned(), source };
    let seen = serde_json::to_value(says).map_err(unreadable)?;
    Ok(write_all(remote, (unit, last), vec![(seen, whole)], event).await? != Wrote::Behind)
}

/// Writes rows of a unit, in one commit, if `last` is still the number of its last row: their content, and whether each
/// is complete. If the budget of the repository has no room for all of them, none is written.
pub(crate) async fn write_all(
    remote: &Remote,
    (unit, last): (&str, Seq),
    rows: Vec<(serde_json::Value, bool)>,
    event: &mut Event,
) -> Result<Wrote> {
    let (of, id) = (FirstSeenStore::of(remote), remote.repository.id);
    let (first, first_seq) = of.first_at(event).await?;
    let unreadable = |source| Error::Unreadable { key: unit.to_owned(), source };
    let bytes = rows.iter().map(|(seen, _)| seen.to_string().len()).sum::<usize>();
    let was_full = first.is_some_and(|first| first.full);
    let further = rows.len().saturating_sub(1) * (FURTHER_ROW_BYTES + unit.len());
    let admitted = remote.remotes.store.admit_first_seen(id, unit, bytes + further, was_full);
    let fits = admitted.is_some();
    let mut batch = Author::SERVER.batch(Millis(0), Vec::new(), Vec::new());
    batch.expect.push(Expect::RepositoryLives(id));
    if first.is_none() || was_full == fits {
        let row = FirstRow { since: first.map(|First { since, .. }| since), full: !fits };
        let row = serde_json::to_value(row).map_err(unreadable)?;
        batch.expect.push(Expect::FirstSeenAt { repository: id, unit: of.units.first(), seq: first_seq });
        batch.changes.push(Change::FirstSeen {
            repository: id,
            unit: of.units.first(),
            whole: true,
            uncounted: false,
            seen: row,
        });
    }
    if fits {
        batch.expect.push(Expect::FirstSeenAt { repository: id, unit: unit.to_owned(), seq: last });
        batch.changes.extend(rows.into_iter().map(|(seen, whole)| Change::FirstSeen {
            repository: id,
            unit: unit.to_owned(),
            whole,
            uncounted: false,
            seen,
        }));
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
