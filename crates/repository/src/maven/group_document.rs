//! The documents that a group merges from those of its members: their paths, and how they are merged.

#[cfg(test)]
mod tests;

use crate::content::Content;
use crate::maven::layout::MavenPath;
use crate::maven::upstream::observed;
use crate::policy::package_version::{PackageVersion, Since};
use crate::tree::document::{Document, LeftOut, MemberDocument, MergedDocument};
use crate::upstream::first_seen::observation::Observation;
use bytes::Bytes;
use format::maven::catalog::Archetype;
use format::maven::metadata::Metadata;
use format::maven::path::Kind;
use format::maven::{LONGEST, catalog, metadata};
use std::collections::HashSet;
use std::fmt::Display;
use telemetry::{Millis, Reason};

/// A document that is merged from those of the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MavenDocument {
    /// `maven-metadata.xml`.
    Metadata,
    /// `archetype-catalog.xml`.
    Catalog,
}

/// The kind of document at a path, or of the document whose checksum the path is; `None`: the path is a file of one
/// member.
pub(crate) fn at(path: &MavenPath<'_>) -> Option<&'static dyn Document> {
    match path.kind()? {
        Kind::Metadata(_) => Some(&MavenDocument::Metadata),
        Kind::Catalog => Some(&MavenDocument::Catalog),
        Kind::Artifact(_) | Kind::Prefixes | Kind::Settings | Kind::Index => None,
    }
}

impl Document for MavenDocument {
    fn longest(&self) -> usize {
        match self {
            MavenDocument::Metadata => LONGEST,
            MavenDocument::Catalog => catalog::LONGEST,
        }
    }

    fn longest_together(&self) -> usize {
        match self {
            MavenDocument::Metadata => 2 * LONGEST,
            // Several large catalogs are improbable: the one of the central repository has most archetypes.
            MavenDocument::Catalog => catalog::LONGEST,
        }
    }

    fn check(&self, bytes: &[u8]) -> Result<(), String> {
        match self {
            MavenDocument::Metadata => Metadata::read(bytes).map(drop).map_err(|why| why.to_string()),
            MavenDocument::Catalog => Ok(()),
        }
    }

    fn observe(&self, folder: &str, bytes: &[u8], modified: Option<Millis>) -> Vec<Observation> {
        match self {
            // The document was readable when it arrived. If it is unreadable now, the next request for it reports that.
            MavenDocument::Metadata => Metadata::read(bytes)
                .map_or_else(|_| Vec::new(), |document| observed::of_document(folder, &document, modified)),
            MavenDocument::Catalog => Vec::new(),
        }
    }

    fn package<'a>(&self, folder: &'a str, below: &'a str) -> PackageVersion<'a> {
        let (group, artifact) = match self {
            MavenDocument::Metadata => (folder, below),
            MavenDocument::Catalog => below.rsplit_once('/').unwrap_or(("", below)),
        };
        PackageVersion::maven(group, artifact, "", Since::Always)
    }

    fn is_rendered(&self) -> bool {
        matches!(self, MavenDocument::Catalog)
    }

    fn listed(&self, parts: &[MemberDocument]) -> HashSet<String> {
        let mut room = self.longest_together();
        let readable = parts.iter().filter_map(|part| Some((part.hosted, bytes(&part.content, &mut room)?)));
        let read = readable.filter(|(hosted, _)| !hosted).filter_map(|(_, bytes)| catalog::read(&bytes).ok());
        read.flatten().map(|archetype| archetype.folder()).collect()
    }

    fn merge(&self, folder: &str, parts: &[MemberDocument], guarded: &HashSet<String>) -> Option<MergedDocument> {
        let most = self.longest_together();
        let mut room = most;
        let (mut read, mut left_out) = (Vec::new(), Vec::new());
        for MemberDocument { member, hosted, content } in parts {
            match bytes(content, &mut room) {
                Some(bytes) => read.push(Part { member, hosted: *hosted, bytes }),
                None => left_out.push(whole(
                    member,
                    Reason::TooLarge,
                    format!("all documents together exceed {most} bytes"),
                )),
            }
        }
        let text = match self {
            MavenDocument::Metadata => {
                let all = each(read, &mut left_out, |bytes| Metadata::read(bytes).map_err(|why| why.to_string()));
                (!all.is_empty()).then(|| of_all(folder, all, guarded, &mut left_out).render())
            }
            MavenDocument::Catalog => {
                let all = each(read, &mut left_out, |bytes| catalog::read(bytes).map_err(|why| why.to_string()));
                let open = |hosted: bool, archetype: &Archetype| hosted || !guarded.contains(&archetype.folder());
                let archetypes = |ReadPart { hosted, read, .. }: ReadPart<'_, Vec<Archetype>>| {
                    read.into_iter().filter(move |archetype| open(hosted, archetype))
                };
                Some(catalog::render(all.into_iter().flat_map(archetypes).collect()))
            }
        };
        text.map(|text| MergedDocument { bytes: text.into(), left_out })
    }
}

