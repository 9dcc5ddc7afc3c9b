//! The first page: the repositories, and whether anything is wrong.

use crate::amount::amount;
use crate::finding::{HomeChecks, HomeFinding};
use crate::shell::Shell;
use askama::Template;

/// The value of the first page, as far as the caller may know it.
#[derive(Debug, Clone, Default)]
pub struct Home {
    /// The repositories that the caller may read, by format and name.
    pub repositories: Vec<HomeRepository>,
    /// How many more there are.
    pub more: usize,
    /// Whether there are private repositories that a caller without a token does not see.
    pub has_private: bool,
    /// The lines that publish the first file. `None`: something is published.
    pub first_push: Option<String>,
    /// The lines that fetch the first file through this server. `None`: something was fetched, or there is no upstream.
    pub first_fetch: Option<String>,
    /// The open findings, the most expensive first. For observers.
    pub findings: Vec<HomeFinding>,
    /// The findings that are not seen for long enough yet. For observers.
    pub pending: Vec<HomeFinding>,
    /// The findings that closed lately with the verdict of a promise, the newest first. For observers.
    pub promises: Vec<HomeFinding>,
    /// How much the checks can say. For observers.
    pub checks: Option<HomeChecks>,
    /// How many findings are open.
    pub open: usize,
    /// The present troubles, in words.
    pub troubles: Vec<String>,
    /// The upstreams that are paused or fail. For observers.
    pub upstreams: Vec<HomeUpstream>,
    /// Free bytes on the disk of the data folder. For observers.
    pub free_bytes: Option<u64>,
}

/// A repository on the first page.
#[derive(Debug, Clone, Default)]
pub struct HomeRepository {
    /// Its name.
    pub name: String,
    /// Its kind and format in words.
    pub about: String,
    /// The number of its packages; `None`: they are not counted.
    pub packages: Option<u64>,
    /// The number of its files: of a remote repository those in its cache. `None`: a group, which has none itself.
    pub files: Option<u64>,
    /// The sum of their sizes, in bytes.
    pub size_bytes: Option<u64>,
}

/// An upstream that is paused or fails.
#[derive(Debug, Clone, Default)]
pub struct HomeUpstream {
    /// Its host.
    pub host: String,
    /// The repositories that use it.
    pub repositories: Vec<String>,
    /// The state in words.
    pub state: String,
    /// Until when it is not called.
    pub until: Option<String>,
    /// The last error.
    pub error: Option<String>,
}

/// The page.
#[derive(Debug, Template)]
#[template(path = "home.html")]
pub struct HomePage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The value.
    pub home: &'a Home,
}

impl HomeRepository {
    /// The size in words.
    fn size(&self) -> String {
        self.size_bytes.map(amount).unwrap_or_default()
    }
}

impl Home {
    /// Whether there is anything to tell about the state of the server.
    fn has_state(&self) -> bool {
        !self.troubles.is_empty() || !self.upstreams.is_empty() || self.free_bytes.is_some()
    }

    /// The free space in words.
    fn free(&self) -> String {
        self.free_bytes.map(amount).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HomeChange, Links, html};

    #[test]
    fn the_page_shows_each_part_and_escapes_it() {
        let odd = || "<b>\"&'".to_owned();
        let repository =
            HomeRepository { name: odd(), about: odd(), files: Some(3), size_bytes: Some(2_000), ..Default::default() };
        let (repositories, error, until) = (vec![odd()], Some(odd()), Some("2026-11-01T00:00:00.000Z".into()));
        let upstream = HomeUpstream { host: odd(), repositories, state: odd(), until, error };
        let home = Home {
            repositories: vec![repository],
            more: 2,
            has_private: true,
            first_push: Some(odd()),
            first_fetch: Some(odd()),
            findings: vec![HomeFinding {
                id: odd(),
                kind: odd(),
                sentence: odd(),
                since: odd(),
                changes: vec![HomeChange { lines: odd(), note: odd() }],
                event: Some(odd()),
                question: Some(odd()),
                folds: vec![odd()],
                promise: Some(odd()),
                ..HomeFinding::default()
            }],
            pending: vec![HomeFinding { sentence: odd(), event: Some(odd()), ..HomeFinding::default() }],
            promises: vec![HomeFinding { id: odd(), promise: Some(odd()), ..HomeFinding::default() }],
            checks: Some(HomeChecks::default()),
            open: 1,
            troubles: vec![odd()],
            upstreams: vec![upstream],
            free_bytes: Some(5_000_000),
        };
        let shell = Shell::new("Daylight", Links::new("http://here.test"));
        let page = html(&HomePage { shell: &shell, home: &home }).unwrap();
        assert!(!page.contains("<b>") && page.matches("&#60;b&#62;").count() >= 20, "{page}");
        for text in ["2 more", "2.0 kB", "5.0 MB", "href=\"/repository/%3Cb%3E"] {
            assert!(page.contains(text), "{text}: {page}");
        }
    }
}
