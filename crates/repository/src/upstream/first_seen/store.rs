//! The first sights of an upstream's versions in the journal, so that they are known for every past moment.
//!
//! A folder that lists versions has a unit beside its files (`FOLDER//seen/U`, where U stands for the URL of the
//! upstream). Each row of it has the new facts of one observation ([`row`]), so a further version costs its own name,
//! whatever the number of versions. The facts about a folder are the sum of its rows; after many rows one summarises
//! all. A file that no folder lists has a unit of its own, whose last row has its digest. The bytes of a repository's
//! first-seen rows are limited: beyond the budget, unknown versions count as new.

use crate::error::{Error, Result};
use crate::tree::file::File;
use crate::upstream::Remote;
use crate::upstream::first_seen::age_key::{AgeKey, VersionPath};
use crate::upstream::first_seen::history::FolderHistory;
use crate::upstream::first_seen::row::News;
use crate::upstream::first_seen::sights::FirstSight;
use crate::upstream::release_age::{AgeRecord, KnownAge, ReportedDate};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use store::{Digest, FirstSeen, RepositoryId, Seq, Store};
use telemetry::{Event, Millis};

/// Since when an upstream is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct First {
    pub(crate) since: Millis,
    /// Whether the budget of the repository is used up, so that observations are not recorded.
    pub(crate) full: bool,
}

/// The row of that unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct FirstRow {
    /// The date, if it was before the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<Millis>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) full: bool,
}

/// The digest that a raw file was seen with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct Bytes {
    /// When these bytes were first seen.
    #[serde(flatten)]
    pub(crate) met: AgeRecord,
    pub(crate) sha256: Digest,
}

/// The row of that unit. Its moment is the first sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BytesRow {
    pub(crate) since: Millis,
    pub(crate) sha256: Digest,
}

impl Bytes {
    /// The digest in the last of these rows.
    fn read(rows: Vec<FirstSeen>) -> Result<Option<Self>, serde_json::Error> {
        let Some(row) = rows.last() else { return Ok(None) };
        let BytesRow { since, sha256 } = serde_json::from_str(row.seen.get())?;
        Ok(Some(Bytes { met: AgeRecord { seen: row.at, since, open: false }, sha256 }))
    }

    /// The record after the file was seen with this digest; `None`: it is known.
    pub(crate) fn told(before: Option<Self>, sha256: Digest, modified: Option<Millis>, now: Millis) -> Option<Self> {
        let known = match before {
            Some(bytes) if bytes.sha256 == sha256 => return None,
            Some(_) => KnownAge::Appeared,
            None => KnownAge::Nothing,
        };
        Some(Bytes { met: known.told(ReportedDate { date: modified, bound: false }, now), sha256 })
    }
}

/// What the rows of a folder add up to.
#[derive(Debug, Default)]
struct FolderRows {
    /// `None`: units of the earlier form come first, if there are any.
    known: Option<FolderHistory>,
    /// The facts of the rows that are added to these.
    further: Vec<(Millis, News)>,
    count: usize,
}

impl FolderRows {
    fn read(rows: Vec<FirstSeen>) -> Result<Self, serde_json::Error> {
        let mut read = Self { count: rows.len(), ..Self::default() };
        for row in rows {
            let news: News = serde_json::from_str(row.seen.get())?;
            // Rows are added after the units of the earlier form.
            if news.older {
                read.further.push((row.at, news));
                continue;
            }
            let seen = news.earlier.first().map_or(row.at, |(at, _)| *at);
            let empty = || FolderHistory { seen, rows: read.count, ..FolderHistory::default() };
            read.known.get_or_insert_with(empty).learn(row.at, news);
        }
        Ok(read)
    }

    /// Adds them to the facts in units of the earlier form.
    fn after(self, mut before: Option<FolderHistory>) -> Option<FolderHistory> {
        for (at, news) in self.further {
            before.get_or_insert_with(|| FolderHistory { seen: at, ..FolderHistory::default() }).learn(at, news);
        }
        before.map(|before| FolderHistory { rows: self.count, ..before })
    }
}

/// The names of units. A number in them stands for the URL, so the content of another upstream is not mixed in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Units(pub(crate) i64);

impl Units {
    /// The unit that records since when the upstream is observed.
    pub(crate) fn first(self) -> String {
        self.unit_of("", "first")
    }

    /// The unit of a folder, or of a raw file.
    pub(crate) fn unit(self, of: &str) -> String {
        self.unit_of(of, "seen")
    }

    fn unit_of(self, of: &str, what: &str) -> String {
        format!("{of}//{what}/{:016x}", self.0.cast_unsigned())
    }
}

/// The first-seen rows of an upstream, now or as of a change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FirstSeenStore<'a> {
    pub(crate) units: Units,
    pub(crate) store: &'a Store,
    pub(crate) id: RepositoryId,
    pub(crate) through: Option<Seq>,
    remote: &'a Remote,
}

