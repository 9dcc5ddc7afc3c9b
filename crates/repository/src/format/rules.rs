//! The rules of a format that settings and policies need. Each format implements them in its own folder.
//!
//! The trait has no default methods. A new format does not compile until it answers each question, so no file is shown,
//! and no upstream is called, by oversight.

use crate::bad_setting::BadSetting;
use crate::cleanup::used_name::UsedName;
use crate::record::RepositoryRecord;
use serde_json::Value;
use std::borrow::Cow;
use store::Entry;

/// A package and one of its versions, as the format names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Coordinates<'a> {
    pub(crate) package: Cow<'a, str>,
    /// Empty: all versions.
    pub(crate) version: Cow<'a, str>,
}

/// The syntax of policy patterns.
#[derive(Debug)]
pub(crate) struct PatternSyntax {
    /// The number of fields that name a version. Colons separate them.
    pub(crate) fields: usize,
    /// Whether the last field may contain colons.
    pub(crate) last_holds_colons: bool,
    /// Example patterns for a hint.
    pub(crate) examples: &'static str,
}

/// The syntax of private prefixes.
#[derive(Debug)]
pub(crate) struct PrefixSyntax {
    /// The character that may follow a prefix; `None`: any character.
    pub(crate) separator: Option<char>,
    /// An example prefix for a hint.
    pub(crate) example: &'static str,
}

/// Where in a hosted repository everything of a name is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NamePlace<'a> {
    /// In the unit of this name.
    Unit(&'a str),
    /// In the subfolders of this folder. Folders further down are those of other names.
    Folder(&'a str),
    /// At this key.
    Key(&'a str),
}

/// Why the path of a raw file may be ambiguous: the answer to [`FormatRules::unclassified`] for formats whose names are
/// paths.
pub(crate) const AMBIGUOUS_PATH: &str = "its upstream may read its path as another (`%`, `;` or `#` in a name)";

/// The rules of a format that settings and policies need.
pub(crate) trait FormatRules: Sync {
    /// Its name in settings and journal rows.
    fn name(&self) -> &'static str;

    /// Whether an upstream may have another file for each query of a path.
    fn has_queries(&self) -> bool;

    /// Checks the settings that only repositories of this format have, and normalises them. It is called for every
    /// repository; `own` says whether the repository is of this format.
    fn settle(&self, record: &mut RepositoryRecord, own: bool) -> Result<(), BadSetting>;

    /// The same for settings that only hosted repositories of this format have. `own` says whether the repository is
    /// one.
    fn settle_hosted(&self, record: &mut RepositoryRecord, own: bool) -> Result<(), BadSetting>;

    /// The settings that only hosted repositories of this format have, as the API shows them.
    fn hosted_settings(&self, record: &RepositoryRecord) -> Value;

    /// Whether its repositories have an `/info`. If so, `info_format` is a setting of theirs.
    fn has_info(&self) -> bool;

    /// Whether its hosted repositories publish packages, which can be counted.
    fn has_packages(&self) -> bool;

    /// Whether its repositories are trees of files that clients read and write by path.
    fn is_tree(&self) -> bool;

    /// The refusal to list or change the repository `name` file by file; `None`: both are possible.
    fn refuses_files(&self, name: &str) -> Option<BadSetting>;

    /// The package and version of a hosted entry; `None`: no policy applies to it.
    fn entry<'a>(&self, entry: &'a Entry) -> Option<Coordinates<'a>>;

    /// The package and version of a hosted entry as the journal lists it, with everything that distinguishes its file
    /// from others of the version. A file that belongs to no package is named by its path.
    fn listed<'a>(&self, entry: &'a Entry) -> Coordinates<'a>;

    /// The package and version of a unit of the journal.
    fn unit<'a>(&self, unit: &'a str) -> Coordinates<'a>;

    /// What the facts in a row about an upstream say, in words. `None`: the unit says enough.
    fn first_seen(&self, _unit: &str, _seen: &Value) -> Option<String> {
        None
    }

    /// The package whose checksum `package` is, in formats where checksums are packages of their own.
    fn checksum_of<'a>(&self, package: &'a str) -> Option<&'a str>;

    /// The syntax of patterns.
    fn patterns(&self) -> &'static PatternSyntax;

    /// The fields that identify a version, in the order of patterns.
    fn fields<'a>(&self, package: &'a str, version: &'a str) -> [Option<&'a str>; 3];

    /// The syntax of private prefixes.
    fn prefixes(&self) -> &'static PrefixSyntax;

    /// The name of the package in the form that private prefixes are compared with.
    fn prefixed<'a>(&self, package: &'a str) -> Cow<'a, str>;

    /// Whether an upstream may answer for another spelling of a name, in capital or small letters: where names are paths, and the files of
    /// some upstreams and clients are on file systems that take both for one.
    fn names_ignore_case(&self) -> bool;

    /// Why a path may not identify a package. The refusal shows this text.
    fn unclassified(&self) -> &'static str;

    /// The kind of file in events whose answers count as downloads of a package.
    fn download(&self) -> &'static str;

    /// The name under which the use of a file is recorded, by its kind in events; `None`: the format has no published file of that
    /// kind. Files that are known by their paths alone have the kind `file` in all formats.
    fn used_name<'a>(&self, file: &str, package: &'a str, version: &'a str) -> Option<UsedName<'a>>;

    /// Whether a name that a search finds is that of a package, and not the path of a file.
    fn is_package(&self, name: &str) -> bool;

    /// The path that commands mean by `what`: a path, or a package or version in the form that commands print.
    fn named_path<'a>(&self, what: &'a str) -> Cow<'a, str>;

    /// The path of the file to explain: `path` itself, the main file of the version with that name, or the list of the versions of the
    /// package with that name.
    fn explained_path<'a>(&self, path: &'a str) -> Cow<'a, str>;

    /// The path of any file in a package, in formats whose packages are folders.
    fn path_in_package(&self, package: &str) -> Option<String>;

    /// The path at which clients get the file of an entry, and its package and version in the form of pages.
    fn published_at(&self, entry: &Entry) -> (String, Option<(String, String)>);

    /// The name with which commands restore the file of an entry.
    fn restored_as(&self, entry: &Entry) -> String;

    /// The folder of the version that a file belongs to, with a slash at its end, and the name with which commands restore all of it,
    /// in formats whose versions are folders.
    fn version_folder(&self, path: &str) -> Option<(String, String)>;

    /// Whether owners withdraw versions and undo that, which is called a yank.
    fn has_yanks(&self) -> bool;

    /// The fields with moments in facts of units, which a decision about the clock dates again.
    fn moments(&self) -> &'static [&'static str];

    /// The name that the entries of a unit of a hosted repository keep from the upstreams of groups.
    fn kept_by_unit(&self, unit: &str) -> String;

    /// Where in a hosted repository everything of a kept name is.
    fn name_place<'a>(&self, name: &'a str) -> NamePlace<'a>;
}
