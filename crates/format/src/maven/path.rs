//! What a path below a Maven repository's root is: the layout, read.
//!
//! The layout is that of the resolver (`Maven2RepositoryLayoutFactory`): `G/A/V/A-V[-classifier][.extension]`, with the dots of
//! the group as slashes. The folder is the anchor; a name alone cannot be told apart, as all of its parts may have dashes.

use super::snapshot::{self, Build};
use crate::tree::{self, Checksum};

/// The name of metadata at every level.
pub const METADATA: &str = "maven-metadata.xml";

/// Where the beginnings of all paths are.
pub const PREFIXES: &str = ".meta/prefixes.txt";

/// The name of the settings of clients, at the root.
pub const SETTINGS: &str = "settings.xml";

/// A path, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path<'a> {
    /// The path of the file that is asked for, or that a checksum is asked of.
    pub file: &'a str,
    /// Which checksum of the file is asked for, if not the file.
    pub checksum: Option<Checksum>,
    /// What the file is.
    pub kind: Kind<'a>,
}

/// What a file of the layout is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind<'a> {
    /// A file of one version of an artifact: its package, its POM, their signatures.
    Artifact(Artifact<'a>),
    /// A document that says what there is.
    Metadata(Metadata<'a>),
    /// `archetype-catalog.xml`: the templates that projects can be made from.
    Catalog,
    /// `.meta/prefixes.txt`: which groups there can be.
    Prefixes,
    /// `settings.xml`, which is ours: what a client has to be told to use the repository.
    Settings,
    /// A file of the search index below `.index/`.
    Index,
}

/// A file of one version of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Artifact<'a> {
    /// The group, as the folders that it is: [`Artifact::group_id`] has it with dots.
    pub group: &'a str,
    /// The artifact's name.
    pub artifact: &'a str,
    /// The version, as the folder says it: `1.0-SNAPSHOT` for every build of that.
    pub version: &'a str,
    /// The version in the file's name: of a snapshot its own, with a time and a number, where it has one.
    pub file_version: &'a str,
    /// Which build of a snapshot it is, where the name says it.
    pub build: Option<Build<'a>>,
    /// What kind of by-product it is (`sources`, `javadoc`), if it is one.
    pub classifier: Option<&'a str>,
    /// The extension without its first dot: it may have dots, and be empty.
    pub extension: &'a str,
}

/// Where metadata is. A group and an artifact cannot be told apart by their folders: only what is in the document does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata<'a> {
    /// The folder, empty for the root.
    pub folder: &'a str,
}

/// Reads a path that [`tree::check`] lets through. `None`: the layout has no such file. No name in it has a character that makes a
/// path [ambiguous](tree::is_ambiguous): an upstream might have another artifact there than is read here.
pub fn read(path: &str) -> Option<Path<'_>> {
    if tree::is_ambiguous(path) {
        return None;
    }
    let (file, checksum) = match tree::checksum_of(path) {
        // Nobody has a checksum of a checksum.
        Some((file, _)) if tree::checksum_of(file).is_some() => return None,
        Some((file, checksum)) => (file, Some(checksum)),
        None => (path, None),
    };
    // What is left must be a name that a file can have.
    if file.ends_with(['.', ' ']) {
        return None;
    }
    let kind = match (tree::folder(file), name(file)) {
        ("", "archetype-catalog.xml") => Kind::Catalog,
        ("", SETTINGS) => Kind::Settings,
        (".meta", "prefixes.txt") => Kind::Prefixes,
        (".index", _) => Kind::Index,
        (folder, METADATA) => Kind::Metadata(Metadata { folder }),
        (folder, name) => Kind::Artifact(artifact(folder, name)?),
    };
    Some(Path { file, checksum, kind })
}

/// The group, as folders, the artifact and the version that a file is of; `None`: it is a document, or of no version. What is no
/// file of the layout, as upstreams have some all the same, is of the version whose folder it is in; an ambiguous path is of none.
pub fn version_of(path: &str) -> Option<(&str, &str, &str)> {
    match read(path).map(|read| read.kind) {
        Some(Kind::Artifact(Artifact { group, artifact, version, .. })) => Some((group, artifact, version)),
        Some(_) => None,
        None if tree::is_ambiguous(path) => None,
        None => {
            let (above, version) = tree::folder(path).rsplit_once('/')?;
            let (group, artifact) = above.rsplit_once('/')?;
            Some((group, artifact, version))
        }
    }
}

