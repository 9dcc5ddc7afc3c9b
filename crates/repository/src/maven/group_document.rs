//! The documents that a group makes of those of its members: which paths have them, and how several become one.

#[cfg(test)]
mod tests;

use crate::content::Content;
use crate::maven::layout::MavenPath;
use crate::maven::upstream::observed;
use crate::policy::package_version::{PackageVersion, Since};
use crate::tree::document::{Document, MemberDocument, MergedDocument, Sources};
use crate::upstream::first_seen::observation::Observation;
use bytes::Bytes;
use format::maven::metadata::Metadata;
use format::maven::path::Kind;
use format::maven::prefixes::Prefixes;
use format::maven::{LONGEST, catalog, metadata};
use std::collections::HashSet;
use telemetry::Millis;

/// Most bytes of documents that are made one of at a time, by all who ask together.
pub(crate) const MERGING: u64 = 4 * READ_MAX as u64;
/// Most bytes that are read for one document, of all members together: twice what one may have.
const READ_MAX: usize = 2 * LONGEST;

/// A document that is made of those of the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MavenDocument {
    /// `maven-metadata.xml`.
    Metadata,
    /// `archetype-catalog.xml`: of what is hosted. A public one has many megabytes, and clients know it anyway.
    Catalog,
    /// `.meta/prefixes.txt`: only where all is hosted. A client that was told too few prefixes refuses what is there.
    Prefixes,
}

/// The kind of document at a path, or of which that is a checksum; `None`: a file that one member has.
pub(crate) fn at(path: &MavenPath<'_>) -> Option<&'static dyn Document> {
    match path.kind()? {
        Kind::Metadata(_) => Some(&MavenDocument::Metadata),
        Kind::Catalog => Some(&MavenDocument::Catalog),
        Kind::Prefixes => Some(&MavenDocument::Prefixes),
        Kind::Artifact(_) | Kind::Settings | Kind::Index => None,
    }
}

impl Document for MavenDocument {
    fn sources(&self) -> Sources {
        match self {
            MavenDocument::Metadata => Sources::Any,
            MavenDocument::Catalog => Sources::Hosted,
            MavenDocument::Prefixes => Sources::AllHosted,
        }
    }

    fn longest(&self) -> usize {
        LONGEST
    }

    fn longest_together(&self) -> usize {
        READ_MAX
    }

    fn check(&self, bytes: &[u8]) -> Result<(), String> {
        match self {
            MavenDocument::Metadata => Metadata::read(bytes).map(drop).map_err(|why| why.to_string()),
            MavenDocument::Catalog | MavenDocument::Prefixes => Ok(()),
        }
    }

    fn observe(&self, folder: &str, bytes: &[u8], modified: Option<Millis>) -> Vec<Observation> {
        match self {
            // It was read when it came. What cannot be read again is told by the next request for it.
            MavenDocument::Metadata => Metadata::read(bytes)
                .map_or_else(|_| Vec::new(), |document| observed::of_document(folder, &document, modified)),
            MavenDocument::Catalog | MavenDocument::Prefixes => Vec::new(),
        }
    }

    fn package<'a>(&self, folder: &'a str, below: &'a str) -> PackageVersion<'a> {
        PackageVersion::maven(folder, below, "", Since::Always)
    }

    fn merge(&self, folder: &str, parts: &[MemberDocument], guarded: &HashSet<String>) -> Option<MergedDocument> {
        let mut room = READ_MAX;
        let (mut read, mut lacks) = (Vec::new(), false);
        for part in parts {
            match bytes(&part.content, &mut room) {
                Some(bytes) => read.push((part.hosted, bytes)),
                None => lacks = true,
            }
        }
        let text = match self {
            MavenDocument::Metadata => {
                let parsed = |(hosted, bytes): (bool, Bytes)| Some((hosted, Metadata::read(&bytes).ok()?));
                let all = each(read, &mut lacks, parsed);
                (!all.is_empty()).then(|| of_all(folder, all, guarded).render())
            }
            MavenDocument::Catalog => {
                let all = each(read, &mut lacks, |(_, bytes)| catalog::read(&bytes).ok());
                (!all.is_empty()).then(|| catalog::render(all.into_iter().flatten().collect()))
            }
            MavenDocument::Prefixes => {
                let all = each(read, &mut lacks, |(_, bytes)| Prefixes::read(&bytes));
                let all = all.into_iter().reduce(|all, one| all.or(&one));
                all.filter(|_| !lacks).map(|all| all.render())
            }
        };
        text.map(|text| MergedDocument { bytes: text.into(), lacks })
    }
}

/// What can be read of all.
fn each<T>(all: Vec<(bool, Bytes)>, lacks: &mut bool, read: impl Fn((bool, Bytes)) -> Option<T>) -> Vec<T> {
    let count = all.len();
    // One after the other: what a document is read into is many times larger than the document.
    let all: Vec<T> = all.into_iter().filter_map(read).collect();
    *lacks |= all.len() < count;
    all
}

/// The bytes of a part, while they fit into the room that is left.
fn bytes(content: &Content, room: &mut usize) -> Option<Bytes> {
    let len = usize::try_from(content.hashes.as_ref()?.size_bytes).ok()?;
    *room = room.checked_sub(len)?;
    content.bytes()
}

/// What those say together that are about this folder first: one that is wrong there must not have the others be wrong. A plugin
/// prefix belongs to the first document that maps it, and hosted ones are first: Maven takes the first line of a prefix, so no later
/// member may have a line for it.
fn of_all(folder: &str, mut all: Vec<(bool, Metadata)>, guarded: &HashSet<String>) -> Metadata {
    all.sort_by_key(|(_, metadata)| !metadata.is_of(folder));
    let mut taken = HashSet::<String>::new();
    for hosted in [true, false] {
        for (_, metadata) in all.iter_mut().filter(|(one, _)| *one == hosted) {
            metadata
                .plugins
                .retain(|plugin| !taken.contains(&plugin.prefix) && (hosted || !guarded.contains(&plugin.artifact)));
            taken.extend(metadata.plugins.iter().map(|plugin| plugin.prefix.clone()));
        }
    }
    metadata::merge(all.iter().map(|(_, metadata)| metadata))
}
