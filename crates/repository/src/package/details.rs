//! What a version contains and declares.

use crate::package::rows::VersionRow;
use store::Hashes;
use telemetry::Millis;

/// One version with its content and declarations.
#[derive(Debug, Clone)]
pub struct VersionDetails {
    /// The version.
    pub row: VersionRow,
    /// Its files that clients get.
    pub files: Vec<VersionFile>,
    /// Whether there are more files.
    pub more_files: bool,
    /// What it declares. `None`: that is not known here, or clients do not get it.
    pub declared: Option<DeclaredFacts>,
}

/// A file of a version.
#[derive(Debug, Clone)]
pub struct VersionFile {
    /// Its path below the repository.
    pub path: String,
    /// The digests and the size; `None`: it is not in the cache.
    pub hashes: Option<Hashes>,
    /// When it was published or cached.
    pub at: Option<Millis>,
}

/// The files in which versions are compared: of a gem those inside it, of an artifact its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComparedFiles {
    /// The files by name, which is the same in other versions.
    pub files: Vec<ComparedFile>,
    /// Whether there are more.
    pub is_cut: bool,
}

/// A file in which versions are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedFile {
    /// Its name, which is the same in other versions.
    pub name: String,
    /// Its size.
    pub size_bytes: u64,
    /// Its digest, hexadecimal.
    pub sha256: String,
}

/// What a version declares about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeclaredFacts {
    /// The display name or the summary.
    pub summary: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The home page, as declared: it can be any text.
    pub homepage: Option<String>,
    /// Other pages about it, as declared.
    pub links: Vec<(LinkKind, String)>,
    /// The names of licences.
    pub licenses: Vec<String>,
    /// The authors.
    pub authors: Vec<String>,
    /// The packaging, in formats that have one.
    pub packaging: Option<String>,
    /// The parent: a package and its version.
    pub parent: Option<(String, String)>,
    /// Requirements on the client: the version of Ruby.
    pub requires: Vec<(String, String)>,
    /// Its dependencies, in order.
    pub dependencies: Vec<DeclaredDependency>,
}

/// The content of a page that a package links to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// What changed in each version.
    Changelog,
    /// The source code.
    Source,
    /// The documentation.
    Documentation,
    /// Bugs and other issues.
    Bugs,
}

/// A declared dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredDependency {
    /// The package.
    pub package: String,
    /// The versions: a requirement. Empty: it is managed elsewhere.
    pub versions: String,
    /// The scope: `runtime`, `development`, `compile`, `test`.
    pub scope: String,
    /// Whether it is optional.
    pub optional: bool,
    /// The classifier, if it has one.
    pub classifier: Option<String>,
}
