//! Guards the names of hosted members against upstreams.
//!
//! Once a hosted member has published anything under a name, only hosted members answer for the name, for every
//! version. A higher version at an upstream stays invisible, and no upstream is called for the name, because the
//! request alone would reveal it. A policy can declare a name as shared. The format of the group defines the names that
//! guard a path.

use crate::error::Result;
use crate::group::{Group, is_hosted, not_found};
use crate::policy::package_version::PackageVersion;
use crate::policy::share_command::share_command;
use crate::repository::Repository;
use crate::tree::document::Document;
use crate::tree::facts::Guarded;
use crate::tree::file::File;
use format::tree;
use std::collections::HashSet;
use store::{Lane, Unit};
use telemetry::{Event, MemberRecord, MemberSaid, Millis, Reason};

/// Number of folders that are looked up in memory before other tasks have their turn.
const TURN: usize = 64;
/// Maximum number of folders that are searched below one.
const FOLDERS: usize = 1_000;

/// The name that keeps a path from upstreams, if there is one.
#[derive(Debug, Default)]
pub(crate) struct GuardedName<'a> {
    name: Option<PackageVersion<'a>>,
    /// The hosted member that has or had a file of this name.
    by: String,
}

impl GuardedName<'_> {
    /// Whether this member must not be asked for it.
    pub(crate) fn blocks(&self, leaf: &Repository) -> bool {
        !is_hosted(leaf) && self.name.as_ref().is_some_and(|name| !leaf.rules.shares(name))
    }

    /// The name as people know it: `org.example:lamp`.
    pub(crate) fn text(&self) -> Option<String> {
        self.name.as_ref().map(ToString::to_string)
    }

    /// What clients of the group are told; `None`: no name guards the path.
    pub(crate) fn for_clients(&self, group: Group<'_>) -> Option<not_found::Guarded> {
        let name = self.name.as_ref()?;
        let (upstream, text, record) = (name.clone().upstream(), name.to_string(), &group.repository.record);
        let is_private = group.remote().all(|leaf| leaf.rules.private(&upstream).is_some());
        let share = (!is_private).then(|| share_command(record, &text));
        Some(not_found::Guarded { group: record.name.clone(), name: text, share })
    }

    /// The record of a member that is not asked because the name is guarded.
    pub(crate) fn blocked_record(&self, leaf: &Repository) -> MemberRecord {
        let name = self.text().unwrap_or_default();
        let detail = format!("`{name}` was published in `{}`, so this upstream is not asked for it", self.by);
        MemberRecord {
            detail,
            ..MemberRecord::new(&leaf.record.name, MemberSaid::Blocked, Some(Reason::HiddenByPolicy))
        }
    }
}

