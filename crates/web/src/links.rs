//! The URLs of pages. Only this file writes them; the router of the program reads them, and a test compares the two.

use format::percent::{self, segment};
use format::tree::split_query;

/// The URLs of the pages of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links {
    /// The text before each path: empty, `/prefix` behind a proxy that adds one, or a URL.
    base: String,
}

impl Links {
    /// The links of a server at this URL, without a slash at the end. Links of pages have no scheme and no host, so they hold behind
    /// any proxy that keeps the path.
    pub fn new(server: &str) -> Self {
        let after = server.split_once("://").map_or(server, |(_, after)| after);
        let base = after.find('/').map_or("", |at| &after[at..]);
        Self { base: base.trim_end_matches('/').to_owned() }
    }

    /// The same links with scheme and host, for readers outside a browser.
    pub fn absolute(server: &str) -> Self {
        Self { base: server.trim_end_matches('/').to_owned() }
    }

    /// The first page.
    pub fn home(&self) -> String {
        format!("{}/", self.base)
    }

    /// The answers to a search. Empty text: the page with the empty form.
    pub fn search(&self, text: &str) -> String {
        match text {
            "" => format!("{}/search", self.base),
            text => format!("{}/search?q={}", self.base, segment(text)),
        }
    }

    /// The part of the answers to a search after the `next` of another part; of one repository, if it has a name.
    pub fn search_after(&self, text: &str, repository: Option<&str>, after: &str) -> String {
        let only = repository.map(|name| format!("&repository={}", segment(name))).unwrap_or_default();
        format!("{}{only}&after={}", self.search(text), segment(after))
    }

    /// The description of the search for browsers.
    pub fn opensearch(&self) -> String {
        format!("{}/opensearch.xml", self.base)
    }

    /// A repository: its description and the lines to configure clients.
    pub fn repository(&self, repository: &str) -> String {
        format!("{}/repository/{}/", self.base, segment(repository))
    }

    /// The content of a repository, one level below `path`. Empty path: its root.
    pub fn browse(&self, repository: &str, path: &str) -> String {
        format!("{}/browse/{}/{}", self.base, segment(repository), self::path(path))
    }

    /// The part of a level after the item with this key.
    pub fn browse_after(&self, repository: &str, path: &str, after: &str) -> String {
        format!("{}?after={}", self.browse(repository, path), segment(after))
    }

    /// A file, as clients get it. The path may end with a query.
    pub fn file(&self, repository: &str, path: &str) -> String {
        let (path, query) = split_query(path);
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}/repository/{}/{}{query}", self.base, segment(repository), self::path(path))
    }

    /// The packages of a repository.
    pub fn packages(&self, repository: &str) -> String {
        format!("{}/packages/{}", self.base, segment(repository))
    }

    /// The packages of a repository after this one.
    pub fn packages_after(&self, repository: &str, package: &str) -> String {
        format!("{}?after={}", self.packages(repository), segment(package))
    }

    /// The packages of a repository that depend on one.
    pub fn dependents(&self, repository: &str, package: &str) -> String {
        format!("{}?dependents=true", self.package(repository, package))
    }

    /// The same after this one.
    pub fn dependents_after(&self, repository: &str, package: &str, after: &str) -> String {
        format!("{}&after={}", self.dependents(repository, package), segment(after))
    }

    /// A package: the name of a gem, or `GROUP:ARTIFACT`.
    pub fn package(&self, repository: &str, package: &str) -> String {
        format!("{}/packages/{}/{}", self.base, segment(repository), segment(package))
    }

    /// The downloads of a package by day.
    pub fn downloads(&self, repository: &str, package: &str) -> String {
        format!("{}?downloads=true", self.package(repository, package))
    }

    /// The difference of two versions of a package.
    pub fn difference(&self, repository: &str, package: &str, from: &str, to: &str) -> String {
        format!("{}?from={}&to={}", self.package(repository, package), segment(from), segment(to))
    }

    /// The README of a version.
    pub fn readme(&self, repository: &str, package: &str, version: &str) -> String {
        format!("{}?readme=true", self.version(repository, package, version))
    }

    /// The versions of a package after `version` in the list, which has the newest first.
    pub fn package_after(&self, repository: &str, package: &str, version: &str) -> String {
        format!("{}?after={}", self.package(repository, package), segment(version))
    }

    /// One version of a package. Of a gem for a platform it is `VERSION-PLATFORM`.
    pub fn version(&self, repository: &str, package: &str, version: &str) -> String {
        format!("{}/{}", self.package(repository, package), segment(version))
    }

    /// Why a path of a repository is answered as it is. The slashes of the path stay, so that people can read the URL in the output of a
    /// build.
    pub fn explain(&self, repository: &str, path: &str) -> String {
        format!("{}?repository={}&path={}", self.explain_form(), segment(repository), self::path(path))
    }

    /// The same as of a moment.
    pub fn explain_as_of(&self, repository: &str, path: &str, as_of: &str) -> String {
        format!("{}&as_of={}", self.explain(repository, path), segment(as_of))
    }

    /// The form that asks for an explanation.
    pub fn explain_form(&self) -> String {
        format!("{}/explain", self.base)
    }

    /// The event of an answer, by its id.
    pub fn event(&self, id: &str) -> String {
        format!("{}/events/{}", self.base, segment(id))
    }

    /// The answer to a question about events. Empty text: the page with the empty form.
    pub fn ask(&self, question: &str) -> String {
        match question {
            "" => format!("{}/ask", self.base),
            question => format!("{}/ask?q={}", self.base, segment(question)),
        }
    }

    /// The metrics for Prometheus.
    pub fn metrics(&self) -> String {
        format!("{}/metrics", self.base)
    }

    /// The form to sign in.
    pub fn sign_in(&self) -> String {
        format!("{}/sign-in", self.base)
    }

    /// Where the form to sign out is sent.
    pub fn sign_out(&self) -> String {
        format!("{}/sign-out", self.base)
    }

    /// A stylesheet or a script.
    pub fn asset(&self, name: &str) -> String {
        format!("{}/assets/{name}", self.base)
    }
}

/// A path with each segment encoded.
fn path(path: &str) -> String {
    path.split('/').map(percent::segment).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_keep_the_prefix_of_a_proxy_and_nothing_else_of_the_url() {
        for (server, home) in [
            ("http://127.0.0.1:8080", "/"),
            ("https://packages.example.test", "/"),
            ("https://example.test/packages", "/packages/"),
            ("https://example.test/a/b/", "/a/b/"),
        ] {
            assert_eq!(Links::new(server).home(), home, "{server}");
        }
    }

    #[test]
    fn no_name_adds_a_segment_a_query_or_a_fragment() {
        let links = Links::new("http://here.test");
        assert_eq!(links.package("a/b", "x?y#z"), "/packages/a%2Fb/x%3Fy%23z");
        assert_eq!(links.browse("raw", "a b/c&d"), "/browse/raw/a%20b/c%26d");
        assert_eq!(links.explain("maven", "org/x/1.0/x.jar"), "/explain?repository=maven&path=org/x/1.0/x.jar");
        assert_eq!(links.explain("raw", "a b&c=d#e\r\n"), "/explain?repository=raw&path=a%20b%26c%3Dd%23e%0D%0A");
    }
}
