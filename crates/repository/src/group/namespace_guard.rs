//! Which names are ours. What a hosted member has, or ever had, under a name of Maven's (`G:A`) is nobody else's to answer, whatever
//! version is asked for: a higher one that appears at an upstream is not seen, and upstreams are not asked for the name, as the
//! question alone would tell of it. A policy may say that a name is shared. Of files that have no such names the path is the name.

use crate::error::Error;
use crate::format::Format;
use crate::group::{Group, is_hosted};
use crate::policy::named::{Named, Since};
use crate::repository::Repository;
use format::maven::path::{self, Kind};
use format::tree;
use std::collections::HashSet;
use store::Unit;
use telemetry::{Event, MemberRecord, MemberSaid, Millis, Reason};

/// Most folders of one that are looked into: more has a group of artifacts, and no artifact.
const FOLDERS: usize = 1_000;

/// Whether the name that a path is under is ours.
#[derive(Debug)]
pub(crate) struct GuardedName<'a>(Option<Named<'a>>);

impl GuardedName<'_> {
    /// Whether this member is not asked for it.
    pub(crate) fn kept_from(&self, leaf: &Repository) -> bool {
        !is_hosted(leaf) && self.0.as_ref().is_some_and(|name| !leaf.rules.shares(name))
    }
}

/// What is told of a member that is not asked for what is ours.
pub(crate) fn kept(leaf: &Repository) -> MemberRecord {
    MemberRecord::new(&leaf.record.name, MemberSaid::Blocked, Some(Reason::HiddenByPolicy))
}

/// The folders of all artifacts that a path of Maven's may be about: mostly of one. A group's folder may be that of an artifact,
/// too; and of what no client of Maven's asks for nobody knows which it is.
pub(crate) fn artifacts(path: &str) -> impl Iterator<Item = &str> {
    let folder = tree::folder(path);
    let above = tree::folder(folder);
    let read = path::read(path).map(|read| read.kind);
    let (first, odd) = match read {
        Some(Kind::Artifact(_)) => (above, false),
        Some(Kind::Metadata(at)) if at.snapshot().is_some() => (above, false),
        // A document for a version that is no snapshot is none of the layout's.
        Some(Kind::Metadata(_)) => (folder, name(folder).starts_with(|first: char| first.is_ascii_digit())),
        Some(Kind::Catalog | Kind::Prefixes | Kind::Settings | Kind::Index) => ("", false),
        // No file of the layout. An upstream may have it all the same, or a listing of it, if it is a folder.
        None => (above, true),
    };
    let from = if read.is_some() { folder } else { path };
    let others = std::iter::successors(odd.then_some(from), |folder| Some(tree::folder(folder)));
    let others = others.take_while(|folder| !folder.is_empty()).filter(move |folder| *folder != first);
    Some(first).filter(|first| !first.is_empty()).into_iter().chain(others)
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn named(folder: &str) -> Option<Named<'_>> {
    Some(Named::maven(folder.rsplit_once('/')?, "", Since::Always))
}

impl Group<'_> {
    /// Whose the name is that `path` is under.
    pub(crate) async fn ours<'a>(
        self,
        path: &'a str,
        now: Millis,
        event: &mut Event,
    ) -> Result<GuardedName<'a>, Error> {
        match self.repository.format {
            Format::Maven => {
                let folders: Vec<&str> = artifacts(path).collect();
                for leaf in self.hosted() {
                    for folder in &folders {
                        if self.holds(leaf, folder, now, event).await? {
                            return Ok(GuardedName(named(folder)));
                        }
                    }
                }
            }
            Format::Raw => {
                // What is beside a file, as its checksum, is whose that is.
                let beside = tree::checksum_of(path).map(|(file, _)| file);
                for leaf in self.hosted() {
                    for file in [Some(path), beside].into_iter().flatten() {
                        if self.held(leaf, file, now, event).await? {
                            return Ok(GuardedName(Named::file(Format::Raw, file, Since::Always)));
                        }
                    }
                }
            }
            Format::Gem => {}
        }
        Ok(GuardedName(None))
    }

    /// Whether a hosted member has a file at a path, or ever had.
    async fn held(self, leaf: &Repository, path: &str, now: Millis, event: &mut Event) -> Result<bool, Error> {
        if self.lacks(leaf, tree::folder(path), now, event).await? {
            return Ok(false);
        }
        let revisions = self.store.revisions();
        let said = self.inventory.ask(leaf.id, (tree::folder(path), path), |stamp| revisions.holds(stamp, now));
        Ok(said.known() != Some(false) && self.store.entry(leaf.id, path, event).await?.is_some())
    }

    /// The artifacts of the group of this folder that are ours alone.
    pub(crate) async fn ours_below(self, folder: &str, event: &mut Event) -> Result<HashSet<String>, Error> {
        let mut ours = HashSet::new();
        for leaf in self.hosted() {
            ours.extend(self.below(leaf, folder, |_| false, event).await?);
        }
        ours.retain(|artifact| !self.repository.rules.shares(&Named::maven((folder, artifact), "", Since::Always)));
        Ok(ours)
    }

    /// Whether a hosted member has a version of the artifact of this folder, or ever had.
    async fn holds(self, leaf: &Repository, folder: &str, now: Millis, event: &mut Event) -> Result<bool, Error> {
        if self.lacks(leaf, folder, now, event).await? {
            return Ok(false);
        }
        let revisions = self.store.revisions();
        // What is known of it is kept with what is known of folders, under a name that no folder has.
        let known = format!("{folder}/");
        let said = self.inventory.ask(leaf.id, (&known, &known), |stamp| revisions.holds(stamp, now));
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
            && let Some(entry) = self.store.entries_beginning(leaf.id, (&above, &after), 1, event).await?.pop()
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
