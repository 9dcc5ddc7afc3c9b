//! One version of a package: the values of the API and of the page.

use crate::amount::amount;
use crate::package::{About, Snippet, VersionLine};
use crate::{Links, Moment, Shell};
use askama::Template;
use schemars::JsonSchema;
use serde::Serialize;

/// One version of a package.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "PackageVersion")]
pub struct Version {
    /// The repository as the URL names it, with the moment if it has one.
    pub repository: String,
    /// The name of the package.
    pub package: String,
    /// The format of the repository.
    pub format: &'static str,
    /// The line of the list of versions.
    #[serde(flatten)]
    pub line: VersionLine,
    /// The latest release that clients get; without one, the latest version.
    pub latest: Option<String>,
    /// The meaning of `latest`. `release`: the latest release. `version`: the latest version; there is no release. `newest_known`,
    /// `newest_cached`: the newest version that is known or cached here; an upstream may have newer ones.
    #[schemars(extend("enum" = ["release", "version", "newest_known", "newest_cached"]))]
    pub latest_is: &'static str,
    /// What it declares about itself; null: that is not known here, or clients do not get it.
    pub about: Option<About>,
    /// Its parent.
    pub parent: Option<Parent>,
    /// What it requires of the client.
    pub requires: Vec<Requires>,
    /// Null: they are not known here.
    pub dependencies: Option<Vec<Dependency>>,
    /// Its files that clients get.
    pub files: Vec<VersionFile>,
    /// Whether it has more files.
    pub more_files: bool,
    /// How clients use it.
    pub snippets: Vec<Snippet>,
}

/// The parent of a version.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Parent {
    /// The package.
    pub package: String,
    /// The version.
    pub version: String,
}

/// A requirement on the client.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Requires {
    /// The program.
    pub name: String,
    /// Its versions.
    pub versions: String,
}

/// A declared dependency.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Dependency {
    /// The package.
    pub package: String,
    /// Empty: a parent manages them.
    pub versions: String,
    /// The scope.
    pub scope: String,
    /// Whether it is optional.
    pub optional: bool,
    /// The classifier, if it has one.
    pub classifier: Option<String>,
}

/// A file of a version.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VersionFile {
    /// Its path below the repository.
    pub path: String,
    /// Null: it is not in the cache.
    pub size_bytes: Option<u64>,
    /// Its digests, hexadecimal; null: it is not in the cache.
    pub md5: Option<String>,
    /// SHA-1.
    pub sha1: Option<String>,
    /// Of a file that is not in the cache as its upstream states it.
    pub sha256: Option<String>,
    /// SHA-512.
    pub sha512: Option<String>,
    /// When it was published or cached.
    pub at: Option<Moment>,
}

/// A page about a version.
#[derive(Debug, Template)]
#[template(path = "version.html")]
pub struct VersionPage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The version.
    pub version: &'a Version,
    /// Whether packages of the format have a README.
    pub has_readmes: bool,
}

impl Version {
    /// The URL of its package.
    pub fn package_url(&self, links: &Links) -> String {
        links.package(&self.repository, &self.package)
    }

    /// The folder of its files.
    pub fn folder(&self) -> &str {
        let path = self.files.first().map(|file| file.path.as_str()).unwrap_or_default();
        path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The meaning of the latest version in words, at the begin of a sentence.
    pub fn latest_words(&self) -> &'static str {
        match self.latest_is {
            "newest_cached" => "The newest cached version is",
            "newest_known" => "The newest version known here is",
            "version" => "There is no release; the latest version is",
            _ => "The latest release is",
        }
    }

    /// The URL of its README.
    pub fn readme_url(&self, links: &Links) -> String {
        links.readme(&self.repository, &self.package, &self.line.version)
    }

    /// The URL of the difference to the latest version, if this is another one.
    pub fn difference_url(&self, links: &Links) -> Option<String> {
        let latest = self.latest.as_deref().filter(|latest| *latest != self.line.version)?;
        Some(links.difference(&self.repository, &self.package, &self.line.version, latest))
    }

    /// The URL of the latest version, if this is another one.
    pub fn latest_url(&self, links: &Links) -> Option<String> {
        let latest = self.latest.as_deref().filter(|latest| *latest != self.line.version)?;
        Some(links.version(&self.repository, &self.package, latest))
    }
}

impl VersionFile {
    /// The name without the folders.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The size in words.
    pub fn size(&self) -> String {
        self.size_bytes.map(amount).unwrap_or_default()
    }
}
