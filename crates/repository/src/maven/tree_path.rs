//! A path of a Maven repository as a path of a tree.

use crate::error::{Error, Result};
use crate::maven::layout::MavenPath;
use crate::maven::layout_policy::LayoutPolicy;
use crate::maven::upstream::observed;
use crate::maven::version_policy::VersionPolicy;
use crate::maven::{group_document, guard, hidden_paths};
use crate::policy::hidden::Hidden;
use crate::policy::package_version::{PackageVersion, Since};
use crate::policy::rules::Rules;
use crate::record::RepositoryRecord;
use crate::tree::document::Document;
use crate::tree::facts::{Guarded, PathFacts, Provenance};
use crate::tree::readable::Readable;
use crate::tree::subject;
use crate::upstream::first_seen::age_key::{AgeKey, VersionPath};
use crate::upstream::first_seen::observation::Observation;
use format::maven::path::Kind;
use format::maven::placeholder;
use format::tree::{self, Checksum};
use std::borrow::Cow;
use telemetry::{Millis, Subject, Text};

impl<'a> MavenPath<'a> {
    pub(crate) fn unit(&self) -> &'a str {
        tree::folder(tree::split_query(self.path()).0)
    }

    pub(crate) fn facts(&self) -> PathFacts<'a> {
        PathFacts {
            without_query: self.path(),
            kept_checksum_of: None,
            keeps_checksums: false,
            is_immutable: Some(self.is_immutable()),
            is_listed: false,
            passes_refusal: true,
            may_be_folder: false,
        }
    }

    pub(crate) fn checksum_of(&self) -> Option<(&'a str, Checksum)> {
        self.checksum().map(|(of, checksum)| (of.path(), checksum))
    }

    pub(crate) fn provenance(&self) -> Option<Provenance<'a>> {
        let checksum = self.checksum().or_else(|| self.plain_checksum().filter(|_| self.is_plain()));
        match checksum {
            Some((of, checksum)) => Some(Provenance::ChecksumOf(of.path(), checksum)),
            None if self.is_plain() => Some(Provenance::Uploaded),
            None => self.is_generated().map(|is| if is { Provenance::Generated } else { Provenance::Uploaded }),
        }
    }

    /// Whether it is metadata or a checksum of metadata.
    pub(crate) fn is_metadata(&self) -> bool {
        self.metadata().is_some()
    }

    /// Whether it is a checksum, of a file of the layout or of another.
    pub(crate) fn is_any_checksum(&self) -> bool {
        tree::checksum_of(self.path()).is_some()
    }

    pub(crate) fn cannot_exist(&self) -> bool {
        tree::is_ambiguous(self.path())
    }

    /// The identity of the path for events: `G:A`, and the version if it has one. `kind` names the action.
    pub(crate) fn subject(&self, kind: &'static str) -> Subject {
        let subject = subject::subject(kind, self.path());
        match self.kind() {
            Some(Kind::Artifact(artifact)) => {
                let kind = match kind {
                    "file" if self.is_checksum() => "checksum",
                    "file" if artifact.extension == "pom" => "pom",
                    "file" => "artifact",
                    change => change,
                };
                let package: Text = [&artifact.group_id(), ":", artifact.artifact].concat().into();
                Subject { package, version: artifact.version.into(), kind, ..subject }
            }
            Some(Kind::Metadata(_)) if kind == "file" => Subject { kind: "metadata", ..subject },
            _ => subject,
        }
    }

    /// The version in the syntax of policies.
    pub(crate) fn named(&self, since: Since) -> Option<PackageVersion<'a>> {
        let (group, artifact, version) = self.version()?;
        Some(PackageVersion::maven(group, artifact, version, since))
    }

    pub(crate) fn package(&self) -> Option<(String, String, String)> {
        let (group, artifact, version) = self.version()?;
        Some((format!("{group}/{artifact}"), format!("{}:{artifact}", group.replace('/', ".")), version.to_owned()))
    }

    /// The folder of `org.example:lamp`, or of a whole group.
    pub(crate) fn folder_of_package<'b>(&self, only: &'b str) -> Cow<'b, str> {
        Cow::Owned(match only.split_once(':') {
            Some((group, artifact)) => format!("{}/{artifact}", group.replace('.', "/")),
            None => only.replace('.', "/"),
        })
    }

    pub(crate) fn hidden_at_any_age(&self, rules: &Rules) -> Option<Hidden> {
        hidden_paths::hidden(self, rules)
    }

    pub(crate) fn guarded_at(&self, place: usize) -> Option<Guarded<'a>> {
        guard::artifact_folders(self).nth(place).map(Guarded::Folder)
    }

    pub(crate) fn guarded_name(&self, name: Guarded<'a>) -> Option<PackageVersion<'a>> {
        let (Guarded::Folder(name) | Guarded::Path(name)) = name;
        guard::named(name)
    }

    pub(crate) fn document(&self) -> Option<&'static dyn Document> {
        group_document::at(self)
    }

    pub(crate) fn readable(&self) -> Option<Readable> {
        let document = self.document().filter(|_| self.is_metadata())?;
        Some(Readable { longest: document.longest(), check: Box::new(|bytes| document.check(bytes)) })
    }

    pub(crate) fn age_key(&self) -> AgeKey<'a> {
        self.version_path().map_or(AgeKey::Document, AgeKey::Version)
    }

    pub(crate) fn observe(&self, version: VersionPath<'_>, modified: Option<Millis>) -> Vec<Observation> {
        observed::of_version(version, modified)
    }

    /// Whether the settings of a hosted repository let a file be published at this path.
    pub(crate) fn check_layout(&self, record: &RepositoryRecord) -> Result<()> {
        match !self.is_plain() || LayoutPolicy::of(record) == LayoutPolicy::Any {
            true => Ok(()),
            false => Err(Error::NotInLayout(self.path().to_owned())),
        }
    }

    /// Whether the version policy of a hosted repository accepts the file.
    pub(crate) fn check_version(&self, record: &RepositoryRecord) -> Result<()> {
        let (version, snapshot) = match self.artifact() {
            Some(artifact) => (artifact.version, artifact.snapshot()),
            None if self.is_plain() => (self.path(), self.is_plain_snapshot()),
            None => return Ok(()),
        };
        let policy = VersionPolicy::of(record);
        match policy.takes(snapshot) {
            true => Ok(()),
            false => Err(Error::VersionRefused { version: version.to_owned(), policy }),
        }
    }

    /// The version that is none, or another name with an expression that a build did not resolve.
    pub(crate) fn placeholder(&self) -> Option<&'a str> {
        let version = self.version().map(|(_, _, version)| version);
        let meta = version.filter(|version| !self.is_plain() && placeholder::is_placeholder(version));
        meta.or_else(|| self.path().split('/').find(|name| placeholder::is_unresolved(name)))
    }
}
