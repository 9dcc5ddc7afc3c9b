//! A path of a tree, as the format of its repository reads it.
//!
//! Each fact about a path is a method here, and each method calls that of the format's own path. A format that lacks one does not
//! compile.

#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::format::{Format, FormatPath, of_path};
use crate::policy::hidden::Hidden;
use crate::policy::package_version::{PackageVersion, Since};
use crate::policy::rules::Rules;
use crate::record::RepositoryRecord;
use crate::repository::Repository;
use crate::tree::document::Document;
use crate::tree::facts::{Guarded, PathFacts, Provenance};
use crate::tree::readable::{FILE_MAX_BYTES, Readable};
use crate::upstream::first_seen::age_key::{AgeKey, VersionPath};
use crate::upstream::first_seen::observation::Observation;
use format::tree::{self, Checksum};
use std::borrow::Cow;
use store::{RepositoryId, Unit};
use telemetry::{Millis, Subject};

/// A path of a tree, read once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File<'a> {
    pub(crate) path: &'a str,
    /// Its folder, which is the unit of its revisions.
    pub(crate) folder: &'a str,
    pub(super) read: FormatPath<'a>,
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
        Self::of(path, format.read_path(path))
    }

    /// Another path of the same repository.
    pub(crate) fn at(&self, path: &'a str) -> Self {
        Self::of(path, self.read.at(path))
    }

    fn of(path: &'a str, read: FormatPath<'a>) -> Self {
        Self { path, folder: of_path!(&read, unit()), read }
    }

    /// The facts that each format states about its paths.
    pub(crate) fn facts(&self) -> PathFacts<'a> {
        of_path!(&self.read, facts())
    }

    /// The same file without the query that an upstream is asked with.
    pub(crate) fn without_query(&self) -> Self {
        if self.has_query() { self.at(self.facts().without_query) } else { *self }
    }

    /// Whether an upstream is asked with a query.
    pub(crate) fn has_query(&self) -> bool {
        self.facts().without_query.len() < self.path.len()
    }

    /// The file whose checksum this is, in formats whose checksums are computed.
    pub(crate) fn checksum(&self) -> Option<(Self, Checksum)> {
        let (of, checksum) = of_path!(&self.read, checksum_of() else None)?;
        Some((self.at(of), checksum))
    }

    /// The file whose checksum this is by its ending, in formats that store checksums as ordinary files.
    pub(crate) fn kept_checksum(&self) -> Option<(Self, Checksum)> {
        self.facts().kept_checksum_of.map(|(of, checksum)| (self.at(of), checksum))
    }

    /// The source of its bytes in a hosted repository; `None`: the format has no such file.
    pub(crate) fn provenance(&self) -> Option<Provenance<'a>> {
        of_path!(&self.read, provenance() else Some(Provenance::Uploaded))
    }

    /// The identity of the path for events, without its repository. `kind` names the action.
    pub(crate) fn subject(&self, kind: &'static str) -> Subject {
        of_path!(&self.read, subject(kind))
    }

    /// Whether its bytes never change in this hosted repository.
    pub(crate) fn is_immutable_in(&self, repository: &Repository) -> bool {
        let is_plain = of_path!(&self.read, is_plain() else false);
        let immutable = match is_plain {
            true => !of_path!(&self.read, is_plain_snapshot() else false),
            false => self.facts().is_immutable.unwrap_or(true),
        };
        !repository.record.replaceable && immutable
    }

    /// Whether it belongs to a release. All files of a release come from one member of a group.
    pub(crate) fn is_of_release(&self) -> bool {
        of_path!(&self.read, is_of_release() else false)
    }

    /// Whether it is metadata or a checksum of metadata: a list of versions with a short TTL. The checksum of an
    /// upstream may belong to an earlier or later document. Central itself served wrong checksums beside its metadata
    /// for a while (MCOMPILER-487).
    pub(crate) fn is_metadata(&self) -> bool {
        of_path!(&self.read, is_metadata() else false)
    }

    /// Whether it lists the prefixes of all paths of its repository.
    pub(crate) fn is_prefixes(&self) -> bool {
        of_path!(&self.read, is_prefixes() else false)
    }

    /// The path of the file that belongs to this one: clients read both, so both have to be of the same moment.
    pub(crate) fn counterpart(&self) -> Option<&'static str> {
        of_path!(&self.read, counterpart() else None)
    }

    /// Whether it describes all files of one repository, so that a group has no such file.
    pub(crate) fn is_of_whole_repository(&self) -> bool {
        of_path!(&self.read, is_of_whole_repository() else false)
    }

    /// The unit from which its bytes are made, in a hosted repository or in a group.
    pub(crate) fn unit(&self, repository: RepositoryId) -> Unit<'a> {
        Unit::Of(repository, self.folder)
    }

    /// Whether an upstream has a checksum file beside it.
    pub(crate) fn has_checksum_beside(&self) -> bool {
        of_path!(&self.read, has_checksum_beside() else false)
    }

    /// Whether an HTML page can be the file. Otherwise an HTML answer is a login page, a portal, or an error with the
    /// status 200; or it lists a folder and would reveal names that a policy hides.
    pub(crate) fn may_be_html(&self) -> bool {
        let path = self.facts().without_query;
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.') {
            Some((_, ending)) => matches!(ending, "html" | "htm" | "xhtml"),
            None => self.facts().may_be_folder,
        }
    }

    /// Whether a token for the package `only` may change it, or everything below it.
    pub(crate) fn is_below_package(&self, only: &str) -> bool {
        let folder = of_path!(&self.read, folder_of_package(only) else Cow::Borrowed(only));
        self.path.strip_prefix(&*folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether no file of the format can have this path, because systems read it in different ways.
    pub(crate) fn cannot_exist(&self) -> bool {
        of_path!(&self.read, cannot_exist() else false)
    }

    /// Why a policy hides this upstream path regardless of its age.
    pub(crate) fn hidden_at_any_age(&self, rules: &Rules) -> Option<Hidden> {
        of_path!(&self.read, hidden_at_any_age(rules))
    }

    /// The document at this path, or the document whose checksum it is; `None`: it is a file.
    pub(crate) fn document(&self) -> Option<&'static dyn Document> {
        of_path!(&self.read, document() else None)
    }

    /// The check that the file must pass before it is stored; `None`: any bytes are valid.
    pub(crate) fn readable(&self) -> Option<Readable> {
        of_path!(&self.read, readable())
    }

    /// The size up to which an upstream's bytes can be the file. Where checksums are computed, an upstream's checksum is short.
    pub(crate) fn longest(&self) -> u64 {
        match of_path!(&self.read, is_any_checksum() else false) {
            true => tree::LONGEST_CHECKSUM as u64,
            false => self.readable().map_or(FILE_MAX_BYTES, |readable| readable.longest as u64),
        }
    }

    /// The names that keep the path from upstreams if a hosted member has something under one of them, in order of
    /// precedence.
    pub(crate) fn guarded(&self) -> impl Iterator<Item = Guarded<'a>> + Clone + use<'a> {
        let read = self.read;
        (0..).map_while(move |place| of_path!(&read, guarded_at(place)))
    }

    /// A guarded name in the syntax of policies; `None`: it is not the name of a package.
    pub(crate) fn guarded_name(&self, name: Guarded<'a>) -> Option<PackageVersion<'a>> {
        of_path!(&self.read, guarded_name(name))
    }

    /// The version or file in the syntax of policies; `None`: it is a document that lists versions.
    pub(crate) fn named(&self, since: Since) -> Option<PackageVersion<'a>> {
        of_path!(&self.read, named(since))
    }

    /// The folder of the package that the file belongs to, its name, and the version of the file. `None`: it belongs to none, or
    /// its format has no packages of several files.
    pub(crate) fn package(&self) -> Option<(String, String, String)> {
        of_path!(&self.read, package() else None)
    }

    /// The ages of versions that follow from a fetched file.
    pub(crate) fn observe(&self, version: VersionPath<'_>, modified: Option<Millis>) -> Vec<Observation> {
        of_path!(&self.read, observe(version, modified) else Vec::new())
    }

    /// Where the journal records its age.
    pub(crate) fn age_key(&self) -> AgeKey<'a> {
        of_path!(&self.read, age_key())
    }

    /// Whether the settings of a hosted repository let a file be published at its path.
    pub(crate) fn check_layout(&self, record: &RepositoryRecord) -> Result<()> {
        of_path!(&self.read, check_layout(record) else Ok(()))
    }

    /// Whether the settings of a hosted repository accept its version.
    pub(crate) fn check_version(&self, record: &RepositoryRecord) -> Result<()> {
        of_path!(&self.read, check_version(record) else Ok(()))
    }

    /// The name in its path that no client could ask for: an expression, a range, or a version that stands for another.
    pub(crate) fn placeholder(&self) -> Option<&'a str> {
        of_path!(&self.read, placeholder() else None)
    }
}
