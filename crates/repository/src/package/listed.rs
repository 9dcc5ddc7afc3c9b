//! Lists of packages.

use crate::package::details::DeclaredDependency;
use crate::package::rows::Latest;
use crate::repository::Repository;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::RepositoryId;

/// Packages that are described before other requests of the event loop go first.
pub(crate) const AT_ONCE: usize = 16;

/// The members of a group that may have a package. The others need not be asked, which matters for a list of a group with many members.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Among<'a> {
    /// Any of them.
    All,
    /// Only these.
    These(&'a [RepositoryId]),
}

impl Among<'_> {
    /// Whether this member may have the package.
    pub(crate) fn may_be(self, member: &Arc<Repository>) -> bool {
        match self {
            Among::All => true,
            Among::These(ids) => ids.contains(&member.id),
        }
    }
}

/// Names of packages, each with the members that have or had it.
#[derive(Debug, Default)]
pub(crate) struct ListedNames {
    pub(crate) names: Vec<(String, Vec<RepositoryId>)>,
    /// The name after which there are more; `None`: these are the last.
    pub(crate) next: Option<String>,
}

impl ListedNames {
    /// The first names, at most `limit`. `is_cut`: a member may have more than were read.
    pub(crate) fn first(names: BTreeMap<String, Vec<RepositoryId>>, limit: usize, is_cut: bool) -> Self {
        let is_cut = is_cut || names.len() > limit;
        let names: Vec<_> = names.into_iter().take(limit).collect();
        let next = names.last().filter(|_| is_cut).map(|(name, _)| name.clone());
        Self { names, next }
    }
}

/// A package in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPackage {
    /// Its name.
    pub package: String,
    /// The latest release that clients get; without one, the latest version. `None`: they get none, or it is not known here.
    pub latest: Option<String>,
    /// The meaning of `latest`.
    pub latest_is: Latest,
    /// The number of its versions that clients get, if it is known here.
    pub visible: Option<usize>,
    /// The number of its versions that a policy hides.
    pub hidden: usize,
}

/// A package whose latest version depends on another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependent {
    /// Its name.
    pub package: String,
    /// Its latest version that clients get.
    pub version: String,
    /// What that version declares.
    pub dependency: DeclaredDependency,
}

/// A part of a search for dependents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependents {
    /// The dependents, in the order of the packages.
    pub rows: Vec<Dependent>,
    /// The number of packages that were examined.
    pub examined: usize,
    /// How many of these declare dependencies that are not known here.
    pub unknown: usize,
    /// The last package that was examined; `None`: all were.
    pub next: Option<String>,
}
