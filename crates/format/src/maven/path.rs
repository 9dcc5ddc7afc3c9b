//! Reads paths below the root of a Maven repository.
//!
//! The layout is that of the resolver (`Maven2RepositoryLayoutFactory`): `G/A/V/A-V[-classifier][.extension]`, with
//! slashes for the dots of the group. The folder determines artifact and version. A file name alone is ambiguous,
//! because all of its parts may contain dashes.

use super::snapshot::{self, Build};
use crate::tree::{self, Checksum};

/// The name of metadata at every level.
pub const METADATA: &str = "maven-metadata.xml";

/// The path of the list of path prefixes.
pub const PREFIXES: &str = ".meta/prefixes.txt";

/// The path of the properties of the search index: its date, and its increments. Clients read them first, and then
/// [`INDEX`] or an increment (`IndexUpdater` of Maven's indexer).
pub const INDEX_PROPERTIES: &str = ".index/nexus-maven-repository-index.properties";

/// The path of the whole search index.
pub const INDEX: &str = ".index/nexus-maven-repository-index.gz";

/// The path of the client settings.
pub const SETTINGS: &str = "settings.xml";

/// A parsed path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path<'a> {
    /// The path of the requested file, or of the file whose checksum is requested.
    pub file: &'a str,
    /// The checksum that is requested, if the request is not for the file itself.
    pub checksum: Option<Checksum>,
    /// The kind of the file.
    pub kind: Kind<'a>,
}

/// The kind of a file of the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind<'a> {
    /// A file of one version of an artifact: its package, its POM, their signatures.
    Artifact(Artifact<'a>),
    /// A listing.
    Metadata(Metadata<'a>),
    /// `archetype-catalog.xml`: the archetypes of the repository.
    Catalog,
    /// `.meta/prefixes.txt`: the path prefixes of the repository.
    Prefixes,
    /// `settings.xml`: client settings for this repository. Only Daylight has this file.
    Settings,
    /// A file of the search index below `.index/`.
    Index,
}

/// A file of one version of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Artifact<'a> {
    /// The group as folders: [`Artifact::group_id`] has it with dots.
    pub group: &'a str,
    /// The artifact's name.
    pub artifact: &'a str,
    /// The version in the folder's name: `1.0-SNAPSHOT` for all builds of that snapshot.
    pub version: &'a str,
    /// The version in the file's name: for a snapshot with builds it has a time and a number.
    pub file_version: &'a str,
    /// The build of a snapshot, if it is in the name.
    pub build: Option<Build<'a>>,
    /// The classifier (`sources`, `javadoc`), if there is one.
    pub classifier: Option<&'a str>,
    /// The extension without its first dot. It may contain dots, and may be empty.
    pub extension: &'a str,
}

/// The folder of metadata. The folders of a group and of an artifact look the same; only the content of the document
/// tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata<'a> {
    /// The folder, empty for the root.
    pub folder: &'a str,
}

/// Parses a path that [`tree::check`] allows. `None`: the layout has no such file. Names with a character that makes a
/// path [ambiguous](tree::is_ambiguous) are refused, because an upstream could read them as another artifact.
pub fn read(path: &str) -> Option<Path<'_>> {
    if tree::is_ambiguous(path) {
        return None;
    }
    let (file, checksum) = match tree::checksum_of(path) {
        // There are no checksums of checksums.
        Some((file, _)) if tree::checksum_of(file).is_some() => return None,
        Some((file, checksum)) => (file, Some(checksum)),
        None => (path, None),
    };
    // The rest must be a valid file name.
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

/// The group (as folders), the artifact and the version of a file; `None` for a document, or a file without a version.
pub fn version_of(path: &str) -> Option<(&str, &str, &str)> {
    version(path, read(path).map(|read| read.kind))
}

/// The same for a parsed path. A file outside of the layout (`kind` is `None`), as some upstreams have, belongs to the
/// version of its folder. An ambiguous path belongs to none.
pub fn version<'a>(path: &'a str, kind: Option<Kind<'a>>) -> Option<(&'a str, &'a str, &'a str)> {
    match kind {
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

/// Whether the content at this path never changes: files of releases and of single builds of snapshots, with their
/// checksums and signatures. All other content may change.
pub fn lasting(path: &str) -> bool {
    match read(path).map(|path| path.kind) {
        Some(Kind::Artifact(artifact)) => !artifact.snapshot() || artifact.build.is_some(),
        _ => false,
    }
}

/// The folder of a path, which is its unit of revisions.
pub fn unit(path: &str) -> &str {
    tree::folder(path)
}

/// The path of the file that this path is the signature of.
pub fn signature_of(path: &str) -> Option<&str> {
    SIGNATURES.iter().find_map(|ending| path.strip_suffix(ending)).filter(|file| !name(file).is_empty())
}

/// The endings of signatures: GnuPG and sigstore.
const SIGNATURES: [&str; 2] = [".asc", ".sigstore.json"];

/// Whether a version is that of a snapshot, by the rule of the resolver (`DefaultArtifact`).
pub fn is_snapshot(version: &str) -> bool {
    version.ends_with("SNAPSHOT")
}

impl Artifact<'_> {
    /// The group with dots.
    pub fn group_id(&self) -> String {
        self.group.replace('/', ".")
    }

    /// Whether it belongs to a snapshot.
    pub fn snapshot(&self) -> bool {
        is_snapshot(self.version)
    }
}

impl<'a> Metadata<'a> {
    /// The group as folders, if this is the metadata of a group, which lists its plugins.
    pub fn group(self) -> &'a str {
        self.folder
    }

    /// The group as folders, and the artifact, if this is the metadata of an artifact, which lists its versions.
    pub fn artifact(self) -> Option<(&'a str, &'a str)> {
        self.folder.rsplit_once('/')
    }

    /// The group as folders, the artifact and the version, if this is the metadata of a snapshot, which lists its
    /// builds.
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

/// Whether a version may end before this text.
fn ends(after: &str) -> bool {
    after.is_empty() || after.starts_with(['.', '-']) && after.len() > 1
}

/// sbt plugins before 1.9 name their Scala and sbt versions in the folder, but not in file names:
/// `sbt-lamp_2.12_1.0/1.0/sbt-lamp-1.0.jar`.
fn without_scala(artifact: &str) -> Option<&str> {
    let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let (rest, sbt) = artifact.rsplit_once('_')?;
    let (name, scala) = rest.rsplit_once('_')?;
    (number(sbt) && number(scala)).then_some(name)
}

/// Splits a classifier from the extension after it. Both may contain dots (`jdk1.5.jar`, `bin.tar.gz`). The extension
/// starts at the last dot, except for compressed `tar` files and for signatures.
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
