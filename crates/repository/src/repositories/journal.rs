//! The journal in readable form: who changed what, and when.

use crate::error::Error;
use crate::format::Format;
use crate::format::rules::Coordinates;
use crate::repositories::Repositories;
use crate::repositories::setting_changes::what_changed;
use std::collections::BTreeSet;
use store::{Change, Entry, JournalRange, JournalRow, RepositoryId, Seq, State, Withdrawal};
use telemetry::{Event, Millis};

/// The kinds of changes. A closed list.
pub const CHANGE_KINDS: &[&str] = &[
    "publish",
    "change",
    "yank",
    "delete",
    "cleanup",
    "retention",
    "purge",
    "owners",
    "listing",
    "checksum",
    "first_seen",
    "repository",
    "token",
    "setting",
    "redate",
    "collect",
];

/// The requested rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalQuery {
    /// Rows about the repository of this name, including removed ones that had the name.
    pub repository: Option<String>,
    /// Rows of this token.
    pub by: Option<String>,
    /// Rows of these kinds, each one of [`CHANGE_KINDS`]. Without any, rows of every kind.
    pub kinds: Vec<&'static str>,
    /// Rows of this moment and later ones.
    pub since: Option<Millis>,
    /// Rows up to this moment.
    pub until: Option<Millis>,
    /// Rows after this number, oldest first.
    pub after: Option<u64>,
    /// Rows before this number, newest first.
    pub before: Option<u64>,
    /// Maximum number of rows.
    pub limit: usize,
}

/// A change in readable form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedChange {
    /// Its number.
    pub seq: Seq,
    /// When it was made.
    pub at: Millis,
    /// The author: the name of a token, or `daylight`.
    pub by: String,
    /// The origin: an address, `cli` or `server`.
    pub from: String,
    /// One of [`CHANGE_KINDS`].
    pub kind: &'static str,
    /// The name of the repository.
    pub repository: Option<String>,
    /// The package, or the path of a file that belongs to no package.
    pub package: Option<String>,
    /// The version of that package.
    pub version: Option<String>,
    /// The name of the token or of the setting.
    pub name: Option<String>,
    /// What it changed, such as `claims: +rack` of a repository, `revoked` of a token, `restored` of a version.
    pub what: Option<String>,
}

/// One page of changes, in the order of their numbers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ListedChanges {
    /// The changes.
    pub rows: Vec<ListedChange>,
    /// The `after` of the next page of later changes; `None`: there are none, or the page began with the newest.
    pub next: Option<Seq>,
    /// The `before` of the next page of earlier changes; `None`: there are none, or the page began with the oldest.
    pub earlier: Option<Seq>,
}

impl Repositories {
    /// The requested changes. Without `after` and `since` these are the newest.
    pub async fn journal(&self, query: JournalQuery, event: &mut Event) -> Result<ListedChanges, Error> {
        let ids = match &query.repository {
            Some(name) => Some(self.ids_of(name, event).await?),
            None => None,
        };
        let newest = query.after.is_none() && query.since.is_none();
        let mut range =
            JournalRange { after: Seq(query.after.unwrap_or(0)), through: self.services.store.last(), newest };
        if let Some(since) = query.since {
            let before = self.services.store.last_change_by(Millis(since.0.saturating_sub(1)), event).await?;
            range.after = range.after.max(before);
        }
        if let Some(until) = query.until {
            range.through = range.through.min(self.services.store.last_change_by(until, event).await?);
        }
        if let Some(before) = query.before {
            range.through = range.through.min(Seq(before.saturating_sub(1)));
        }
        let JournalQuery { by, kinds, limit, .. } = query;
        let wanted = move |row: &JournalRow| {
            by.as_ref().is_none_or(|by| *by == row.by)
                && (kinds.is_empty() || kinds.contains(&kind_of(&row.change, row.at)))
                && ids.as_ref().is_none_or(|ids| row.change.repository().is_some_and(|id| ids.contains(&id)))
        };
        let mut page = self.services.store.search_journal(range, limit, wanted, event).await?;
        let table = self.table(event).await?;
        let rows = std::mem::take(&mut page.rows);
        let listed = |row: JournalRow| {
            let what = what_changed(&row, &page);
            let made = row.change.repository().and_then(|id| page.repositories.get(&id).map(|record| (id, record)));
            let now = made.and_then(|(id, _)| table.by_name.values().find(|repository| repository.id == id));
            let name = now.map(|now| now.record.name.clone()).or_else(|| made.map(|(_, record)| record.name.clone()));
            ListedChange { what, ..list(row, name, made.and_then(|(_, record)| Format::named(&record.format))) }
        };
        let rows = rows.into_iter().map(listed).collect();
        Ok(match newest {
            true => ListedChanges { rows, next: None, earlier: page.next },
            false => ListedChanges { rows, next: page.next, earlier: None },
        })
    }

