//! Paths of upstreams that policy hides whatever their age.

use crate::maven::layout::MavenPath;
use crate::policy::hidden::Hidden;
use crate::policy::package_version::{PackageVersion, Since};
use crate::policy::rules::Rules;
use format::maven::path::Kind;
use format::tree;

/// Why nothing at `file` may be seen, whatever its age.
pub(crate) fn hidden(file: &MavenPath<'_>, rules: &Rules) -> Option<Hidden> {
    let path = file.path();
    let named = |folder: &str| {
        // A folder of one word is a group's, and no artifact's.
        let (group, artifact) = folder.rsplit_once('/').unwrap_or((folder, ""));
        rules.private(&PackageVersion::maven(group, artifact, "", Since::Always))
    };
    if !path.is_ascii() {
        // Maven's own names are ASCII, and some file systems take other characters for one another.
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

/// The same of a path that no file of the layout has. It may be a folder, of which the upstream gives a listing, or a file that is
/// there all the same. That is of the version in whose folder it is, but may be of one whose folder is further up.
fn outside_the_layout(file: &MavenPath<'_>, rules: &Rules) -> Option<Hidden> {
    let path = file.path();
    let folders =
        || std::iter::successors(Some(path), |path| Some(tree::folder(path))).take_while(|path| !path.is_empty());
    let denied = folders().find_map(|folder| {
        let (above, name) = folder.rsplit_once('/')?;
        let version = || {
            let (group, artifact) = above.rsplit_once('/')?;
            rules.denies(&PackageVersion::maven(group, artifact, name, Since::Always))
        };
        rules.denies(&PackageVersion::maven(above, name, "", Since::Always)).or_else(version)
    });
    denied.or_else(|| match file.named(Since::Always) {
        Some(named) => rules.forbids(&named.upstream()),
        None => {
            rules.private(&PackageVersion::maven(path, "", "", Since::Always)).or_else(|| rules.cannot_classify(path))
        }
    })
}
