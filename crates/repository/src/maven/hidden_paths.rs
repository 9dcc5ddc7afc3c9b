//! Upstream paths that a policy hides regardless of their age.

use crate::maven::layout::MavenPath;
use crate::policy::hidden::Hidden;
use crate::policy::package_version::{PackageVersion, Since};
use crate::policy::rules::Rules;
use format::maven::path::Kind;
use format::tree;

/// Why `file` is hidden regardless of its age.
pub(crate) fn hidden(file: &MavenPath<'_>, rules: &Rules) -> Option<Hidden> {
    let path = file.path();
    let named = |folder: &str| {
        // A folder with one part belongs to a group and not to an artifact.
        let (group, artifact) = folder.rsplit_once('/').unwrap_or((folder, ""));
        rules.private(&PackageVersion::maven(group, artifact, "", Since::Always))
    };
    if !path.is_ascii() {
        // Names in Maven's layout are ASCII. Some file systems treat other characters as equal.
        return rules.cannot_classify(path);
    }
    match file.kind() {
        Some(Kind::Artifact(_)) => rules.forbids(&file.named(Since::Always)?.upstream()),
        Some(Kind::Metadata(at)) if at.snapshot().is_some() => named(tree::folder(at.folder)),
        Some(Kind::Metadata(at)) => named(at.folder),
        Some(Kind::Catalog | Kind::Index) => rules.withholds(path),
        Some(Kind::Prefixes | Kind::Settings) => None,
        None => outside_the_layout(file, rules),
    }
}

/// Why upstreams are not asked for the content of a folder: it is that of a denied or private name, or below such a folder.
pub(crate) fn hidden_folder(folder: &str, rules: &Rules) -> Option<Hidden> {
    denied_folder(folder, rules).or_else(|| rules.private(&PackageVersion::maven(folder, "", "", Since::Always)))
}

/// Why a folder or one above it is denied, as that of an artifact or of a version.
fn denied_folder(folder: &str, rules: &Rules) -> Option<Hidden> {
    let folders = std::iter::successors(Some(folder), |path| Some(tree::folder(path)));
    folders.take_while(|path| !path.is_empty()).find_map(|folder| {
        let (above, name) = folder.rsplit_once('/')?;
        let version = || {
            let (group, artifact) = above.rsplit_once('/')?;
            rules.denies(&PackageVersion::maven(group, artifact, name, Since::Always))
        };
        rules.denies(&PackageVersion::maven(above, name, "", Since::Always)).or_else(version)
    })
}

/// The same for a path outside of the layout. It may be a folder, which the upstream lists, or an existing file. Such a
/// file counts as a part of the version in whose folder it is, and may be a part of a version whose folder is further
/// up.
fn outside_the_layout(file: &MavenPath<'_>, rules: &Rules) -> Option<Hidden> {
    let path = file.path();
    denied_folder(path, rules).or_else(|| match file.named(Since::Always) {
        Some(named) => rules.forbids(&named.upstream()),
        None => {
            rules.private(&PackageVersion::maven(path, "", "", Since::Always)).or_else(|| rules.cannot_classify(path))
        }
    })
}
