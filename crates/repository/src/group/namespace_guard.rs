//! Guards the names of hosted members against upstreams.
//!
//! Once a hosted member has published anything under a name, only hosted members answer for the name, for every
//! version. A higher version at an upstream stays invisible, and no upstream is called for the name, because the
//! request alone would reveal it. A policy can declare a name as shared. The format of the group defines the names that
//! guard a path.

use crate::error::Error;
use crate::group::{Group, is_hosted};
use crate::policy::package_version::PackageVersion;
use crate::repository::Repository;
use crate::tree::document::Document;
use crate::tree::file::{File, Guarded};
use format::tree;
use std::collections::HashSet;
use store::Unit;
use telemetry::{Event, MemberRecord, MemberSaid, Millis, Reason};

/// Maximum number of folders that are searched below one. A folder with more is a group of artifacts and not an
/// artifact.
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
    pub(crate) async fn guard<'a>(
        self,
        file: &File<'a>,
        now: Millis,
        event: &mut Event,
    ) -> Result<GuardedName<'a>, Error> {
        for leaf in self.hosted() {
            for name in file.guarded() {
                let has = match name {
                    Guarded::Folder(folder) => self.ever_had_versions_below(leaf, folder, now, event).await?,
                    Guarded::Path(path) => self.ever_had_file(leaf, path, now, event).await?,
                };
                if has {
                    return Ok(GuardedName { name: file.guarded_name(name), by: leaf.record.name.clone() });
                }
            }
        }
        Ok(GuardedName::default())
    }

    /// Whether a hosted member has, or ever had, a file at a path.
    async fn ever_had_file(self, leaf: &Repository, path: &str, now: Millis, event: &mut Event) -> Result<bool, Error> {
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
    ) -> Result<HashSet<String>, Error> {
        let mut guarded = HashSet::new();
        for leaf in self.hosted() {
            guarded.extend(self.below(leaf, folder, |_| false, event).await?);
        }
        guarded.retain(|below| !self.repository.rules.shares(&document.package(folder, below)));
        Ok(guarded)
    }

    /// Whether a hosted member has, or ever had, subfolders with files in this folder.
    pub(crate) async fn ever_had_versions_below(
        self,
        leaf: &Repository,
        folder: &str,
        now: Millis,
        event: &mut Event,
    ) -> Result<bool, Error> {
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
        let stamp = revisions.stamp(&[Unit::All(leaf.id)], Millis(i64::MAX)); // before the work
        let mut version = false;
        let is_version = |rest: &str| {
            version = !rest.contains('/');
            version
        };
        self.below(leaf, folder, is_version, event).await?;
        if let Some(stamp) = stamp {
            self.inventory.keep(leaf.id, &known, version.then_some(&*known).into_iter(), stamp);
        }
        Ok(version)
    }

    /// Reads the subfolders in which a hosted member has, or ever had, something. `enough` receives the entries below,
    /// and ends the search.
    async fn below(
        self,
        leaf: &Repository,
        folder: &str,
        mut enough: impl FnMut(&str) -> bool,
        event: &mut Event,
    ) -> Result<HashSet<String>, Error> {
        let above = format!("{folder}/");
        let (mut folders, mut after) = (HashSet::new(), String::new());
        while folders.len() < FOLDERS
            && let Some(entry) = self.store.entries_beginning(leaf.id, &above, &after, 1, event).await?.pop()
            && let Some(rest) = entry.unit.strip_prefix(&above)
        {
            if enough(rest) {
                break;
            }
            let first = rest.split('/').next().unwrap_or(rest);
            // Continues after the last path of this folder. The files of the folder itself come before.
            after = format!("{above}{first}/{}", char::MAX);
            folders.insert(first.to_owned());
        }
        Ok(folders)
    }
}
