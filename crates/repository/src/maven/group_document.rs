//! The documents that a group merges from those of its members: their paths, and how they are merged.

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

/// Maximum size of all parts of one merged document, in bytes: twice the maximum of one part.
const READ_MAX: usize = 2 * LONGEST;

/// A document that is merged from those of the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MavenDocument {
    /// `maven-metadata.xml`.
    Metadata,
    /// `archetype-catalog.xml`, merged from hosted members only. A public one has many megabytes, and clients have it
    /// built in.
    Catalog,
    /// `.meta/prefixes.txt`, only if all members are hosted. A client with an incomplete list refuses files that exist.
    Prefixes,
}

/// The kind of document at a path, or of the document whose checksum the path is; `None`: the path is a file of one
/// member.
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
            // The document was readable when it arrived. If it is unreadable now, the next request for it reports that.
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
        let (mut read, mut left_out) = (Vec::new(), Vec::new());
        for MemberDocument { member, hosted, content } in parts {
            match bytes(content, &mut room) {
                Some(bytes) => read.push(Part { member, hosted: *hosted, bytes }),
                None => left_out.push((member.clone(), format!("all documents together exceed {READ_MAX} bytes"))),
            }
        }
        let mut lacks = !left_out.is_empty();
        let text = match self {
            MavenDocument::Metadata => {
                let all = each(read, &mut left_out, |bytes| Metadata::read(bytes).map_err(|why| why.to_string()));
                lacks |= !left_out.is_empty();
                (!all.is_empty()).then(|| of_all(folder, all, guarded, &mut left_out).render())
            }
            MavenDocument::Catalog => {
                let all = each(read, &mut left_out, |bytes| catalog::read(bytes).map_err(|why| why.to_string()));
                lacks |= !left_out.is_empty();
                (!all.is_empty()).then(|| catalog::render(all.into_iter().flat_map(|one| one.read).collect()))
            }
            MavenDocument::Prefixes => {
                let prefixes =
                    |bytes: &[u8]| Prefixes::read(bytes).ok_or_else(|| "it is no list of prefixes".to_owned());
                let all = each(read, &mut left_out, prefixes).into_iter().map(|one| one.read);
                lacks |= !left_out.is_empty();
                let all = all.reduce(|all, one| all.or(&one));
                all.filter(|_| !lacks).map(|all| all.render())
            }
        };
        text.map(|text| MergedDocument { bytes: text.into(), lacks, left_out })
    }
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
    left_out: &mut Vec<(String, String)>,
    read: impl Fn(&[u8]) -> Result<T, String>,
) -> Vec<ReadPart<'a, T>> {
    let mut found = Vec::new();
    // One after the other, because a parsed document is many times larger than its text.
    for Part { member, hosted, bytes } in all {
        match read(&bytes) {
            Ok(read) => found.push(ReadPart { member, hosted, read }),
            Err(why) => left_out.push((member.to_owned(), format!("it cannot be read: {why}"))),
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
    left_out: &mut Vec<(String, String)>,
) -> Metadata {
    all.sort_by_key(|part| !part.read.is_of(folder));
    let right = all.partition_point(|part| part.read.is_of(folder));
    if right > 0 {
        for part in &all[right..] {
            let named = [&part.read.group, &part.read.artifact].map(|name| name.as_deref().unwrap_or_default());
            left_out.push((
                part.member.to_owned(),
                format!("it is about `{}`, and not about this folder", named.join(":")),
            ));
        }
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
