//! A path of a tree, as the format of its repository reads it.
//!
//! This is the one place that tells the formats of trees apart. What a format has to say of a path is a method here, and each
//! arm is one call into the format's own folder, so that a format that forgets something does not compile.

#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::format::Format;
use crate::gem::layout::GemPath;
use crate::maven::listing_changes::ListingChanges;
use crate::maven::{self, layout::MavenPath};
use crate::policy::hidden::Hidden;
use crate::policy::package_version::{PackageVersion, Since};
use crate::policy::rules::Rules;
use crate::raw::{self, layout::RawPath};
use crate::record::RepositoryRecord;
use crate::repository::Repository;
use crate::tree::Tree;
use crate::tree::document::Document;
use crate::tree::readable::Readable;
use crate::tree::subject;
use crate::upstream::first_seen::age_key::{AgeKey, VersionPath};
use crate::upstream::first_seen::observation::Observation;
use format::tree::{self, Checksum};
use store::{Entry, RepositoryId, Unit};
use telemetry::{Event, Millis, Subject};

/// A path of a tree, read once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File<'a> {
    pub(crate) path: &'a str,
    /// The folder that it is in: the unit of its revisions.
    pub(crate) folder: &'a str,
    pub(super) layout: Layout<'a>,
}

/// What a format reads in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout<'a> {
    Maven(MavenPath<'a>),
    Raw(RawPath<'a>),
    /// What an upstream of gems gave. Clients ask for gems by other questions.
    Gem(GemPath<'a>),
}

/// Where the bytes at a path of a hosted tree come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "it lives on the stack, for one match")]
pub(crate) enum Provenance<'a> {
    /// Somebody uploads them.
    Uploaded,
    /// They are computed: the digest of the bytes at another path.
    ChecksumOf(File<'a>, Checksum),
    /// They are made from what was uploaded elsewhere.
    Generated,
}

/// A name that is guarded once a hosted repository has, or ever had, something under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guarded<'a> {
    /// A folder: it has folders with files in it.
    Folder(&'a str),
    /// A path: there is a file.
    Path(&'a str),
}

impl Repository {
    /// Reads a path of this repository.
    pub(crate) fn file<'a>(&self, path: &'a str) -> File<'a> {
        File::read(self.format, path)
    }
}

impl<'a> File<'a> {
    /// Reads a path of a repository of this format.
    pub(crate) fn read(format: Format, path: &'a str) -> Self {
        let layout = match format {
            Format::Maven => Layout::Maven(MavenPath::read(path)),
            Format::Raw => Layout::Raw(RawPath(path)),
            Format::Gem => {
                let read = GemPath::read(path);
                return Self { path, folder: read.unit(), layout: Layout::Gem(read) };
            }
        };
        Self { path, folder: tree::folder(path), layout }
    }

    /// The file that this is a checksum of, where the format computes checksums.
    pub(crate) fn checksum(&self) -> Option<(File<'a>, Checksum)> {
        match &self.layout {
            Layout::Maven(path) => {
                let (of, checksum) = path.checksum()?;
                Some((Self { path: of.path(), folder: self.folder, layout: Layout::Maven(of) }, checksum))
            }
            // A checksum is a file like others there.
            Layout::Raw(_) | Layout::Gem(_) => None,
        }
    }

    /// The file that this is a checksum of by its name, where the format keeps checksums as files like others.
    pub(crate) fn kept_checksum(&self) -> Option<(File<'a>, Checksum)> {
        match &self.layout {
            Layout::Maven(_) | Layout::Gem(_) => None,
            Layout::Raw(path) => {
                let (of, checksum) = path.checksum()?;
                Some((Self { path: of.0, folder: self.folder, layout: Layout::Raw(of) }, checksum))
            }
        }
    }

    /// Where its bytes come from in a hosted repository; `None`: the format has no such file.
    pub(crate) fn provenance(&self) -> Option<Provenance<'a>> {
        if let Some((of, checksum)) = self.checksum() {
            return Some(Provenance::ChecksumOf(of, checksum));
        }
        let is_generated = match &self.layout {
            Layout::Maven(path) => path.is_generated()?,
            Layout::Raw(_) | Layout::Gem(_) => false,
        };
        Some(if is_generated { Provenance::Generated } else { Provenance::Uploaded })
    }

    /// The coded identity of the path, without its repository. `kind` says what is done with it.
    pub(crate) fn subject(&self, kind: &'static str) -> Subject {
        match &self.layout {
            Layout::Maven(path) => path.subject(kind),
            Layout::Raw(path) => subject::subject(kind, path.0),
            Layout::Gem(path) => subject::subject(kind, path.unit()),
        }
    }

    /// Whether the path never has other bytes; `None`: the format has no rule about that.
    pub(crate) fn is_immutable(&self) -> Option<bool> {
        match &self.layout {
            Layout::Maven(path) => Some(path.is_immutable()),
            Layout::Raw(_) => None,
            // Of what is listed the index says which bytes it has. What is about a package may be added to.
            Layout::Gem(path) => (!path.is_listed()).then_some(false),
        }
    }

    /// Whether it never has other bytes in this hosted repository.
    pub(crate) fn is_immutable_in(&self, repository: &Repository) -> bool {
        !repository.record.replaceable && self.is_immutable().unwrap_or(true)
    }

    /// Whether an index says which bytes it has, so that its own age tells nothing.
    pub(crate) fn is_indexed(&self) -> bool {
        match &self.layout {
            Layout::Maven(_) | Layout::Raw(_) => false,
            Layout::Gem(path) => path.is_listed(),
        }
    }

    /// Whether an index lists it, so that its upstream must have it.
    pub(crate) fn is_listed(&self) -> bool {
        match &self.layout {
            Layout::Maven(_) | Layout::Raw(_) => false,
            Layout::Gem(path) => path.is_listed(),
        }
    }

    /// Whether it belongs to a release, whose files are all in one member of a group.
    pub(crate) fn is_of_release(&self) -> bool {
        match &self.layout {
            Layout::Maven(path) => path.is_of_release(),
            Layout::Raw(_) | Layout::Gem(_) => false,
        }
    }

    /// Whether it is metadata, or a checksum of that: a short-lived list of versions. What an upstream says of its bytes may be about
    /// others. Central itself had wrong checksums beside its metadata for a while (MCOMPILER-487).
    pub(crate) fn is_metadata(&self) -> bool {
        match &self.layout {
            Layout::Maven(path) => path.metadata().is_some(),
            Layout::Raw(_) | Layout::Gem(_) => false,
        }
    }

    /// Whether it lists the prefixes of all paths of its repository.
    pub(crate) fn is_prefixes(&self) -> bool {
        match &self.layout {
            Layout::Maven(path) => path.is_prefixes(),
            Layout::Raw(_) | Layout::Gem(_) => false,
        }
    }

    /// What its bytes are made from, in a hosted repository or in a group.
    pub(crate) fn unit(&self, repository: RepositoryId) -> Unit<'a> {
        // The prefixes of all paths are those of every folder.
        if self.is_prefixes() { Unit::All(repository) } else { Unit::Of(repository, self.folder) }
    }

    /// Whether an upstream has a checksum beside it that can be asked for.
    pub(crate) fn has_checksum_beside(&self) -> bool {
        match &self.layout {
            Layout::Maven(path) => path.has_checksum_beside(),
            Layout::Raw(_) | Layout::Gem(_) => false,
        }
    }

    /// Whether a file can be where an upstream lists a folder.
    pub(crate) fn may_be_folder(&self) -> bool {
        match &self.layout {
            Layout::Maven(_) | Layout::Gem(_) => false,
            Layout::Raw(_) => true,
        }
    }

    /// Whether a page for people may be the file. Where none can be, one comes from somebody else on the way: a login, a portal, an
    /// error that is called success; or it lists a folder, and would tell of names whatever policy says.
    pub(crate) fn may_be_html(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or(self.path);
        match name.rsplit_once('.') {
            Some((_, ending)) => matches!(ending, "html" | "htm" | "xhtml"),
            None => self.may_be_folder(),
        }
    }

    /// Whether the settings of a hosted repository let its version be published.
    pub(crate) fn check_version(&self, record: &RepositoryRecord) -> Result<(), Error> {
        match &self.layout {
            Layout::Maven(path) => path.check_version(record),
            Layout::Raw(_) | Layout::Gem(_) => Ok(()),
        }
    }

    /// Whether a token that is for the package `only` may change it, or all below it.
    pub(crate) fn is_below_package(&self, only: &str) -> bool {
        let below =
            |folder: &str| self.path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        match &self.layout {
            Layout::Maven(_) => below(&MavenPath::folder_of_package(only)),
            Layout::Raw(_) | Layout::Gem(_) => below(only),
        }
    }

    /// Whether no file of the format can have this path, as systems read it in different ways.
    pub(crate) fn cannot_exist(&self) -> bool {
        match &self.layout {
            Layout::Maven(path) => tree::is_ambiguous(path.path()),
            Layout::Raw(_) | Layout::Gem(_) => false,
        }
    }

    /// Why nothing at this path of an upstream may be seen, whatever its age.
    pub(crate) fn hidden_at_any_age(&self, rules: &Rules) -> Option<Hidden> {
        match &self.layout {
            Layout::Maven(path) => maven::hidden_paths::hidden(path, rules),
            Layout::Raw(path) => raw::hidden_paths::hidden(*path, rules),
            // A gem is held against policy by its line in `/info`, before its path is asked for.
            Layout::Gem(_) => None,
        }
    }

    /// The document at this path, or of which it is a checksum; `None`: it is a file.
    pub(crate) fn document(&self) -> Option<&'static dyn Document> {
        match &self.layout {
            Layout::Maven(path) => maven::group_document::at(path),
            Layout::Raw(_) | Layout::Gem(_) => None,
        }
    }

    /// What clients must be able to read before it is kept; `None`: anything may be the file.
    pub(crate) fn readable(&self) -> Option<Readable> {
        let document = || self.document().filter(|_| self.is_metadata());
        match &self.layout {
            Layout::Maven(_) | Layout::Raw(_) => document().map(|document| Readable {
                longest: document.longest(),
                check: Box::new(|bytes| document.check(bytes)),
            }),
            Layout::Gem(path) => path.readable(),
        }
    }

    /// The names that keep the path from upstreams where a hosted member has anything under one of them, in the order in which they
    /// count.
    pub(crate) fn guarded(&self) -> impl Iterator<Item = Guarded<'a>> + Clone + use<'a> {
        let (folders, paths) = match self.layout {
            Layout::Maven(path) => (Some(maven::guard::artifact_folders(&path)), None),
            Layout::Raw(path) => (None, Some(raw::guard::paths(path))),
            Layout::Gem(_) => (None, None),
        };
        folders.into_iter().flatten().map(Guarded::Folder).chain(paths.into_iter().flatten().map(Guarded::Path))
    }

    /// A guarded name as policy names it; `None`: it is no name of a package.
    pub(crate) fn guarded_name(&self, name: Guarded<'a>) -> Option<PackageVersion<'a>> {
        match (&self.layout, name) {
            (Layout::Maven(_), Guarded::Folder(name) | Guarded::Path(name)) => maven::guard::named(name),
            (Layout::Raw(_), Guarded::Folder(name) | Guarded::Path(name)) => Some(RawPath(name).named(Since::Always)),
            (Layout::Gem(_), Guarded::Folder(_) | Guarded::Path(_)) => None,
        }
    }

    /// The version, or the file, that policy names it; `None`: it is a document that lists versions.
    pub(crate) fn named(&self, since: Since) -> Option<PackageVersion<'a>> {
        match &self.layout {
            Layout::Maven(path) => path.named(since),
            Layout::Raw(path) => Some(path.named(since)),
            Layout::Gem(_) => None,
        }
    }

    /// What a fetched file of a version tells of the ages of versions.
    pub(crate) fn observe(&self, version: VersionPath<'_>, modified: Option<Millis>) -> Vec<Observation> {
        match &self.layout {
            Layout::Maven(_) => maven::upstream::observed::of_version(version, modified),
            Layout::Raw(_) | Layout::Gem(_) => Vec::new(),
        }
    }

    /// What changes along with files of its folder: of all that were there `before`, some become `changed`.
    pub(crate) async fn following(
        &self,
        tree: Tree<'_>,
        before: &[Entry],
        changed: &[Entry],
        at: Millis,
        event: &mut Event,
    ) -> Result<ListingChanges, Error> {
        match &self.layout {
            Layout::Maven(_) => ListingChanges::following(tree, before, changed, at, event).await,
            Layout::Raw(_) | Layout::Gem(_) => Ok(ListingChanges::default()),
        }
    }

    /// Where the journal has its age.
    pub(crate) fn age_key(&self) -> AgeKey<'a> {
        match &self.layout {
            Layout::Maven(path) => path.version_path().map_or(AgeKey::Document, AgeKey::Version),
            Layout::Raw(_) => AgeKey::Bytes,
            // The ages of gems are those of the lines of their index.
            Layout::Gem(_) => AgeKey::Document,
        }
    }
}