impl Group<'_> {
    /// Finds out whether a hosted member has something under one of the names that guard the file.
    pub(crate) async fn guard<'a>(self, file: &File<'a>, now: Millis, event: &mut Event) -> Result<GuardedName<'a>> {
        for leaf in self.hosted() {
            for name in file.guarded() {
                if self.ever_had(leaf, name, now, event).await? {
                    return Ok(GuardedName { name: file.guarded_name(name), by: leaf.record.name.clone() });
                }
            }
        }
        Ok(GuardedName::default())
    }

    /// Whether a hosted member has, or ever had, something under a name.
    pub(crate) async fn ever_had(
        self,
        leaf: &Repository,
        name: Guarded<'_>,
        now: Millis,
        event: &mut Event,
    ) -> Result<bool> {
        match name {
            Guarded::Folder(folder) => self.ever_had_versions_below(leaf, folder, now, event).await,
            Guarded::Path(path) => self.ever_had_file(leaf, path, now, event).await,
        }
    }

    /// Whether a hosted member has, or ever had, a file at a path.
    async fn ever_had_file(self, leaf: &Repository, path: &str, now: Millis, event: &mut Event) -> Result<bool> {
        if self.lacks(leaf, tree::folder(path), now, event).await? {
            return Ok(false);
        }
        let revisions = self.store.revisions();
        let said = self.inventory.ask(leaf.id, tree::folder(path), path, |stamp| revisions.holds(stamp, now));
        Ok(said.known() != Some(false) && self.store.entry(leaf.id, path, event).await?.is_some())
    }

    /// The subfolders of a document's folder that only hosted members answer for.
    pub(crate) async fn guarded_below(
        self,
        document: &dyn Document,
        folder: &str,
        event: &mut Event,
    ) -> Result<HashSet<String>> {
        let mut guarded = HashSet::new();
        for leaf in self.hosted() {
            guarded.extend(self.below(leaf, folder, event).await?);
        }
        guarded.retain(|below| !self.repository.rules.shares(&document.package(folder, below)));
        Ok(guarded)
    }

    /// The folders among these that only hosted members answer for.
    pub(crate) async fn guarded_among(
        self,
        document: &dyn Document,
        listed: HashSet<String>,
        now: Millis,
        event: &mut Event,
    ) -> Result<HashSet<String>> {
        let mut guarded = HashSet::new();
        for (at, folder) in listed.into_iter().enumerate() {
            if at % TURN == 0 {
                tokio::task::yield_now().await;
            }
            for leaf in self.hosted() {
                if self.ever_had_versions_below(leaf, &folder, now, event).await? {
                    guarded.insert(folder);
                    break;
                }
            }
        }
        guarded.retain(|folder| !self.repository.rules.shares(&document.package("", folder)));
        Ok(guarded)
    }

    /// Whether a hosted member has, or ever had, subfolders with files in this folder.
    pub(crate) async fn ever_had_versions_below(
        self,
        leaf: &Repository,
        folder: &str,
        now: Millis,
        event: &mut Event,
    ) -> Result<bool> {
        if self.lacks(leaf, folder, now, event).await? {
            return Ok(false);
        }
        let revisions = self.store.revisions();
        // This fact is stored among the facts about folders, under a name that no folder can have.
        let known = format!("{folder}/");
        let said = self.inventory.ask(leaf.id, &known, &known, |stamp| revisions.holds(stamp, now));
        if let Some(holds) = said.known() {
            return Ok(holds);
        }
        let stamp = revisions.stamp([Unit::All(leaf.id)], Millis(i64::MAX)); // before the work
        let version = self.find_version_below(leaf, folder, event).await?;
        self.inventory.keep(leaf.id, &known, version.then_some(&*known).into_iter(), stamp);
        Ok(version)
    }

    /// Whether a subfolder of this folder contains a file, withdrawn ones included. A subfolder that contains only folders is
    /// no version. If there are too many subfolders to read, the answer is that there is a version: then no upstream is
    /// called.
    async fn find_version_below(self, leaf: &Repository, folder: &str, event: &mut Event) -> Result<bool> {
        let above = format!("{folder}/");
        let mut after = String::new();
        for _ in 0..FOLDERS {
            let Some(entry) = self.store.entries_beginning(leaf.id, &above, &after, 1, event).await?.pop() else {
                return Ok(false);
            };
            let Some((child, below)) = entry.key.strip_prefix(&above).and_then(|rest| rest.split_once('/')) else {
                // A file of the folder itself.
                after = entry.key;
                continue;
            };
            let unit = format!("{above}{child}");
            // The first path in a version's folder can be that of a file in a folder below it.
            if !below.contains('/') || !self.store.unit(leaf.id, &unit, Lane::Single, event).await?.entries.is_empty() {
                return Ok(true);
            }
            after = format!("{unit}/{}", char::MAX);
        }
        Ok(true)
    }

    /// Reads the subfolders in which a hosted member has, or ever had, something.
    async fn below(self, leaf: &Repository, folder: &str, event: &mut Event) -> Result<HashSet<String>> {
        let above = format!("{folder}/");
        let (mut folders, mut after) = (HashSet::new(), String::new());
        while folders.len() < FOLDERS
            && let Some(entry) = self.store.entries_beginning(leaf.id, &above, &after, 1, event).await?.pop()
        {
            let Some((first, _)) = entry.key.strip_prefix(&above).and_then(|rest| rest.split_once('/')) else {
                // A file of the folder itself.
                after = entry.key;
                continue;
            };
            // Continues after the last path of this subfolder.
            after = format!("{above}{first}/{}", char::MAX);
            folders.insert(first.to_owned());
        }
        Ok(folders)
    }
}
