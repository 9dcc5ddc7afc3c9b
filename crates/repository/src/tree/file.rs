//! A path of a tree, as the format of its repository reads it.
//!
//! This and `file/publishing.rs` are the one place that distinguishes the formats of trees. Each fact about a path is a method
//! here, and each arm is one call into the folder of a format, so a format that lacks a fact does not compile.

mod publishing;
#[cfg(test)]
mod tests;

use crate::format::Format;
use crate::gem::layout::GemPath;
use crate::maven::{self, layout::MavenPath};
use crate::policy::hidden::Hidden;
use crate::policy::package_version::{PackageVersion, Since};
use crate::policy::rules::Rules;
use crate::raw::{self, layout::RawPath};
use crate::repository::Repository;
use crate::tree::document::Document;
use crate::tree::readable::{FILE_MAX_BYTES, Readable};
use crate::tree::subject;
use crate::upstream::first_seen::age_key::{AgeKey, VersionPath};
use crate::upstream::first_seen::observation::Observation;
use format::tree::{self, Checksum};
use store::{RepositoryId, Unit};
use telemetry::{Millis, Subject};

/// A path of a tree, read once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File<'a> {
    pub(crate) path: &'a str,
    /// Its folder, which is the unit of its revisions.
    pub(crate) folder: &'a str,
    pub(super) layout: Layout<'a>,
}

