//! What no upstream is asked for, so that nobody there learns that somebody wants it: names that policy hides whatever their age,
//! and paths that the upstream may read as others than they are here.

use crate::error::Error;
use crate::format::Format;
use crate::policy::hidden::Hidden;
use crate::policy::named::{Named, Since};
use crate::repository::Repository;
use format::maven::path::{self, Kind};
use format::tree;

/// Why the upstream is not asked for `path`; `None`: it may be.
pub(crate) fn never_asked(repository: &Repository, path: &str) -> Option<Error> {
    // Without any policy, too: there may be others' folders beside the upstream's, and it is shown credentials.
    let elsewhere = tree::may_leave_its_folder(path);
    // No coordinates of Maven's are ambiguous, so there is nothing at such a path.
    if elsewhere || repository.format == Format::Maven && tree::is_ambiguous(path) {
        return Some(Error::NoSuchFile(path.to_owned()));
    }
    hidden(repository, path).map(Error::from)
}

/// Why nothing at `path` may be seen, whatever its age.
fn hidden(repository: &Repository, path: &str) -> Option<Hidden> {
    match repository.rules.format()? {
        Format::Maven => of_maven(repository, path),
        Format::Raw if tree::is_ambiguous(path) => repository.rules.cannot_classify(path),
        format @ (Format::Raw | Format::Gem) => {
            let file = Named::file(format, path, Since::Always)?.upstream();
            repository.rules.forbids(&file).or_else(|| {
                // A listing tells of everything in a folder.
                let folder = format!("{path}/");
                repository.rules.denies(&Named::file(format, &folder, Since::Always)?)
            })
        }
    }
}

fn of_maven(repository: &Repository, path: &str) -> Option<Hidden> {
    let rules = &repository.rules;
    let named = |folder: &str| {
        // A folder of one word is a group's, and no artifact's.
        rules.private(&Named::maven(folder.rsplit_once('/').unwrap_or((folder, "")), "", Since::Always))
    };
    if !path.is_ascii() {
        // Maven's own names are ASCII, and some file systems take other characters for one another.
        return rules.cannot_classify(path);
    }
    match path::read(path).map(|read| read.kind) {
        Some(Kind::Artifact(_)) => rules.forbids(&Named::file(Format::Maven, path, Since::Always)?.upstream()),
        Some(Kind::Metadata(at)) if at.snapshot().is_some() => named(tree::folder(at.folder)),
        Some(Kind::Metadata(at)) => named(at.folder),
        Some(Kind::Catalog | Kind::Index) => rules.withholds(path),
        Some(Kind::Prefixes | Kind::Settings) => None,
        None => outside_the_layout(repository, path),
    }
}

/// The same of a path that no file of the layout has. It may be a folder, of which the upstream gives a listing, or a file that is
/// there all the same. That is of the version in whose folder it is, but may be of one whose folder is further up.
fn outside_the_layout(repository: &Repository, path: &str) -> Option<Hidden> {
    let rules = &repository.rules;
    let folders =
        || std::iter::successors(Some(path), |path| Some(tree::folder(path))).take_while(|path| !path.is_empty());
    let denied = folders().find_map(|folder| {
        let (above, name) = folder.rsplit_once('/')?;
        let version = || {
            let (group, artifact) = above.rsplit_once('/')?;
            rules.denies(&Named::maven((group, artifact), name, Since::Always))
        };
        rules.denies(&Named::maven((above, name), "", Since::Always)).or_else(version)
    });
    denied.or_else(|| match Named::file(Format::Maven, path, Since::Always) {
        Some(file) => rules.forbids(&file.upstream()),
        None => rules.private(&Named::maven((path, ""), "", Since::Always)).or_else(|| rules.cannot_classify(path)),
    })
}