impl<'a> FirstSeenStore<'a> {
    /// Those of a remote repository.
    pub(crate) fn of(remote: &'a Remote) -> Self {
        let Remote { remotes, repository, .. } = remote;
        let (units, store) = (Units(repository.origin.number()), &remotes.store);
        Self { units, store, id: repository.id, through: None, remote }
    }

    /// The same, directly after the change `through`.
    pub(crate) fn through(self, through: Seq) -> Self {
        Self { through: Some(through), ..self }
    }

    /// Folds the rows of a unit. Returns the result and the number of the last row.
    async fn rows<T: Send + 'static>(
        self,
        unit: &str,
        fold: impl FnOnce(Vec<FirstSeen>) -> Result<T, serde_json::Error> + Send + 'static,
        event: &mut Event,
    ) -> Result<(T, Seq)> {
        let read = |rows: Vec<FirstSeen>| {
            let last = rows.last().map_or(Seq(0), |row| row.seq);
            fold(rows).map(|folded| (folded, last))
        };
        let read = self.store.first_seen(self.id, unit, self.through, read, event).await?;
        read.map_err(|source| Error::Unreadable { key: unit.to_owned(), source })
    }

    /// The known facts about a folder, with the facts that are about to be written.
    pub(crate) async fn folder(self, folder: &str, event: &mut Event) -> Result<Option<FolderHistory>> {
        if self.through.is_some() {
            let rows = self.rows(&self.units.unit(folder), FolderRows::read, event).await?.0;
            return match rows.known {
                Some(known) => Ok(Some(known)),
                None => Ok(rows.after(self.folder_before(folder, event).await?)),
            };
        }
        let unwritten = self.unwritten(event).await?;
        let (mut known, now) =
            (self.folders_at(&[folder], event).await?.pop().and_then(|(known, _)| known), self.remote.now());
        for sight in &unwritten {
            if let FirstSight::Folder(sight) = &**sight
                && sight.folder == folder
                && let Some(news) = sight.news(known.as_ref(), now)
            {
                known.get_or_insert_with(|| FolderHistory { seen: now, ..FolderHistory::default() }).learn(now, news);
            }
        }
        Ok(known)
    }

    /// The facts about folders that are in the journal now, with the number of the last row of each.
    pub(crate) async fn folders_at(
        self,
        folders: &[&str],
        event: &mut Event,
    ) -> Result<Vec<(Option<FolderHistory>, Seq)>> {
        let units = folders.iter().map(|folder| self.units.unit(folder)).collect();
        let mut known = Vec::with_capacity(folders.len());
        for ((rows, last, facts), folder) in
            self.rows_of_units(units, FolderRows::read, event).await?.into_iter().zip(folders)
        {
            let history = match rows {
                FolderRows { known: Some(history), .. } => Some(history),
                rows if facts.is_null() => rows.after(None),
                rows => rows.after(self.folder_before(folder, event).await?),
            };
            known.push((history, last));
        }
        Ok(known)
    }

    /// Observations that are not written yet. Beyond the budget they never are, so nothing is believed of them.
    async fn unwritten(self, event: &mut Event) -> Result<Vec<Arc<FirstSight>>> {
        let unwritten = self.remote.remotes.first_sights.of(self.remote.repository.origin).unwritten();
        Ok(if unwritten.is_empty() || self.is_full(event).await? { Vec::new() } else { unwritten })
    }

    /// Folds the rows of each unit as they are now. Returns the results, the number of the last row, and the facts of the unit.
    async fn rows_of_units<T: Send + 'static>(
        self,
        units: Vec<String>,
        fold: impl Fn(Vec<FirstSeen>) -> Result<T, serde_json::Error> + Send + 'static,
        event: &mut Event,
    ) -> Result<Vec<(T, Seq, serde_json::Value)>> {
        if units.is_empty() {
            return Ok(Vec::new());
        }
        let names = units.clone();
        let read = move |rows: Vec<FirstSeen>| {
            let last = rows.last().map_or(Seq(0), |row| row.seq);
            fold(rows).map(|folded| (folded, last))
        };
        let read = self.store.first_seen_units(self.id, units, read, event).await?;
        let each = read.into_iter().zip(names).map(|((folded, facts), key)| match folded {
            Ok((folded, last)) => Ok((folded, last, facts)),
            Err(source) => Err(Error::Unreadable { key, source }),
        });
        each.collect()
    }

    /// Since when the upstream is observed.
    pub(crate) async fn first(self, event: &mut Event) -> Result<Option<First>> {
        Ok(self.first_at(event).await?.0)
    }

    /// The same, with the number of the last row.
    pub(crate) async fn first_at(self, event: &mut Event) -> Result<(Option<First>, Seq)> {
        let fold = |rows: Vec<FirstSeen>| -> Result<_, serde_json::Error> {
            let mut first = None;
            for row in rows {
                let FirstRow { since, full } = serde_json::from_str(row.seen.get())?;
                let had = first.map(|first: First| first.since);
                first = Some(First { since: had.or(since).unwrap_or(row.at), full });
            }
            Ok(first)
        };
        let unit = self.units.first();
        let (first, last) = self.rows(&unit, fold, event).await?;
        let before = match first {
            Some(_) => None,
            None => self.unit_before::<Millis>(&unit, event).await?,
        };
        Ok((first.or_else(|| before.map(|since| First { since, full: false })), last))
    }

    /// The digest that a raw file was last seen with, or is about to be recorded with.
    pub(crate) async fn bytes(self, path: &str, event: &mut Event) -> Result<Option<Bytes>> {
        if self.through.is_some() {
            let unit = self.units.unit(path);
            let bytes = self.rows(&unit, Bytes::read, event).await?.0;
            return if bytes.is_some() { Ok(bytes) } else { self.unit_before(&unit, event).await };
        }
        let unwritten = self.unwritten(event).await?;
        let (mut known, now) =
            (self.files_at(&[path], event).await?.pop().and_then(|(known, _)| known), self.remote.now());
        for sight in &unwritten {
            if let FirstSight::File { path: of, sha256, modified } = &**sight
                && of == path
            {
                known = Bytes::told(known, *sha256, *modified, now).or(known);
            }
        }
        Ok(known)
    }

    /// The digests of raw files that are in the journal now, with the number of the last row of each.
    pub(crate) async fn files_at(self, paths: &[&str], event: &mut Event) -> Result<Vec<(Option<Bytes>, Seq)>> {
        let units: Vec<String> = paths.iter().map(|path| self.units.unit(path)).collect();
        let read = self.rows_of_units(units.clone(), Bytes::read, event).await?;
        let each = read.into_iter().zip(units).map(|((bytes, last, facts), unit)| match bytes {
            Some(bytes) => Ok((Some(bytes), last)),
            None => Ok((read_facts(&unit, facts)?, last)),
        });
        each.collect()
    }

    /// The known facts about the age of a file with these bytes, if they are known. `lasting`: the bytes of the path
    /// never change.
    pub(crate) async fn known(
        self,
        file: &File<'_>,
        sha256: Option<Digest>,
        lasting: bool,
        event: &mut Event,
    ) -> Result<KnownAge> {
        match file.age_key() {
            AgeKey::Bytes => self.known_of_bytes(file, sha256, lasting, event).await,
            AgeKey::Version(VersionPath { folder, version }) => {
                let folder = self.folder(folder, event).await?;
                let met = version.and_then(|version| folder.as_ref()?.versions.get(&version).copied());
                match met {
                    Some(met) => Ok(KnownAge::Seen(met)),
                    None => self.unmet(folder.as_ref(), event).await,
                }
            }
            AgeKey::Document => Ok(KnownAge::Nothing),
        }
    }

    async fn known_of_bytes(
        self,
        file: &File<'_>,
        sha256: Option<Digest>,
        lasting: bool,
        event: &mut Event,
    ) -> Result<KnownAge> {
        // A checksum is as old as its file, if that was seen.
        if let Some((of, _)) = file.kept_checksum()
            && let Some(bytes) = self.bytes(of.path, event).await?
        {
            return Ok(KnownAge::Seen(bytes.met));
        }
        match (self.bytes(file.path, event).await?, sha256) {
            (None, _) => self.unmet(None, event).await,
            (Some(bytes), Some(sha256)) if bytes.sha256 == sha256 => Ok(KnownAge::Seen(bytes.met)),
            (Some(bytes), None) if lasting => Ok(KnownAge::Seen(bytes.met)),
            (Some(_), _) => Ok(KnownAge::Appeared),
        }
    }

    /// The facts about a version that was never seen in a folder, or about a raw file that was never seen. If the
    /// budget is used up, it is unknown what existed at the first look, so no date is believed.
    pub(crate) async fn unmet(self, folder: Option<&FolderHistory>, event: &mut Event) -> Result<KnownAge> {
        Ok(match folder.map_or(KnownAge::Nothing, FolderHistory::unmet) {
            KnownAge::Nothing if self.is_full(event).await? => KnownAge::Appeared,
            known => known,
        })
    }

    /// Whether observations are not recorded, because the budget of the repository is used up.
    pub(crate) async fn is_full(self, event: &mut Event) -> Result<bool> {
        Ok(self.first(event).await?.is_some_and(|first| first.full))
    }
}

pub(crate) fn read_facts<T: DeserializeOwned>(unit: &str, facts: serde_json::Value) -> Result<Option<T>> {
    serde_json::from_value(facts).map_err(|source| Error::Unreadable { key: unit.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_reads_what_versions_before_wrote() {
        let met = AgeRecord { seen: Millis(5), since: Millis(1), open: true };
        let sha256 = Digest([7; 32]);
        let written = serde_json::json!({ "seen": 5, "since": 1, "open": true, "sha256": sha256 });
        assert_eq!(read_facts::<Bytes>("unit", written).unwrap(), Some(Bytes { met, sha256 }));
        assert_eq!(read_facts::<AgeRecord>("unit", serde_json::Value::Null).unwrap(), None);
    }
}
