//! Guards the names of hosted members against upstreams. Only hosted members answer for a name under which one of them has, or ever
//! had, something, whatever version is asked for: a higher version that appears at an upstream is not seen, and upstreams are not
//! asked for the name, as the question alone would tell of it. A policy may say that a name is shared. The format of the group says
//! which names guard a path.

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

/// Most folders of one that are looked into: more has a group of artifacts, and no artifact.
const FOLDERS: usize = 1_000;

/// The name that keeps a path from upstreams, if one does.
#[derive(Debug)]
pub(crate) struct GuardedName<'a>(Option<PackageVersion<'a>>);

impl GuardedName<'_> {
    /// Whether this member is not asked for it.
    pub(crate) fn blocks(&self, leaf: &Repository) -> bool {
        !is_hosted(leaf) && self.0.as_ref().is_some_and(|name| !leaf.rules.shares(name))
    }
}

/// The record of a member that is not asked because a name is guarded.
pub(crate) fn blocked_record(leaf: &Repository) -> MemberRecord {
    MemberRecord::new(&leaf.record.name, MemberSaid::Blocked, Some(Reason::HiddenByPolicy))
}

impl Group<'_> {
    /// Whether hosted members have anything under one of the names that the file is guarded by.
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
                    return Ok(GuardedName(file.guarded_name(name)));
                }
            }
        }
        Ok(GuardedName(None))
    }

    /// Whether a hosted member has a file at a path, or ever had.
    async fn ever_had_file(self, leaf: &Repository, path: &str, now: Millis, event: &mut Event) -> Result<bool, Error> {
        if self.lacks(leaf, tree::folder(path), now, event).await? {
            return Ok(false);
        }
        let revisions = self.store.revisions();
        let said = self.inventory.ask(leaf.id, tree::folder(path), path, |stamp| revisions.holds(stamp, now));
        Ok(said.known() != Some(false) && self.store.entry(leaf.id, path, event).await?.is_some())
    }

    /// The folders below that of a document which hosted members have alone.
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

    /// Whether a hosted member has folders with files in this one, or ever had.
    async fn ever_had_versions_below(
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
        // What is known of it is kept with what is known of folders, under a name that no folder has.
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

    /// The folders in this one that a hosted member has something in, or ever had; `enough`, which is shown what is below, ends it.
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
            // On behind all that is in it; what it holds itself comes before.
            after = format!("{above}{first}/{}", char::MAX);
            folders.insert(first.to_owned());
        }
        Ok(folders)
    }
}
