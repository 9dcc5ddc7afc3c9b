//! Which names are ours. What a hosted member has, or ever had, under a name of Maven's (`G:A`) is nobody else's to answer, whatever
//! version is asked for: a higher one that appears at an upstream is not seen, and upstreams are not asked for the name, as the
//! question alone would tell of it. A policy may say that a name is shared. Of files that have no such names the path is the name.

use super::Group;
use crate::{Error, Format, Named, Repository, Since};
use format::maven::path::{self, Kind};
use format::tree;
use std::collections::HashSet;
use std::sync::Arc;
use store::{RepositoryKind, Unit};
use telemetry::{Event, MemberRecord, MemberSaid, Millis, Reason};

/// Most folders of one that are looked into: more has a group of artifacts, and no artifact.
const FOLDERS: usize = 1_000;

/// Whether the name that a path is under is ours.
#[derive(Debug)]
pub(super) struct Ours<'a>(Option<Named<'a>>);

impl Ours<'_> {
    /// Whether this member is not asked for it.
    pub(super) fn kept_from(&self, leaf: &Repository) -> bool {
        let remote = leaf.record.kind == RepositoryKind::Remote;
        remote && self.0.as_ref().is_some_and(|name| !leaf.rules.shares(name))
    }
}

/// What is told of a member that is not asked for what is ours.
pub(super) fn kept(leaf: &Repository) -> MemberRecord {
    MemberRecord::new(&leaf.record.name, MemberSaid::Blocked, Some(Reason::HiddenByPolicy))
}

/// The folder of the artifact that a path is about. A group's folder may be that of an artifact, too.
pub(crate) fn artifact(format: Format, path: &str) -> Option<&str> {
    let folder = tree::folder(path);
    if format != Format::Maven {
        return None;
    }
    match path::read(path).map(|read| read.kind) {
        Some(Kind::Artifact(_)) => Some(tree::folder(folder)),
        Some(Kind::Metadata(at)) if at.snapshot().is_some() => Some(tree::folder(folder)),
        Some(Kind::Metadata(_)) => Some(folder),
        Some(Kind::Catalog | Kind::Prefixes | Kind::Settings | Kind::Index) => None,
        // No file of the layout; an upstream may have it all the same.
        None => Some(tree::folder(folder)),
    }
}

/// The folders of all artifacts that a path may be about. Of what no client of Maven's asks for nobody knows which it is.
fn artifacts(format: Format, path: &str) -> impl Iterator<Item = &str> {
    let first = artifact(format, path);
    let odd = match first.and_then(|_| path::read(path)).map(|read| read.kind) {
        // A document for a version that is no snapshot.
        Some(Kind::Metadata(at)) => {
            let last = at.folder.rsplit('/').next().unwrap_or_default();
            at.snapshot().is_none() && last.starts_with(|first: char| first.is_ascii_digit())
        }
        Some(_) => false,
        None => first.is_some(),
    };
    let above = std::iter::successors(Some(tree::folder(path)), |folder| Some(tree::folder(folder)));
    let above = above.take_while(move |folder| odd && !folder.is_empty()).filter(move |folder| Some(*folder) != first);
    first.into_iter().chain(above)
}

fn name(folder: &str) -> Option<Named<'_>> {
    Some(Named::maven(folder.rsplit_once('/')?, "", Since::Always))
}

impl<'g> Group<'g> {
    fn hosted(self) -> impl Iterator<Item = &'g Arc<Repository>> {
        self.repository.leaves.iter().filter(|leaf| leaf.record.kind == RepositoryKind::Hosted)
    }

    /// Whose the name is that `path` is under.
    pub(super) async fn ours<'a>(self, path: &'a str, now: Millis, event: &mut Event) -> Result<Ours<'a>, Error> {
        let format = self.repository.format;
        for leaf in self.hosted() {
            for folder in artifacts(format, path) {
                if self.holds(leaf, folder, now, event).await? {
                    return Ok(Ours(name(folder)));
                }
            }
            // What is beside a file, as its checksum, is whose that is.
            let files = [Some(path), tree::checksum_of(path).map(|(file, _)| file)];
            for file in files.into_iter().flatten().filter(|_| format == Format::Raw) {
                if self.held(leaf, file, now, event).await? {
                    return Ok(Ours(Named::file(format, file, Since::Always)));
                }
            }
        }
        Ok(Ours(None))
    }

    /// Whether a hosted member has a file at a path, or ever had.
    async fn held(self, leaf: &Repository, path: &str, now: Millis, event: &mut Event) -> Result<bool, Error> {
        let revisions = self.store.revisions();
        let said = self.inventory.ask(leaf.id, (tree::folder(path), path), |stamp| revisions.holds(stamp, now));
        Ok(said.known() != Some(false) && self.store.entry(leaf.id, path, event).await?.is_some())
    }

    /// The artifacts of the group of this folder that are ours alone.
    pub(super) async fn ours_below(self, folder: &str, event: &mut Event) -> Result<HashSet<String>, Error> {
        let mut ours = HashSet::new();
        for leaf in self.hosted() {
            ours.extend(self.below(leaf, folder, |_| false, event).await?);
        }
        ours.retain(|artifact| !self.repository.rules.shares(&Named::maven((folder, artifact), "", Since::Always)));
        Ok(ours)
    }

    /// Whether a hosted member has a version of the artifact of this folder, or ever had.
    async fn holds(self, leaf: &Repository, folder: &str, now: Millis, event: &mut Event) -> Result<bool, Error> {
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
