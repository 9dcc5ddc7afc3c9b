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
use crate::upstream::release_age::{AgeRecord, KnownAge};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
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
}

impl<'a> FirstSeenStore<'a> {
    /// Those of a remote repository.
    pub(crate) fn of(remote: &'a Remote) -> Self {
        let Remote { remotes, repository, .. } = remote;
        Self { units: Units(repository.origin.number()), store: &remotes.store, id: repository.id, through: None }
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

    /// The known facts about a folder.
    pub(crate) async fn folder(self, folder: &str, event: &mut Event) -> Result<Option<FolderHistory>> {
        Ok(self.folder_at(folder, event).await?.0)
    }

    /// The same, with the number of the last row.
    pub(crate) async fn folder_at(self, folder: &str, event: &mut Event) -> Result<(Option<FolderHistory>, Seq)> {
        let fold = |rows: Vec<FirstSeen>| -> Result<_, serde_json::Error> {
            let (mut folder, mut all, count): (Option<FolderHistory>, _, _) = (None, Vec::new(), rows.len());
            for row in rows {
                let news: News = serde_json::from_str(row.seen.get())?;
                // Rows are added after the units of the earlier form.
                if news.older {
                    all.push((row.at, news));
                    continue;
                }
                let seen = news.earlier.first().map_or(row.at, |(at, _)| *at);
                folder
                    .get_or_insert_with(|| FolderHistory { seen, rows: count, ..FolderHistory::default() })
                    .learn(row.at, news);
            }
            Ok((folder, all))
        };
        let ((known, rows), last) = self.rows(&self.units.unit(folder), fold, event).await?;
        if known.is_some() {
            return Ok((known, last));
        }
        let (mut before, count) = (self.folder_before(folder, event).await?, rows.len());
        for (at, news) in rows {
            before.get_or_insert_with(|| FolderHistory { seen: at, ..FolderHistory::default() }).learn(at, news);
        }
        Ok((before.map(|before| FolderHistory { rows: count, ..before }), last))
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

    /// The digest that a raw file was last seen with.
    pub(crate) async fn bytes(self, path: &str, event: &mut Event) -> Result<Option<Bytes>> {
        Ok(self.bytes_at(path, event).await?.0)
    }

    /// The same, with the number of the last row.
    pub(crate) async fn bytes_at(self, path: &str, event: &mut Event) -> Result<(Option<Bytes>, Seq)> {
        let fold = |rows: Vec<FirstSeen>| -> Result<_, serde_json::Error> {
            let Some(row) = rows.last() else { return Ok(None) };
            let BytesRow { since, sha256 } = serde_json::from_str(row.seen.get())?;
            Ok(Some(Bytes { met: AgeRecord { seen: row.at, since, open: false }, sha256 }))
        };
        let unit = self.units.unit(path);
        let (bytes, last) = self.rows(&unit, fold, event).await?;
        match bytes {
            Some(bytes) => Ok((Some(bytes), last)),
            None => Ok((self.unit_before(&unit, event).await?, last)),
        }
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

pub(crate) fn read<T: DeserializeOwned>(unit: &str, facts: serde_json::Value) -> Result<Option<T>> {
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
        assert_eq!(read::<Bytes>("unit", written).unwrap(), Some(Bytes { met, sha256 }));
        assert_eq!(read::<AgeRecord>("unit", serde_json::Value::Null).unwrap(), None);
    }
}
