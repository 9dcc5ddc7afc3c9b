//! A package and its versions: the values of the API and of the pages.

use crate::{Links, Moment, Shell};
use askama::Template;
use serde::Serialize;

/// A package with its versions.
#[derive(Debug, Clone, Serialize)]
pub struct Package {
    /// The repository as the URL names it, with the moment if it has one.
    pub repository: String,
    /// The name of the package.
    pub package: String,
    /// The format of the repository.
    pub format: &'static str,
    /// The latest release that clients get; without one, the latest version.
    pub latest: Option<String>,
    /// What the latest release declares about itself.
    pub about: Option<About>,
    /// How clients use the latest release.
    pub snippets: Vec<Snippet>,
    /// The number of versions, and how many of them clients get.
    pub total: usize,
    /// How many of them clients get.
    pub visible: usize,
    /// The versions of this part of the list, the newest first.
    pub versions: Vec<VersionLine>,
    /// The `after` of the next part; `None`: this is the last one.
    pub next: Option<String>,
    /// Of a group: its members that have or may have the package, as far as the caller may read them.
    pub members: Vec<Member>,
    /// Facts that limit the answer, in sentences.
    pub notes: Vec<String>,
}

/// One version in a list.
#[derive(Debug, Clone, Serialize)]
pub struct VersionLine {
    /// The version as URLs name it.
    pub version: String,
    /// The platform, in formats that have platforms.
    pub platform: Option<String>,
    /// `visible`: clients get it. `unlisted`: only clients that name it get it, from the cache: its upstream does not list it any more.
    /// `hidden`: they do not. `yanked`, `deleted`, `cleaned_up`, `purged`: it is not published any more.
    pub state: &'static str,
    /// When it was published in this server; of an upstream's version null.
    pub published: Option<Moment>,
    /// The name of the token that published it in this server.
    pub by: Option<String>,
    /// Its original publication elsewhere.
    pub origin: Option<Origin>,
    /// Of an upstream's version: the date that its age counts from.
    pub dated: Option<Moment>,
    /// Of an upstream's version: when this server first saw it.
    pub first_seen: Option<Moment>,
    /// Of an upstream's version: since when files of it are cached.
    pub cached: Option<Moment>,
    /// Of a group: the member that has it. Null: the caller may not read the member, or it is no group.
    pub member: Option<String>,
    /// The exceptions that let it through, in words.
    pub let_through: Option<String>,
    /// Why clients do not get it.
    pub hidden: Option<HiddenBy>,
    /// When it ceased to be published.
    pub gone: Option<Moment>,
}

/// The publication of a version on another server, before it was imported.
#[derive(Debug, Clone, Serialize)]
pub struct Origin {
    /// When.
    pub at: Moment,
    /// Who published it there, if that is known.
    pub by: Option<String>,
    /// The name of the token that claimed it.
    pub claimed_by: Option<String>,
}

/// Why clients do not get a version.
#[derive(Debug, Clone, Serialize)]
pub struct HiddenBy {
    /// `cooldown`, `deny`, `allow`, `private`, `origin`, `as_of` or `unclassified`.
    pub rule: &'static str,
    /// The reason in words.
    pub why: String,
    /// The repository that has the policy, if the caller may read it.
    pub repository: Option<String>,
    /// Since when, where that is known: of a cooldown the date that the age counts from.
    pub since: Option<Moment>,
    /// Until when, if it ends by itself.
    pub until: Option<Moment>,
    /// The remedy in words.
    pub hint: Option<String>,
    /// The command that lets it through.
    pub command: Option<String>,
}

/// A member of a group, and whether it answers for a package.
#[derive(Debug, Clone, Serialize)]
pub struct Member {
    /// Its name.
    pub repository: String,
    /// Whether its versions are a part of the answer.
    pub answers: bool,
    /// Why not, or why its versions are not known.
    pub why: Option<String>,
}

/// Lines that a person copies to use a version.
#[derive(Debug, Clone, Serialize)]
pub struct Snippet {
    /// The file or the program.
    pub title: String,
    /// The lines.
    pub lines: String,
}

/// What a version declares about itself.
#[derive(Debug, Clone, Default, Serialize)]
pub struct About {
    /// The display name or the summary.
    pub summary: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The home page as declared.
    pub homepage: Option<String>,
    /// The names of licences.
    pub licenses: Vec<String>,
    /// The authors.
    pub authors: Vec<String>,
    /// The packaging, in formats that have one.
    pub packaging: Option<String>,
}

/// A page about a package.
#[derive(Debug, Template)]
#[template(path = "package.html")]
pub struct PackagePage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The package.
    pub package: &'a Package,
}

impl About {
    /// The home page, if it is a link that a browser may follow: `http` or `https`.
    pub fn link(&self) -> Option<&str> {
        let link = self.homepage.as_deref()?.trim();
        let scheme = link.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        let is_web = matches!(scheme.as_deref(), Some("http" | "https"));
        (is_web && !link.contains(|c: char| c.is_control() || c.is_whitespace())).then_some(link)
    }
}

impl Package {
    /// The URL of a version.
    pub fn version_url(&self, links: &Links, version: &str) -> String {
        links.version(&self.repository, &self.package, version)
    }

    /// The URL of the next part of the list.
    pub fn next_url(&self, links: &Links) -> Option<String> {
        self.next.as_ref().map(|next| links.package_after(&self.repository, &self.package, next))
    }

    /// How many versions are in other parts of the list.
    pub fn others(&self) -> usize {
        self.total.saturating_sub(self.versions.len())
    }
}

impl VersionLine {
    /// The words of its tag.
    pub fn tag(&self) -> &'static str {
        match (self.state, self.hidden.as_ref().map(|hidden| hidden.rule)) {
            ("hidden", Some("cooldown")) => "hidden: too young",
            ("hidden", Some("deny")) => "hidden: denied",
            ("hidden", Some("allow")) => "hidden: not allowed",
            ("hidden", Some("private")) => "hidden: private name",
            ("hidden", Some("origin")) => "hidden: another member answers",
            ("hidden", Some("as_of")) => "published later",
            ("hidden", _) => "hidden",
            ("unlisted", _) => "cached, not listed by its upstream any more",
            ("yanked", _) => "yanked",
            ("deleted", _) => "deleted",
            ("cleaned_up", _) => "removed by cleanup",
            ("purged", _) => "purged",
            _ => "visible",
        }
    }

    /// The class of its tag.
    pub fn tag_class(&self) -> &'static str {
        match self.state {
            "visible" => "good",
            "hidden" | "unlisted" => "warn",
            _ => "bad",
        }
    }

    /// The date for a list: of the first publication, or the first sight.
    pub fn date(&self) -> Option<&Moment> {
        let origin = self.origin.as_ref().map(|origin| &origin.at);
        origin.or(self.published.as_ref()).or(self.dated.as_ref()).or(self.first_seen.as_ref())
    }
}
