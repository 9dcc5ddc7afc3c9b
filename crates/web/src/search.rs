//! The answers to a search.

use crate::browse::HiddenReason;
use crate::links::Links;
use crate::shell::Shell;
use askama::Template;
use schemars::JsonSchema;
use serde::Serialize;

/// A part of the answers to a search.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Search {
    /// The text that was searched.
    pub query: String,
    /// The number of all answers in the repositories that the caller may read.
    pub count: u64,
    /// Equal names first, then names that begin so, then names with the words, then names that contain them.
    pub results: Vec<SearchResult>,
    /// What to give as `after` for the next part, which may be empty; null: this was the last.
    pub next: Option<String>,
    /// The repositories whose names are still being read, so that answers may be missing.
    pub incomplete: Vec<String>,
}

/// A package or a file that was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SearchResult {
    /// The repository.
    pub repository: String,
    /// The format of the repository.
    pub format: &'static str,
    /// Published here, kept in the cache, or only listed by the index of the upstream.
    #[schemars(extend("enum" = ["hosted", "cached", "known"]))]
    pub state: &'static str,
    /// `GROUP:ARTIFACT`, the name of a gem, or the path of a file.
    pub name: String,
    /// The package that it is or belongs to.
    pub package: Option<String>,
    /// The latest version that clients get; of a file its version.
    pub version: Option<String>,
    /// The path, if it is a file.
    pub path: Option<String>,
    /// The size of the file in bytes.
    pub size_bytes: Option<u64>,
    /// Why clients get no version of it, or not the file; null: they do.
    pub hidden: Option<HiddenReason>,
}

/// The page with the answers to a search.
#[derive(Debug, Template)]
#[template(path = "search.html")]
pub struct SearchPage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The answers. `None`: nothing was searched yet.
    pub search: Option<&'a Search>,
    /// The only repository that was searched, if the URL names one.
    pub repository: Option<&'a str>,
}

/// The description of the search for browsers (OpenSearch 1.1).
#[derive(Debug, Template)]
#[template(path = "opensearch.xml", escape = "html")]
pub struct OpenSearch<'a> {
    /// The URL of the search with the placeholder for its text.
    pub url: &'a str,
}

impl SearchPage<'_> {
    fn links(&self) -> &Links {
        &self.shell.links
    }

    fn url(&self, result: &SearchResult) -> String {
        match (&result.path, &result.package, &result.version) {
            (None, Some(package), _) => self.links().package(&result.repository, package),
            (Some(_), Some(package), Some(version)) => self.links().version(&result.repository, package, version),
            (Some(path), ..) => self.links().browse(&result.repository, path),
            (None, None, _) => self.links().browse(&result.repository, &result.name),
        }
    }

    fn next(&self, query: &str, after: &str) -> String {
        self.links().search_after(query, self.repository, after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html;

    #[test]
    fn no_text_of_a_search_becomes_markup_and_no_page_is_without_its_count() {
        let odd = "<script>alert(1)</script>\"'&";
        let result = SearchResult {
            repository: odd.into(),
            format: "raw",
            state: "hosted",
            name: odd.into(),
            package: Some(odd.into()),
            version: Some(odd.into()),
            path: Some(odd.into()),
            size_bytes: Some(7),
            hidden: Some(HiddenReason { reason: odd.into(), until: None }),
        };
        let search = Search {
            query: odd.into(),
            count: 4711,
            results: vec![result],
            next: Some(odd.into()),
            incomplete: vec![odd.into()],
        };
        let shell = Shell { query: odd.into(), ..Shell::new(odd, Links::new("http://here.test")) };
        let html = html(&SearchPage { shell: &shell, search: Some(&search), repository: Some(odd) }).unwrap();
        assert!(!html.contains("<script>alert") && html.contains("4711"), "{html}");
    }
}
