//! Documents that a group makes of those of its members: which paths have them, and one out of several.

#[cfg(test)]
mod tests;

use crate::content::Content;
use crate::format::Format;
use bytes::Bytes;
use format::maven::metadata::Metadata;
use format::maven::path::{self, Kind};
use format::maven::prefixes::Prefixes;
use format::maven::{LONGEST, catalog, metadata};
use format::tree::{self, Checksum};
use std::collections::HashSet;

/// Most bytes of documents that are made one of at a time, by all who ask together.
pub(crate) const MERGING: u64 = 4 * READ_MAX as u64;
/// Most bytes that are read for one document, whoever has them: twice what one may have.
pub(crate) const READ_MAX: usize = 2 * LONGEST;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DocumentRequest<'a> {
    /// Where the document is.
    pub(crate) path: &'a str,
    /// Which checksum of it is asked for, if not the document.
    pub(crate) checksum: Option<Checksum>,
    pub(crate) document: Document,
}

/// A document that is made of those of the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Document {
    /// `maven-metadata.xml`.
    Metadata,
    /// `archetype-catalog.xml`: of what is hosted. A public one has many megabytes, and clients know it anyway.
    Catalog,
    /// `.meta/prefixes.txt`: only where all is hosted. Who was told too few beginnings refuses what is there.
    Prefixes,
}

/// What a member says.
#[derive(Debug)]
pub(crate) struct MemberDocument {
    pub(crate) hosted: bool,
    pub(crate) content: Content,
}

/// What all say together.
#[derive(Debug)]
pub(crate) struct MergedDocument {
    pub(crate) bytes: Bytes,
    /// Whether something could not be read, and is not in it.
    pub(crate) lacks: bool,
}

impl<'a> DocumentRequest<'a> {
    /// What is asked for at `path`; `None`: a file that one member has.
    pub(crate) fn read(format: Format, path: &'a str) -> Option<Self> {
        let read = path::read(path).filter(|_| format == Format::Maven)?;
        let document = match read.kind {
            Kind::Metadata(_) => Document::Metadata,
            Kind::Catalog => Document::Catalog,
            Kind::Prefixes => Document::Prefixes,
            Kind::Artifact(_) | Kind::Settings | Kind::Index => return None,
        };
        Some(Self { path: read.file, checksum: read.checksum, document })
    }
}

/// One document of several, which are in the members' order with hosted ones first, and of which plugins that are `ours` are
/// nobody else's; `None` where nothing can be made of them.
pub(crate) fn merge(
    (document, path): (Document, &str),
    parts: &[MemberDocument],
    ours: &HashSet<String>,
) -> Option<MergedDocument> {
    let mut room = READ_MAX;
    let (mut read, mut lacks) = (Vec::new(), false);
    for part in parts {
        match bytes(&part.content, &mut room) {
            Some(bytes) => read.push((part.hosted, bytes)),
            None => lacks = true,
        }
    }
    let text = match document {
        Document::Metadata => {
            let parsed = |(hosted, bytes): (bool, Bytes)| Some((hosted, Metadata::read(&bytes).ok()?));
            let all = each(read, &mut lacks, parsed);
            (!all.is_empty()).then(|| of_all(tree::folder(path), all, ours).render())
        }
        Document::Catalog => {
            let all = each(read, &mut lacks, |(_, bytes)| catalog::read(&bytes).ok());
            (!all.is_empty()).then(|| catalog::render(all.into_iter().flatten().collect()))
        }
        Document::Prefixes => {
            let all = each(read, &mut lacks, |(_, bytes)| Prefixes::read(&bytes));
            let all = all.into_iter().reduce(|all, one| all.or(&one));
            all.filter(|_| !lacks).map(|all| all.render())
        }
    };
    text.map(|text| MergedDocument { bytes: text.into(), lacks })
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
fn of_all(folder: &str, mut all: Vec<(bool, Metadata)>, ours: &HashSet<String>) -> Metadata {
    all.sort_by_key(|(_, metadata)| !metadata.is_of(folder));
    let mut taken = HashSet::<String>::new();
    for hosted in [true, false] {
        for (_, metadata) in all.iter_mut().filter(|(one, _)| *one == hosted) {
            metadata
                .plugins
                .retain(|plugin| !taken.contains(&plugin.prefix) && (hosted || !ours.contains(&plugin.artifact)));
            taken.extend(metadata.plugins.iter().map(|plugin| plugin.prefix.clone()));
        }
    }
    metadata::merge(all.iter().map(|(_, metadata)| metadata))
}
