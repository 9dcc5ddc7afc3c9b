//! The names that keep a Maven path from upstreams: the artifacts (`G:A`) that the path may belong to, whatever its
//! version.

use crate::maven::layout::MavenPath;
use crate::policy::package_version::{PackageVersion, Since};
use format::maven::path::Kind;
use format::tree;

/// The folders of all artifacts that a path may belong to, usually one. The folder of a group may be that of an
/// artifact as well, and a path outside of the layout may belong to several.
pub(crate) fn artifact_folders<'a>(path: &MavenPath<'a>) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
    let folder = tree::folder(path.path());
    let above = tree::folder(folder);
    let kind = path.kind();
    let (first, odd) = match kind {
        Some(Kind::Artifact(_)) => (above, false),
        Some(Kind::Metadata(at)) if at.snapshot().is_some() => (above, false),
        // The layout has metadata of a version only for snapshots.
        Some(Kind::Metadata(_)) => (folder, name(folder).starts_with(|first: char| first.is_ascii_digit())),
        Some(Kind::Catalog | Kind::Prefixes | Kind::Settings | Kind::Index) => ("", false),
        // The layout has no such file. An upstream may have it all the same, or a listing if it is a folder.
        None => (above, true),
    };
    let from = if kind.is_some() { folder } else { path.path() };
    let others = std::iter::successors(odd.then_some(from), |folder| Some(tree::folder(folder)));
    let others = others.take_while(|folder| !folder.is_empty()).filter(move |folder| *folder != first);
    Some(first).filter(|first| !first.is_empty()).into_iter().chain(others)
}

/// The artifact in a folder, in the syntax of policies. A folder at the root belongs to no artifact.
pub(crate) fn named(folder: &str) -> Option<PackageVersion<'_>> {
    let (group, artifact) = folder.rsplit_once('/')?;
    Some(PackageVersion::maven(group, artifact, "", Since::Always))
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