/// Whether this path will never have other bytes: files of releases and of single builds of snapshots, with what is beside them.
/// All else changes, or may.
pub fn lasting(path: &str) -> bool {
    match read(path).map(|path| path.kind) {
        Some(Kind::Artifact(artifact)) => !artifact.snapshot() || artifact.build.is_some(),
        _ => false,
    }
}

/// What a path is part of: its folder, the unit of revisions.
pub fn unit(path: &str) -> &str {
    tree::folder(path)
}

/// The path of the file that this path is a signature of.
pub fn signature_of(path: &str) -> Option<&str> {
    SIGNATURES.iter().find_map(|ending| path.strip_suffix(ending)).filter(|file| !name(file).is_empty())
}

/// Endings of signatures: of GnuPG, and of sigstore.
const SIGNATURES: [&str; 2] = [".asc", ".sigstore.json"];

/// Whether this is the version of a snapshot, as the resolver tells it (`DefaultArtifact`).
pub fn is_snapshot(version: &str) -> bool {
    version.ends_with("SNAPSHOT")
}

impl Artifact<'_> {
    /// The group with dots.
    pub fn group_id(&self) -> String {
        self.group.replace('/', ".")
    }

    /// Whether it is of a snapshot.
    pub fn snapshot(&self) -> bool {
        is_snapshot(self.version)
    }
}

impl<'a> Metadata<'a> {
    /// The group, as folders, if it is the metadata of a group: which plugins it has.
    pub fn group(self) -> &'a str {
        self.folder
    }

    /// The group, as folders, and the artifact, if it is the metadata of an artifact: which versions it has.
    pub fn artifact(self) -> Option<(&'a str, &'a str)> {
        self.folder.rsplit_once('/')
    }

    /// The group, as folders, the artifact and the version, if it is the metadata of a snapshot: which builds it has.
    pub fn snapshot(self) -> Option<(&'a str, &'a str, &'a str)> {
        let (folder, version) = self.folder.rsplit_once('/')?;
        let (group, artifact) = folder.rsplit_once('/')?;
        is_snapshot(version).then_some((group, artifact, version))
    }
}

fn name(path: &str) -> &str {
    &path[tree::folder_end(path).map_or(0, |end| end + 1)..]
}

fn artifact<'a>(folder: &'a str, name: &'a str) -> Option<Artifact<'a>> {
    let (above, version) = folder.rsplit_once('/')?;
    let (group, artifact) = above.rsplit_once('/')?;
    let versioned = |artifact: &str| name.strip_prefix(artifact)?.strip_prefix('-');
    let rest = versioned(artifact).or_else(|| versioned(without_scala(artifact)?))?;
    let (file_version, build, rest) = match rest.strip_prefix(version) {
        Some(after) if ends(after) => (version, None, after),
        _ => {
            let (build, after) = Build::leading(rest.strip_prefix(snapshot::number(version)?)?)?;
            (rest.strip_suffix(after)?, Some(build), ends(after).then_some(after)?)
        }
    };
    let (classifier, extension) = match rest.strip_prefix('-').map(split_extension) {
        Some(("", _)) => return None,
        Some((classifier, extension)) => (Some(classifier), extension),
        None => (None, rest.strip_prefix('.').unwrap_or_default()),
    };
    Some(Artifact { group, artifact, version, file_version, build, classifier, extension })
}

/// Whether a version may end where this follows.
fn ends(after: &str) -> bool {
    after.is_empty() || after.starts_with(['.', '-']) && after.len() > 1
}

/// Plugins of sbt before 1.9 say in the folder for which Scala and sbt they are, and not in the names of files:
/// `sbt-lamp_2.12_1.0/1.0/sbt-lamp-1.0.jar`.
fn without_scala(artifact: &str) -> Option<&str> {
    let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let (rest, sbt) = artifact.rsplit_once('_')?;
    let (name, scala) = rest.rsplit_once('_')?;
    (number(sbt) && number(scala)).then_some(name)
}

/// A classifier and the extension behind it. Both may have dots (`jdk1.5.jar`, `bin.tar.gz`): the extension begins at the last
/// dot, but for what is packed after `tar`, and for signatures.
fn split_extension(text: &str) -> (&str, &str) {
    let signed = SIGNATURES.iter().find_map(|ending| text.strip_suffix(ending)).unwrap_or(text);
    let dot = match signed.rsplit_once('.') {
        Some((before, _)) => before.strip_suffix(".tar").unwrap_or(before).len(),
        None => signed.len(),
    };
    let (classifier, extension) = text.split_at(dot);
    (classifier, extension.strip_prefix('.').unwrap_or(extension))
}

#[cfg(test)]
mod tests;
