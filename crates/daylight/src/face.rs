//! How the clients of a format are spoken to, and what commands and pages do by format. Each format has a folder here, with its [`Face`].
//!
//! No field has a default: a new format does not compile until it answers each question.

use crate::cli::export::place::{ExportJob, Placed};
use crate::config::{Upstream, UpstreamUrl};
use format::gem::info::FormatVersion;
use repository::{DeclaredFacts, Format, Repository, RepositoryRecord, Scope};
use web::{Document, Snippet};

/// The vocabulary of a hint: that of the clients of a format, or (`None`) that of HTTP.
pub(crate) type Words = Option<Format>;

/// How clients reach a repository.
pub(crate) struct Usage<'a> {
    pub(crate) repository: &'a Repository,
    /// Its URL, without a slash at the end.
    pub(crate) url: &'a str,
}

/// How clients reach a version of a package.
pub(crate) struct VersionUsage<'a> {
    pub(crate) repository: &'a Repository,
    /// The URL of the repository, without a slash at the end.
    pub(crate) url: &'a str,
    pub(crate) package: &'a str,
    /// The version without a platform.
    pub(crate) number: &'a str,
    pub(crate) declared: Option<&'a DeclaredFacts>,
}

/// The remote repository of a new data folder.
pub(crate) struct DefaultRemote<'a> {
    pub(crate) name: &'static str,
    /// The URL of its upstream; `None`: the settings name none.
    pub(crate) url: Option<&'a UpstreamUrl>,
    /// Whether the URL is that of the program, which the settings do not change.
    pub(crate) is_unchanged: bool,
}

/// What the clients of a format are told, and what commands and pages do by format.
pub(crate) struct Face {
    /// Its name in the help of `--format`, with its purpose if the name does not tell it.
    pub(crate) option: &'static str,
    /// The word for its packages, as in "hosted gem repository".
    pub(crate) noun: &'static str,
    /// The first characters of the `User-Agent` of each of its clients.
    pub(crate) agents: &'static [&'static str],
    /// Whether its clients print the body of an error unchanged, so that they get text. Others get problems (RFC 9457).
    pub(crate) prints_bodies: bool,
    /// Whether its clients show only the detail of a problem, so that the detail ends with the hint and the link.
    pub(crate) shows_details_only: bool,
    /// The environment variable from which its clients take a token.
    pub(crate) token_variable: &'static str,
    /// Where its clients take a token of a scope from.
    pub(crate) token_source: fn(Scope) -> &'static str,
    /// Where its clients store a token that no longer works.
    pub(crate) token_store: &'static str,
    /// The end of the hint for a client whose token is not for the repository, which may be a group.
    pub(crate) about_groups: &'static str,
    /// The remedy for a path of its protocol that lacks the repository.
    pub(crate) without_repository: fn(&[&str]) -> Option<&'static str>,
    /// How a client, in its words, makes the change of a path in the repository at a URL instead.
    pub(crate) elsewhere: fn(url: &str, path: &str, Words) -> String,
    /// The hint for somebody who looks for hidden versions of a repository that clients did not request.
    pub(crate) unrequested: fn(&str) -> Option<String>,
    /// The field with the package, in formats whose clients may publish with a form.
    pub(crate) upload_field: Option<&'static str>,
    /// The error if an upload cannot be written.
    pub(crate) unsaved: fn(store::Error) -> repository::Error,
    /// Adds the lines with which clients read from a repository to its page.
    pub(crate) usage: fn(&Usage<'_>, &mut Document),
    /// The lines that publish to the hosted repository at a URL.
    pub(crate) publishing: fn(&Usage<'_>, url: &str) -> String,
    /// The lines with which clients use a version, one snippet for each client.
    pub(crate) snippets: fn(&VersionUsage<'_>) -> Vec<Snippet>,
    /// The command for the first upload to the repository at a URL, if there is one for all projects.
    pub(crate) first_push: fn(url: &str) -> Option<String>,
    /// The commands in a project that fetch its packages through the repository at a URL.
    pub(crate) first_fetch: fn(url: &str) -> Option<String>,
    /// Whether its packages have a README.
    pub(crate) has_readmes: bool,
    /// Whether the top level of a repository lists the names of packages, and a level below it their versions.
    pub(crate) browses_names: bool,
    /// Whether its repositories have an index of all packages. It can be checked, and each name has one owner in a group.
    pub(crate) has_index: bool,
    /// The word for exported files.
    pub(crate) exported: &'static str,
    /// Writes all files of a repository into a folder.
    pub(crate) export: fn(&ExportJob<'_>) -> anyhow::Result<Vec<Placed>>,
    /// The hosted repositories of a new data folder, with the default for the format of `/info`.
    pub(crate) default_hosted: fn(FormatVersion) -> Vec<RepositoryRecord>,
    /// The remote repository of a new data folder.
    pub(crate) default_remote: fn(&Upstream) -> Option<DefaultRemote<'_>>,
    /// The name of the group of a new data folder, which joins all its repositories of the format.
    pub(crate) default_group: Option<&'static str>,
}
