//! A package and its versions: the values of the API and of the pages.

use crate::{Links, Moment, Shell};
use askama::Template;
use schemars::JsonSchema;
use serde::Serialize;
use std::net::Ipv6Addr;

/// A package with its versions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Package {
    /// The repository as the URL names it, with the moment if it has one.
    pub repository: String,
    /// The name of the package.
    pub package: String,
    /// The format of the repository.
    pub format: &'static str,
    /// The latest release that clients get; without one, the latest version.
    pub latest: Option<String>,
    /// The meaning of `latest`. `release`: the latest release. `version`: the latest version; there is no release. `newest_known`,
    /// `newest_cached`: the newest version that is known or cached here; an upstream may have newer ones.
    #[schemars(extend("enum" = ["release", "version", "newest_known", "newest_cached"]))]
    pub latest_is: &'static str,
    /// What the latest release declares about itself.
    pub about: Option<About>,
    /// How clients use the latest release.
    pub snippets: Vec<Snippet>,
    /// The number of versions, including versions that clients do not get.
    pub total: usize,
    /// How many versions clients get.
    pub visible: usize,
    /// The newest first.
    pub versions: Vec<VersionLine>,
    /// What to give as `after` for the next part, which may be empty; null: this was the last.
    pub next: Option<String>,
    /// Of a group: its members that have or may have the package, as far as the caller may read them.
    pub members: Vec<Member>,
    /// Facts that limit the answer.
    pub notes: Vec<String>,
}

/// One version in a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VersionLine {
    /// The version; of a gem for a platform `VERSION-PLATFORM`.
    pub version: String,
    /// The platform, in formats that have platforms.
    pub platform: Option<String>,
    /// `visible`: clients get it. `unlisted`: its upstream does not list it any more, and clients that name it get the cached files.
    #[schemars(extend("enum" = ["visible", "unlisted", "hidden", "yanked", "deleted", "cleaned_up", "purged"]))]
    pub state: &'static str,
    /// When it was published in this server.
    pub published: Option<Moment>,
    /// The name of the token that published it in this server.
    pub by: Option<String>,
    /// Its original publication elsewhere.
    pub origin: Option<Origin>,
    /// The publication of an upstream's version, as the upstream states it.
    pub stated: Option<Moment>,
    /// The date that the age of an upstream's version counts from.
    pub dated: Option<Moment>,
    /// When this server first saw an upstream's version.
    pub first_seen: Option<Moment>,
    /// Since when files of an upstream's version are cached.
    pub cached: Option<Moment>,
    /// Of a group: the member that has it, if the caller may read the member.
    pub member: Option<String>,
    /// The exceptions that let it through.
    pub let_through: Option<String>,
    /// Why clients do not get it.
    pub hidden: Option<HiddenBy>,
    /// When it ceased to be published.
    pub gone: Option<Moment>,
}

/// The publication on another server, before the import.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "VersionOrigin")]
pub struct Origin {
    /// When.
    pub at: Moment,
    /// Who published it there, if that is known.
    pub by: Option<String>,
    /// The name of the token that claimed it.
    pub claimed_by: Option<String>,
}

/// Why clients do not get a version.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HiddenBy {
    /// `origin`: another member of the group answers for the name. `as_of`: it was published after the moment of the view.
    #[schemars(extend("enum" = ["cooldown", "deny", "allow", "private", "origin", "as_of", "unclassified"]))]
    pub rule: &'static str,
    /// The reason in words.
    pub why: String,
    /// The repository that has the policy, if the caller may read it.
    pub repository: Option<String>,
    /// The date that its age counts from.
    pub since: Option<Moment>,
    /// When it becomes visible by itself.
    pub until: Option<Moment>,
    /// The remedy in words.
    pub hint: Option<String>,
    /// The command with which an administrator lets it through.
    pub command: Option<String>,
}

/// A member of a group, and whether it answers for a package.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "PackageMember")]
pub struct Member {
    /// Its name.
    pub repository: String,
    /// Whether its versions are a part of the answer.
    pub answers: bool,
    /// `unknown`: no version is known here, and its upstream may have some. `outranked`: it has versions, and another member answers.
    /// `not_asked`: it is not asked for the name. `failed`: its versions could not be read.
    #[schemars(extend("enum" = ["answers", "has_none", "unknown", "outranked", "not_asked", "failed"]))]
    pub part: &'static str,
    /// Why it has this part.
    pub why: Option<String>,
}

/// Lines that a person copies to use a version.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Snippet {
    /// The file or the program.
    pub title: String,
    /// The lines.
    pub lines: String,
}

impl Snippet {
    /// The lines for a file or a program.
    pub fn new(title: &str, lines: String) -> Self {
        Self { title: title.to_owned(), lines }
    }
}

/// What a version declares about itself.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct About {
    /// The display name or the summary.
    pub summary: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The home page as declared.
    pub homepage: Option<String>,
    /// Links to other pages about it, with `http` or `https`.
    pub links: Vec<AboutLink>,
    /// The names of licences.
    pub licenses: Vec<String>,
    /// The authors.
    pub authors: Vec<String>,
    /// The packaging, in formats that have one.
    pub packaging: Option<String>,
}