/// A document that is left out as a whole.
fn whole(member: &str, reason: Reason, why: impl Display) -> LeftOut {
    LeftOut { member: member.to_owned(), reason, text: format!("its document is left out: {why}") }
}

/// The document of a member, as bytes.
struct Part<'a> {
    member: &'a str,
    hosted: bool,
    bytes: Bytes,
}

/// The parsed document of a member.
struct ReadPart<'a, T> {
    member: &'a str,
    hosted: bool,
    read: T,
}

/// Parses all readable documents, and adds the others to `left_out`.
fn each<'a, T>(
    all: Vec<Part<'a>>,
    left_out: &mut Vec<LeftOut>,
    read: impl Fn(&[u8]) -> Result<T, String>,
) -> Vec<ReadPart<'a, T>> {
    let mut found = Vec::new();
    // One after the other, because a parsed document is many times larger than its text.
    for Part { member, hosted, bytes } in all {
        match read(&bytes) {
            Ok(read) => found.push(ReadPart { member, hosted, read }),
            Err(why) => left_out.push(whole(member, Reason::UpstreamInvalid, format!("it cannot be read: {why}"))),
        }
    }
    found
}

/// The bytes of a part, if they fit into the remaining budget.
fn bytes(content: &Content, room: &mut usize) -> Option<Bytes> {
    let len = usize::try_from(content.hashes.as_ref()?.size_bytes).ok()?;
    *room = room.checked_sub(len)?;
    content.bytes()
}

/// Merges documents; those about this folder come first, so that a wrong one does not spoil the others. A plugin prefix
/// belongs to the first document that maps it, and hosted ones come first. Maven takes the first line of a prefix, so
/// lines of later members are left out.
fn of_all(
    folder: &str,
    mut all: Vec<ReadPart<'_, Metadata>>,
    guarded: &HashSet<String>,
    left_out: &mut Vec<LeftOut>,
) -> Metadata {
    all.sort_by_key(|part| !part.read.is_of(folder));
    let right = all.partition_point(|part| part.read.is_of(folder));
    if right > 0 {
        for part in &all[right..] {
            let named = [&part.read.group, &part.read.artifact].map(|name| name.as_deref().unwrap_or_default());
            let why = format!("it is about `{}`, and not about this folder", named.join(":"));
            left_out.push(whole(part.member, Reason::UpstreamInvalid, why));
        }
    }
    for part in all.iter().filter(|part| part.read.undeclared) {
        let text = "entries of its document are left out: only a DTD, which is not read, declares their entities";
        let (member, reason) = (part.member.to_owned(), Reason::UpstreamInvalid);
        left_out.push(LeftOut { member, reason, text: text.to_owned() });
    }
    let mut taken = HashSet::<String>::new();
    for hosted in [true, false] {
        for part in all.iter_mut().filter(|part| part.hosted == hosted) {
            let plugins = &mut part.read.plugins;
            plugins.retain(|plugin| !taken.contains(&plugin.prefix) && (hosted || !guarded.contains(&plugin.artifact)));
            taken.extend(plugins.iter().map(|plugin| plugin.prefix.clone()));
        }
    }
    metadata::merge(all.iter().map(|part| &part.read))
}