    /// The repository with this name, and the removed ones that had it.
    async fn ids_of(&self, name: &str, event: &mut Event) -> Result<BTreeSet<RepositoryId>, Error> {
        let now = self.table(event).await?.by_name.get(name).map(|repository| repository.id);
        let removed = self.services.store.removed_repositories(name, event).await?.into_iter().map(|(id, _)| id);
        let ids: BTreeSet<RepositoryId> = removed.chain(now).collect();
        match ids.is_empty() {
            true => Err(Error::NoSuchRepository(name.to_owned())),
            false => Ok(ids),
        }
    }
}

fn list(row: JournalRow, repository: Option<String>, format: Option<Format>) -> ListedChange {
    let kind = kind_of(&row.change, row.at);
    let rules = format.map(Format::rules);
    let coordinates = match (&row.change, rules) {
        (Change::Entry { entry, .. }, Some(rules)) => Some(rules.listed(entry)),
        (Change::Unit { unit, .. } | Change::FirstSeen { unit, .. }, Some(rules)) => Some(rules.unit(unit)),
        _ => None,
    };
    let nothing = || Coordinates { package: "".into(), version: "".into() };
    let Coordinates { package, version } = coordinates.unwrap_or_else(nothing);
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let (package, version) = (some(&package), some(&version));
    let name = match row.change {
        Change::Token { record } => Some(record.name),
        Change::Setting { key, .. } => Some(key),
        _ => None,
    };
    let JournalRow { seq, at, by, from, .. } = row;
    ListedChange { seq, at, by, from, kind, repository, package, version, name, what: None }
}

fn kind_of(change: &Change, at: Millis) -> &'static str {
    match change {
        Change::Entry { entry, .. } => kind_of_entry(entry, at),
        Change::Unit { unit, .. } if unit.contains("//checksums/") => "checksum",
        // Only gems have facts about people: the owners of a package. In other formats such facts are items of
        // metadata.
        Change::Unit { unit, .. } if unit.contains("//") => "listing",
        Change::Unit { .. } => "owners",
        Change::FirstSeen { .. } => "first_seen",
        Change::Repository { .. } => "repository",
        Change::Token { .. } => "token",
        Change::Setting { .. } => "setting",
        Change::Redate { .. } => "redate",
        Change::Collected { .. } => "collect",
    }
}

fn kind_of_entry(entry: &Entry, at: Millis) -> &'static str {
    match (entry.state, &entry.withdrawal) {
        (State::Live, _) if entry.published == at => "publish",
        (State::Live, _) => "change",
        (State::Withdrawn, Some(Withdrawal::Retracted) | None) => "yank",
        (State::Withdrawn, Some(Withdrawal::Deleted)) => "delete",
        (State::Withdrawn, Some(Withdrawal::Cleanup { .. })) => "cleanup",
        (State::Withdrawn, Some(Withdrawal::Pruned)) => "retention",
        (State::Withdrawn, Some(Withdrawal::Purged { .. })) => "purge",
    }
}
