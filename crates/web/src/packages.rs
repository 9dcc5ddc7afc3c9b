//! Lists of packages: of a repository, and of the dependents of a package.

use crate::package::latest_words;
use crate::version::Dependency;
use crate::{Links, Shell};
use askama::Template;
use schemars::JsonSchema;
use serde::Serialize;

/// The packages of a repository, in the order of their names; Maven's in the order of their folders.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Packages {
    /// The repository as the URL names it, with the moment if it has one.
    pub repository: String,
    /// The format of the repository.
    pub format: &'static str,
    /// The packages of this part of the list.
    pub packages: Vec<ListedPackage>,
    /// What to give as `after` for the next part, which may be empty; null: this was the last.
    pub next: Option<String>,
}

/// A package in a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListedPackage {
    /// The name of a gem, or `GROUP:ARTIFACT`.
    pub package: String,
    /// The latest release that clients get; without one, the latest version.
    pub latest: Option<String>,
    /// The meaning of `latest`. `release`: the latest release. `version`: the latest version; there is no release. `newest_known`,
    /// `newest_cached`: the newest version that is known or cached here; an upstream may have newer ones.
    #[schemars(extend("enum" = ["release", "version", "newest_known", "newest_cached"]))]
    pub latest_is: &'static str,
    /// How many versions clients get.
    pub visible: Option<usize>,
    /// How many versions a policy hides.
    pub hidden: usize,
}

/// The packages whose latest version depends on a package. A part of the list examines a limited number of packages.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Dependents {
    /// The repository as the URL names it, with the moment if it has one.
    pub repository: String,
    /// The package on which they depend.
    pub package: String,
    /// The packages whose latest version depends on it.
    pub dependents: Vec<Dependent>,
    /// How many packages were examined for this part.
    pub examined: usize,
    /// How many of these have dependencies that are not known here.
    pub unknown: usize,
    /// What to give as `after` for the next part, which may be empty; null: this was the last.
    pub next: Option<String>,
}

/// A package that depends on another.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Dependent {
    /// Its name.
    pub package: String,
    /// Its latest version that clients get.
    pub version: String,
    /// The dependency that this version declares.
    pub dependency: Dependency,
}

/// The page with the packages of a repository.
#[derive(Debug, Template)]
#[template(path = "packages.html")]
pub struct PackagesPage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The packages.
    pub list: &'a Packages,
}

/// The page with the dependents of a package.
#[derive(Debug, Template)]
#[template(path = "dependents.html")]
pub struct DependentsPage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The dependents.
    pub list: &'a Dependents,
}

impl ListedPackage {
    /// The meaning of its latest version in words, where it is not the latest release.
    pub fn latest_words(&self) -> Option<&'static str> {
        (self.latest_is != "release").then(|| latest_words(self.latest_is))
    }
}

impl Packages {
    /// The URL of the next part of the list.
    pub fn next_url(&self, links: &Links) -> Option<String> {
        self.next.as_ref().map(|next| links.packages_after(&self.repository, next))
    }
}

impl Dependents {
    /// The URL of the next part of the list.
    pub fn next_url(&self, links: &Links) -> Option<String> {
        self.next.as_ref().map(|next| links.dependents_after(&self.repository, &self.package, next))
    }
}
