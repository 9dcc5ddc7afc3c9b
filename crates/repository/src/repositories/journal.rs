//! The journal in readable form: who changed what, and when.

use crate::error::{Error, Result};
use crate::format::Format;
use crate::format::rules::Coordinates;
use crate::moment::{self, Moment};
use crate::repositories::Repositories;
use crate::repositories::setting_changes::what_changed;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use store::{
    Change, Entry, JournalPage, JournalRange, JournalRow, RepositoryId, RepositoryRecord, Seq, State, Withdrawal,
};
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "JournalRow")]
pub struct ListedChange {
    /// Its number.
    #[schemars(with = "u64")]
    pub seq: Seq,
    /// When it was made.
    #[serde(serialize_with = "moment::shown")]
    #[schemars(with = "Moment")]
    pub at: Millis,
    /// The name of the token that made it; `daylight`: the server itself.
    pub by: String,
    /// From where: an address, `client` (its address is not recorded), `cli` or `server`; empty: an earlier version of the program wrote
    /// no such thing.
    pub from: String,
    /// What it did.
    pub kind: &'static str,
    /// The name of the repository that it is about.
    pub repository: Option<String>,
    /// The package that it is about, or the path of a file that is of none.
    pub package: Option<String>,
    /// The version, of a gem with its platform.
    pub version: Option<String>,
    /// The name of the token or of the setting that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub name: Option<String>,
    /// What it changed: of a repository `added`, `claims: +rack` and so on (absent where the record before it is too far back in the
    /// journal), of a token `created, with read` or `revoked`, of a version or file that was yanked or deleted `restored`, of a look at
    /// a Koji hub its builds and their tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub what: Option<String>,
}

/// One page of changes, in the order of their numbers.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Journal")]
pub struct ListedChanges {
    /// The changes.
    pub rows: Vec<ListedChange>,
    /// Where later changes go on, as `after`; null: this is the last part, or it began with the newest change.
    #[schemars(with = "Option<u64>")]
    pub next: Option<Seq>,
    /// Where earlier changes go on, as `before`; null: there are none, or the part began with the oldest change.
    #[schemars(with = "Option<u64>")]
    pub earlier: Option<Seq>,
}

impl Repositories {
    /// The requested changes. Without `after` and `since` these are the newest.
    pub async fn journal(&self, query: JournalQuery, event: &mut Event) -> Result<ListedChanges> {
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
            let made = row.change.repository().and_then(|id| page.repositories.get(&id).map(|record| (id, record)));
            let what = match &row.change {
                Change::FirstSeen { unit, seen, .. } => made
                    .and_then(|(_, record)| Format::named(&record.format))
                    .and_then(|format| format.rules().first_seen(unit, seen)),
                _ => what_changed(&row, &page),
            };
            let what = what.map(|what| Event::text(&what));
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
    async fn ids_of(&self, name: &str, event: &mut Event) -> Result<BTreeSet<RepositoryId>> {
        let now = self.table(event).await?.by_name.get(name).map(|repository| repository.id);
        let removed = self.services.store.removed_repositories(name, event).await?.into_iter().map(|(id, _)| id);
        let ids: BTreeSet<RepositoryId> = removed.chain(now).collect();
        match ids.is_empty() {
            true => Err(Error::NoSuchRepository(name.to_owned())),
            false => Ok(ids),
        }
    }
}

/// Rows in readable form, in the order of their numbers, outside a running server. `repositories`: the ones that the rows are about, as
/// they were created.
pub fn list_changes(rows: &[JournalRow], repositories: &HashMap<RepositoryId, RepositoryRecord>) -> Vec<ListedChange> {
    let page = JournalPage { repositories: repositories.clone(), ..JournalPage::default() };
    let listed = |row: &JournalRow| {
        let made = row.change.repository().and_then(|id| repositories.get(&id));
        let what = what_changed(row, &page).map(|what| Event::text(&what));
        let format = made.and_then(|record| Format::named(&record.format));
        ListedChange { what, ..list(row.clone(), made.map(|record| record.name.clone()), format) }
    };
    rows.iter().map(listed).collect()
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
