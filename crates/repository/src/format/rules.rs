//! What settings and policy have to know of a format. Each format answers in its own folder.
//!
//! There are no default answers. A format that forgets one does not compile, so nothing is shown, or asked of an upstream, because
//! nobody thought of it.

use crate::bad_setting::BadSetting;
use crate::record::RepositoryRecord;
use serde_json::Value;
use std::borrow::Cow;
use store::Entry;

/// A package, and a version of it, by the names that the format gives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Coordinates<'a> {
    pub(crate) package: Cow<'a, str>,
    /// Empty: the package as a whole.
    pub(crate) version: Cow<'a, str>,
}

/// How patterns of a policy name versions of packages.
#[derive(Debug)]
pub(crate) struct PatternSyntax {
    /// The number of fields that name a version. A pattern has a colon between two of them.
    pub(crate) fields: usize,
    /// Whether the last field may hold colons.
    pub(crate) last_holds_colons: bool,
    /// Patterns for a hint.
    pub(crate) examples: &'static str,
}

/// How the private prefixes of a policy name packages.
#[derive(Debug)]
pub(crate) struct PrefixSyntax {
    /// The character at which a prefix ends; `None`: anywhere in a name.
    pub(crate) separator: Option<char>,
    /// A prefix for a hint.
    pub(crate) example: &'static str,
}

/// Why the path of a raw file may name another: the answer to [`FormatRules::unclassified`] where paths are names.
pub(crate) const AMBIGUOUS_PATH: &str = "its upstream may read its path as another (`%`, `;` or `#` in a name)";

/// What settings and policy have to know of a format.
pub(crate) trait FormatRules: Sync {
    /// Its name in settings and journal rows.
    fn name(&self) -> &'static str;

    /// Checks the settings that repositories of this format have and no others, and brings them into the form in which they are
    /// kept. It is called for every repository; `own` says whether the repository is of this format.
    fn settle(&self, record: &mut RepositoryRecord, own: bool) -> Result<(), BadSetting>;

    /// The same for the settings that hosted repositories of this format have and no others. `own` says whether the repository is one.
    fn settle_hosted(&self, record: &mut RepositoryRecord, own: bool) -> Result<(), BadSetting>;

    /// The settings that hosted repositories of this format have and no others, as the API shows them.
    fn hosted_settings(&self, record: &RepositoryRecord) -> Value;

    /// Whether its repositories have an `/info`, so that `info_format` is a setting of theirs.
    fn has_info(&self) -> bool;

    /// Whether what hosted repositories publish are packages, which can be counted.
    fn has_packages(&self) -> bool;

    /// Whether its repositories are trees of files that are read and written by their paths.
    fn is_tree(&self) -> bool;

    /// The refusal to list or to change a repository of this name file by file. `None`: that can be done.
    fn refuses_files(&self, name: &str) -> Option<BadSetting>;

    /// A row of a hosted repository. `None`: no policy is about it.
    fn entry<'a>(&self, entry: &'a Entry) -> Option<Coordinates<'a>>;

    /// A row of a hosted repository as the journal lists it: with all that tells its file from others of the version. A file that is of
    /// no package is named by its path.
    fn listed<'a>(&self, entry: &'a Entry) -> Coordinates<'a>;

    /// What a unit of the journal is about.
    fn unit<'a>(&self, unit: &'a str) -> Coordinates<'a>;

    /// The package that `package` is a checksum of, where checksums are packages of their own.
    fn checksum_of<'a>(&self, package: &'a str) -> Option<&'a str>;

    /// How patterns are written.
    fn patterns(&self) -> &'static PatternSyntax;

    /// The names that tell a version from others, in the order in which patterns have them.
    fn fields<'a>(&self, package: &'a str, version: &'a str) -> [Option<&'a str>; 3];

    /// How private prefixes are written.
    fn prefixes(&self) -> &'static PrefixSyntax;

    /// The name of a package as private prefixes are compared with it.
    fn prefixed<'a>(&self, package: &'a str) -> Cow<'a, str>;

    /// Why a path may name no package: the client is told this with the refusal.
    fn unclassified(&self) -> &'static str;
}