/// A link to a page about a package, with `http` or `https`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AboutLink {
    /// `changelog`, `source`, `documentation` or `bugs`.
    #[schemars(extend("enum" = ["changelog", "source", "documentation", "bugs"]))]
    pub kind: &'static str,
    /// The URL.
    pub url: String,
}

/// A page about a package.
#[derive(Debug, Template)]
#[template(path = "package.html")]
pub struct PackagePage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The package.
    pub package: &'a Package,
    /// Whether packages of the format have a README.
    pub has_readmes: bool,
}

impl About {
    /// The home page, if it is a link that a browser may follow.
    pub fn link(&self) -> Option<&str> {
        AboutLink::checked(self.homepage.as_deref()?)
    }
}

impl AboutLink {
    /// The text, if it is a link that a browser may follow: `http` or `https`, and a host that people and browsers read alike. A browser
    /// takes a backslash for a slash, skips slashes before a host, and does not show a user and password (WHATWG URL, section 4.4).
    pub fn checked(text: &str) -> Option<&str> {
        let link = text.trim();
        let (scheme, rest) = link.split_once("://")?;
        let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
        let is_odd = link.contains(|c: char| c == '\\' || c.is_control() || c.is_whitespace());
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        (is_web && !is_odd && has_host(authority)).then_some(link)
    }

    /// The content of the page, in words.
    pub fn words(&self) -> &'static str {
        match self.kind {
            "changelog" => "Changelog",
            "source" => "Source code",
            "documentation" => "Documentation",
            _ => "Bugs",
        }
    }
}

/// Whether it is a host with or without a port, and without a user (RFC 3986, section 3.2).
fn has_host(authority: &str) -> bool {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !authority.ends_with(']') => (host, port),
        _ => (authority, "80"),
    };
    let is_name = |host: &str| {
        host.starts_with(|c: char| c.is_ascii_alphanumeric())
            && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'))
    };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_host = address.map_or_else(|| is_name(host), |address| address.parse::<Ipv6Addr>().is_ok());
    is_host && port.bytes().all(|digit| digit.is_ascii_digit())
}

/// The meaning of a latest version in words.
pub(crate) fn latest_words(latest_is: &str) -> &'static str {
    match latest_is {
        "newest_cached" => "the newest cached version",
        "newest_known" => "the newest version known here",
        "version" => "the latest version; there is no release",
        _ => "the latest release",
    }
}

impl Member {
    /// Its part in words.
    pub fn words(&self) -> &'static str {
        match self.part {
            "answers" => "answers",
            "has_none" => "has none",
            "unknown" => "nothing of it is known here",
            "outranked" => "has it, and another member answers",
            "not_asked" => "is not asked for it",
            _ => "could not be read",
        }
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

    /// The meaning of its latest version in words.
    pub fn latest_words(&self) -> &'static str {
        latest_words(self.latest_is)
    }

    /// Two versions to compare: the newest that clients get, and the one before.
    fn pair(&self) -> Option<(&str, &str)> {
        let mut visible = self.versions.iter().filter(|line| line.state == "visible").map(|line| line.version.as_str());
        let newest = visible.next()?;
        Some((visible.next()?, newest))
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

    /// The date for a list, and what happened then: its first publication, or else the first that is known of it here.
    pub fn date(&self) -> Option<(&'static str, &Moment)> {
        let origin = self.origin.as_ref().map(|origin| ("published elsewhere", &origin.at));
        let stated = || self.stated.as_ref().map(|at| ("published, says its upstream", at));
        let here = || self.published.as_ref().map(|at| ("published here", at));
        origin.or_else(here).or_else(stated).or_else(|| self.first_known())
    }

    /// When it was first seen or cached here, whichever was first.
    pub fn first_known(&self) -> Option<(&'static str, &Moment)> {
        let cached = self.cached.as_ref().map(|at| ("first cached", at));
        let seen = self.first_seen.as_ref().map(|at| ("first seen here", at));
        match (cached, seen) {
            (Some(cached), Some(seen)) => Some(if cached.1 <= seen.1 { cached } else { seen }),
            (cached, seen) => cached.or(seen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_names_its_host_plainly_becomes_a_link() {
        for link in [
            "https://example.org",
            "HTTP://example.org:8080/a@b?c=d#e",
            "http://[2001:db8::1]:80/",
            " http://192.0.2.1/ ",
            "https://a_b.example./x",
        ] {
            assert_eq!(AboutLink::checked(link), Some(link.trim()));
        }
        for other in [
            "javascript:alert(1)//http://x",
            "https://user:pw@evil.example/",
            "https://good.example@evil.example/",
            "http://x\\@evil",
            "http://x/\\evil",
            "https:////evil",
            "https:///evil",
            "http://",
            "http://:80/",
            "http://x:8o/",
            "http://[::1/",
            "http://x\"onmouseover=\"alert(1)",
            "https://exam ple.org/",
        ] {
            assert_eq!(AboutLink::checked(other), None, "{other}");
        }
    }
}