/// A path as a format reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout<'a> {
    Maven(MavenPath<'a>),
    Raw(RawPath<'a>),
    /// A file of a gem upstream. Clients request gems with other questions.
    Gem(GemPath<'a>),
}

/// The source of the bytes at a path of a hosted tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "it lives on the stack, for one match")]
pub(crate) enum Provenance<'a> {
    /// A client uploads them.
    Uploaded,
    /// They are computed: the digest of the file at another path.
    ChecksumOf(File<'a>, Checksum),
    /// They are generated from uploaded files.
    Generated,
}

/// A name that is guarded as soon as a hosted repository has, or ever had, something under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guarded<'a> {
    /// A folder with subfolders that contain files.
    Folder(&'a str),
    /// A path of a file.
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
        Self { path, folder: tree::folder(tree::split_query(path).0), layout }
    }

    /// The same file without the query that an upstream is asked with.
    pub(crate) fn without_query(&self) -> File<'a> {
        match &self.layout {
            Layout::Raw(path) => {
                Self { path: path.without_query().0, layout: Layout::Raw(path.without_query()), ..*self }
            }
            Layout::Maven(_) | Layout::Gem(_) => *self,
        }
    }

    /// Whether an upstream is asked with a query.
    pub(crate) fn has_query(&self) -> bool {
        self.without_query().path.len() < self.path.len()
    }

    /// The file whose checksum this is, in formats whose checksums are computed.
    pub(crate) fn checksum(&self) -> Option<(File<'a>, Checksum)> {
        match &self.layout {
            Layout::Maven(path) => {
                let (of, checksum) = path.checksum()?;
                Some((Self { path: of.path(), folder: self.folder, layout: Layout::Maven(of) }, checksum))
            }
            // In these formats a checksum is an ordinary file.
            Layout::Raw(_) | Layout::Gem(_) => None,
        }
    }

    /// The source of its bytes in a hosted repository; `None`: the format has no such file.
    pub(crate) fn provenance(&self) -> Option<Provenance<'a>> {
        if let Some((of, checksum)) = self.checksum() {
            return Some(Provenance::ChecksumOf(of, checksum));
        }
        let is_generated = match &self.layout {
            Layout::Maven(path) if path.is_plain() => match path.plain_checksum() {
                Some((of, checksum)) => {
                    let of = Self { path: of.path(), folder: self.folder, layout: Layout::Maven(of) };
                    return Some(Provenance::ChecksumOf(of, checksum));
                }
                None => false,
            },
            Layout::Maven(path) => path.is_generated()?,
            Layout::Raw(_) | Layout::Gem(_) => false,
        };
        Some(if is_generated { Provenance::Generated } else { Provenance::Uploaded })
    }

    /// The identity of the path for events, without its repository. `kind` names the action.
    pub(crate) fn subject(&self, kind: &'static str) -> Subject {
        match &self.layout {
            Layout::Maven(path) => path.subject(kind),
            Layout::Raw(path) => subject::subject(kind, path.0),
            Layout::Gem(path) => path.subject(kind),
        }
    }

    /// Whether the bytes of the path never change; `None`: the format has no rule for that.
    pub(crate) fn is_immutable(&self) -> Option<bool> {
        match &self.layout {
            Layout::Maven(path) => Some(path.is_immutable()),
            Layout::Raw(_) => None,
            // The index states the digest of a listed file. Facts about a package can be extended.
            Layout::Gem(path) => (!path.is_listed()).then_some(false),
        }
    }

    /// Whether its bytes never change in this hosted repository.
    pub(crate) fn is_immutable_in(&self, repository: &Repository) -> bool {
        let immutable = match &self.layout {
            Layout::Maven(path) if path.is_plain() => !path.is_plain_snapshot(),
            Layout::Maven(_) | Layout::Raw(_) | Layout::Gem(_) => self.is_immutable().unwrap_or(true),
        };
        !repository.record.replaceable && immutable
    }

    /// Whether an index states its digest, so that its own age does not matter.
    pub(crate) fn is_indexed(&self) -> bool {
        match &self.layout {
            Layout::Maven(_) | Layout::Raw(_) => false,
            Layout::Gem(path) => path.is_listed(),
        }
    }

    /// Whether an index lists it, so that the upstream must have it.
    pub(crate) fn is_listed(&self) -> bool {
        match &self.layout {
            Layout::Maven(_) | Layout::Raw(_) => false,
            Layout::Gem(path) => path.is_listed(),
        }
    }

    /// Whether it belongs to a release. All files of a release come from one member of a group.
    pub(crate) fn is_of_release(&self) -> bool {
        match &self.layout {
            Layout::Maven(path) => path.is_of_release(),
            Layout::Raw(_) | Layout::Gem(_) => false,
        }
    }

    /// Whether it is metadata or a checksum of metadata: a list of versions with a short TTL. The checksum of an
    /// upstream may belong to an earlier or later document. Central itself served wrong checksums beside its metadata
    /// for a while (MCOMPILER-487).
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

    /// The path of the file that belongs to this one: clients read both, so both have to be of the same moment.
    pub(crate) fn counterpart(&self) -> Option<&'static str> {
        match &self.layout {
            Layout::Maven(path) => path.counterpart(),
            Layout::Raw(_) | Layout::Gem(_) => None,
        }
    }

    /// Whether it describes all files of one repository, so that a group has no such file.
    pub(crate) fn is_of_whole_repository(&self) -> bool {
        match &self.layout {
            Layout::Maven(path) => path.is_of_whole_repository(),
            Layout::Raw(_) | Layout::Gem(_) => false,
        }
    }

    /// The unit from which its bytes are made, in a hosted repository or in a group.
    pub(crate) fn unit(&self, repository: RepositoryId) -> Unit<'a> {
        Unit::Of(repository, self.folder)
    }

    /// Whether an upstream has a checksum file beside it.
    pub(crate) fn has_checksum_beside(&self) -> bool {
        match &self.layout {
            Layout::Maven(path) => path.has_checksum_beside(),
            Layout::Raw(_) | Layout::Gem(_) => false,
        }
    }

    /// Whether a client gets the 403 of an upstream that is about the file. Bundler 2.2 to 4.0 and `gem` treat it like a
    /// 502.
    pub(crate) fn passes_refusal(&self) -> bool {
        match &self.layout {
            Layout::Maven(_) | Layout::Raw(_) => true,
            Layout::Gem(_) => false,
        }
    }

    /// Whether a file can exist at this path where an upstream lists a folder.
    pub(crate) fn may_be_folder(&self) -> bool {
        match &self.layout {
            Layout::Maven(_) | Layout::Gem(_) => false,
            Layout::Raw(_) => true,
        }
    }

    /// Whether an HTML page can be the file. Otherwise an HTML answer is a login page, a portal, or an error with the
    /// status 200; or it lists a folder and would reveal names that a policy hides.
    pub(crate) fn may_be_html(&self) -> bool {
        let path = self.without_query().path;
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.') {
            Some((_, ending)) => matches!(ending, "html" | "htm" | "xhtml"),
            None => self.may_be_folder(),
        }
    }

    /// Whether a token for the package `only` may change it, or everything below it.
    pub(crate) fn is_below_package(&self, only: &str) -> bool {
        let below =
            |folder: &str| self.path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        match &self.layout {
            Layout::Maven(_) => below(&MavenPath::folder_of_package(only)),
            Layout::Raw(_) | Layout::Gem(_) => below(only),
        }
    }

    /// Whether no file of the format can have this path, because systems read it in different ways.
    pub(crate) fn cannot_exist(&self) -> bool {
        match &self.layout {
            Layout::Maven(path) => tree::is_ambiguous(path.path()),
            Layout::Raw(_) | Layout::Gem(_) => false,
        }
    }

    /// Why a policy hides this upstream path regardless of its age.
    pub(crate) fn hidden_at_any_age(&self, rules: &Rules) -> Option<Hidden> {
        match &self.layout {
            Layout::Maven(path) => maven::hidden_paths::hidden(path, rules),
            Layout::Raw(path) => raw::hidden_paths::hidden(*path, rules),
            // The policy for a gem is applied to its line in `/info`, before its path is requested.
            Layout::Gem(_) => None,
        }
    }

    /// The document at this path, or the document whose checksum it is; `None`: it is a file.
    pub(crate) fn document(&self) -> Option<&'static dyn Document> {
        match &self.layout {
            Layout::Maven(path) => maven::group_document::at(path),
            Layout::Raw(_) | Layout::Gem(_) => None,
        }
    }

    /// The check that the file must pass before it is stored; `None`: any bytes are valid.
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

    /// The size up to which an upstream's bytes can be the file. A checksum in a raw repository is an ordinary file, such as a list of many.
    pub(crate) fn longest(&self) -> u64 {
        match &self.layout {
            Layout::Maven(path) if tree::checksum_of(path.path()).is_some() => tree::LONGEST_CHECKSUM as u64,
            _ => self.readable().map_or(FILE_MAX_BYTES, |readable| readable.longest as u64),
        }
    }

    /// The names that keep the path from upstreams if a hosted member has something under one of them, in order of
    /// precedence.
    pub(crate) fn guarded(&self) -> impl Iterator<Item = Guarded<'a>> + Clone + use<'a> {
        let (folders, paths) = match self.layout {
            Layout::Maven(path) => (Some(maven::guard::artifact_folders(&path)), None),
            Layout::Raw(path) => (None, Some(raw::guard::paths(path))),
            Layout::Gem(_) => (None, None),
        };
        folders.into_iter().flatten().map(Guarded::Folder).chain(paths.into_iter().flatten().map(Guarded::Path))
    }

    /// A guarded name in the syntax of policies; `None`: it is not the name of a package.
    pub(crate) fn guarded_name(&self, name: Guarded<'a>) -> Option<PackageVersion<'a>> {
        match (&self.layout, name) {
            (Layout::Maven(_), Guarded::Folder(name) | Guarded::Path(name)) => maven::guard::named(name),
            (Layout::Raw(_), Guarded::Folder(name) | Guarded::Path(name)) => Some(RawPath(name).named(Since::Always)),
            (Layout::Gem(_), Guarded::Folder(_) | Guarded::Path(_)) => None,
        }
    }

    /// The version or file in the syntax of policies; `None`: it is a document that lists versions.
    pub(crate) fn named(&self, since: Since) -> Option<PackageVersion<'a>> {
        match &self.layout {
            Layout::Maven(path) => path.named(since),
            Layout::Raw(path) => Some(path.named(since)),
            Layout::Gem(_) => None,
        }
    }

    /// The group, as folders, the artifact and the version of the file, in formats whose versions are folders of files.
    pub(crate) fn maven_version(&self) -> Option<(&'a str, &'a str, &'a str)> {
        match &self.layout {
            Layout::Maven(path) => path.version(),
            Layout::Raw(_) | Layout::Gem(_) => None,
        }
    }

    /// The ages of versions that follow from a fetched file.
    pub(crate) fn observe(&self, version: VersionPath<'_>, modified: Option<Millis>) -> Vec<Observation> {
        match &self.layout {
            Layout::Maven(_) => maven::upstream::observed::of_version(version, modified),
            Layout::Raw(_) | Layout::Gem(_) => Vec::new(),
        }
    }

    /// Where the journal records its age.
    pub(crate) fn age_key(&self) -> AgeKey<'a> {
        match &self.layout {
            Layout::Maven(path) => path.version_path().map_or(AgeKey::Document, AgeKey::Version),
            Layout::Raw(_) => AgeKey::Bytes,
            // The age of a gem is that of its line in the index.
            Layout::Gem(_) => AgeKey::Document,
        }
    }
}
