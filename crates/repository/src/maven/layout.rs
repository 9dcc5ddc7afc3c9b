//! A path of a Maven repository, read once by the rules of the layout.

use crate::upstream::first_seen::age_key::VersionPath;
use format::maven::path::{self, Artifact, Kind, Metadata, Path};
use format::tree::{self, Checksum};

/// A path and its reading by the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MavenPath<'a> {
    path: &'a str,
    /// `None`: the layout has no such file. An upstream may have it all the same.
    read: Option<Path<'a>>,
}

impl<'a> MavenPath<'a> {
    /// Reads a path.
    pub(crate) fn read(path: &'a str) -> Self {
        Self { path, read: path::read(path) }
    }

    /// The path.
    pub(crate) fn path(&self) -> &'a str {
        self.path
    }

    /// The kind of the file, or of the file whose checksum this is.
    pub(crate) fn kind(&self) -> Option<Kind<'a>> {
        self.read.map(|read| read.kind)
    }

    /// The file whose checksum this is, and the algorithm.
    pub(crate) fn checksum(&self) -> Option<(Self, Checksum)> {
        let read = self.read?;
        let checksum = read.checksum?;
        Some((Self { path: read.file, read: Some(Path { checksum: None, ..read }) }, checksum))
    }

    /// The artifact that the file belongs to; `None`: the file is a checksum or a document.
    pub(crate) fn artifact(&self) -> Option<Artifact<'a>> {
        match self.read?.kind {
            Kind::Artifact(artifact) => Some(artifact).filter(|_| !self.is_checksum()),
            _ => None,
        }
    }

    /// The artifact whose POM the file is.
    pub(crate) fn pom(&self) -> Option<Artifact<'a>> {
        self.artifact().filter(|artifact| artifact.classifier.is_none() && artifact.extension == "pom")
    }

    /// The metadata, or the metadata whose checksum this is.
    pub(crate) fn metadata(&self) -> Option<Metadata<'a>> {
        match self.kind()? {
            Kind::Metadata(at) => Some(at),
            _ => None,
        }
    }

    /// Whether it is the checksum of a file of the layout.
    pub(crate) fn is_checksum(&self) -> bool {
        self.read.is_some_and(|read| read.checksum.is_some())
    }

    /// Whether a hosted repository generates the file from others; `None`: the layout has no such file.
    pub(crate) fn is_generated(&self) -> Option<bool> {
        match self.kind()? {
            Kind::Artifact(_) => Some(false),
            Kind::Metadata(_) | Kind::Catalog | Kind::Settings => Some(true),
            // Clients keep a list of prefixes for a day and refuse what it lacks (Maven 3.10), and anything may be published
            // in the meantime.
            Kind::Prefixes | Kind::Index => None,
        }
    }

    /// Whether the layout has no such file, and a hosted repository may take it as a plain one. A checksum of a checksum is none.
    pub(crate) fn is_plain(&self) -> bool {
        let of = self.plain_checksum().map_or(self.path, |(of, _)| of.path);
        self.read.is_none() && !tree::is_ambiguous(self.path) && tree::checksum_of(of).is_none()
    }

    /// The plain file that this is a checksum of.
    pub(crate) fn plain_checksum(&self) -> Option<(Self, Checksum)> {
        let (of, checksum) = tree::checksum_of(self.path).filter(|_| self.read.is_none())?;
        Some((Self::read(of), checksum))
    }

    /// Whether a plain file is named after a snapshot, so that it may be replaced.
    pub(crate) fn is_plain_snapshot(&self) -> bool {
        let named =
            |name: &str| path::is_snapshot(name) || ["-SNAPSHOT.", "-SNAPSHOT-"].iter().any(|part| name.contains(part));
        self.is_plain() && self.path.split('/').any(named)
    }

    /// Whether the bytes of the path never change: files of releases and of single builds of snapshots, with their
    /// checksums.
    pub(crate) fn is_immutable(&self) -> bool {
        matches!(self.kind(), Some(Kind::Artifact(artifact)) if !artifact.snapshot() || artifact.build.is_some())
    }

    /// Whether it belongs to a release.
    pub(crate) fn is_of_release(&self) -> bool {
        matches!(self.kind(), Some(Kind::Artifact(artifact)) if !artifact.snapshot())
    }

    /// Whether it describes all files of one repository: the list of path prefixes, the search index, or a checksum of
    /// these. A group has none: one of a member would not be about the others.
    pub(crate) fn is_of_whole_repository(&self) -> bool {
        matches!(self.kind(), Some(Kind::Prefixes | Kind::Index))
    }

    /// The file that describes this one, or that this one describes: the properties of a search index and its files.
    pub(crate) fn counterpart(&self) -> Option<&'static str> {
        match self.kind()? {
            Kind::Index if self.path == path::INDEX_PROPERTIES => Some(path::INDEX),
            Kind::Index => Some(path::INDEX_PROPERTIES),
            _ => None,
        }
    }

    /// Whether it is the list of the prefixes of all paths, or a checksum of that list.
    pub(crate) fn is_prefixes(&self) -> bool {
        matches!(self.kind(), Some(Kind::Prefixes))
    }

    /// Whether upstreams have a checksum beside the file. Clients publish none for signatures.
    pub(crate) fn has_checksum_beside(&self) -> bool {
        self.artifact().is_some() && path::signature_of(self.path).is_none()
    }

    /// The group, as folders, the artifact and the version of the file.
    pub(crate) fn version(&self) -> Option<(&'a str, &'a str, &'a str)> {
        path::version(self.path, self.kind())
    }

    /// The folder and the name under which the journal records the age of the file.
    pub(crate) fn version_path(&self) -> Option<VersionPath<'a>> {
        let (_, _, version) = self.version()?;
        let folder = tree::folder(self.path);
        if !path::is_snapshot(version) {
            return Some(VersionPath { folder: tree::folder(folder), version: Some(version.to_owned()) });
        }
        let build = match self.kind() {
            Some(Kind::Artifact(artifact)) => artifact.build,
            _ => None,
        };
        Some(VersionPath { folder, version: build.map(|build| build.to_string()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_of_its_version_or_of_its_build_and_what_changes_under_its_name_is_of_none() {
        let at =
            |path: &'static str| MavenPath::read(path).version_path().map(|listed| (listed.folder, listed.version));
        let release = Some(("org/lamp", Some("1.0".to_owned())));
        assert_eq!(at("org/lamp/1.0/lamp-1.0.jar.sha1"), release);
        assert_eq!(at("org/lamp/1.0/notes.txt"), release);
        let build = Some("20260101.120000-1".to_owned());
        assert_eq!(at("org/lamp/1-SNAPSHOT/lamp-1-20260101.120000-1.jar"), Some(("org/lamp/1-SNAPSHOT", build)));
        assert_eq!(at("org/lamp/1-SNAPSHOT/lamp-1-SNAPSHOT.jar"), Some(("org/lamp/1-SNAPSHOT", None)));
        assert_eq!((at("org/lamp/maven-metadata.xml"), at("robots.txt")), (None, None));
    }

    #[test]
    fn a_file_outside_of_the_layout_is_plain_unless_its_path_is_ambiguous_or_a_checksum_of_a_checksum() {
        let plain = |path: &'static str| MavenPath::read(path).is_plain();
        for path in ["lamp.jar", "org.lamp/lamp/1.0/ivys/ivy.xml", "org/lamp/1.0/ivy-1.0.xml.sha1", "p2.index"] {
            assert!(plain(path), "{path}");
        }
        for path in
            ["org/lamp/1.0/lamp-1.0.jar", "a/b.sha1.md5", "org/lamp/1.0/lamp-1.0.jar.sha1.md5", "a;b/c", ".index/a.gz"]
        {
            assert!(!plain(path), "{path}");
        }
        let of = MavenPath::read("a/ivy.xml.md5").plain_checksum();
        assert_eq!(of, Some((MavenPath::read("a/ivy.xml"), Checksum::Md5)));
        let snapshot = |path: &'static str| MavenPath::read(path).is_plain_snapshot();
        assert!(snapshot("lamp/1.0-SNAPSHOT/jars/lamp.jar") && snapshot("lamp/ivys/ivy-1.0-SNAPSHOT.xml.sha1"));
        assert!(!snapshot("lamp/1.0/jars/lamp.jar") && !snapshot("org/lamp/1-SNAPSHOT/lamp-1-SNAPSHOT.jar"));
    }

    #[test]
    fn the_file_of_a_checksum_is_what_reading_its_own_path_gives() {
        for path in ["org/lamp/1.0/lamp-1.0.jar", "org/lamp/maven-metadata.xml", ".meta/prefixes.txt", ".index/a.gz"] {
            let checksum = format!("{path}.sha1");
            assert_eq!(MavenPath::read(&checksum).checksum(), Some((MavenPath::read(path), Checksum::Sha1)), "{path}");
        }
    }
}
