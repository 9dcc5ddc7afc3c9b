//! Lists of the contents of repositories, for operators: the requested page and its rows.

use crate::moment::{self, Moment};
use schemars::JsonSchema;
use serde::Serialize;
use store::{EntryOrigin, Hashes};
use telemetry::Millis;

/// The requested page of a list.
#[derive(Debug, Clone, Copy)]
pub struct PageRequest<'a> {
    /// A path: the list has this path, with any query, and everything below it. Empty: everything.
    pub path: &'a str,
    /// The list begins after this key, in byte order.
    pub after: &'a str,
    /// Maximum number of rows to read.
    pub limit: usize,
}

/// Which contents a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// What clients can see.
    Visible,
    /// What was removed.
    Removed,
}

/// A page of a list.
#[derive(Debug)]
pub struct Page<T> {
    /// In byte order of their keys.
    pub rows: Vec<T>,
    /// Where the next page begins; `None`: this is the last one.
    pub next: Option<String>,
}

/// A file of a tree, or the package of a version of a gem.
#[derive(Debug)]
pub struct ListedFile {
    /// Its path below the repository.
    pub path: String,
    /// The digests and the size.
    pub hashes: Hashes,
    /// When it was published or deleted; when it was fetched, if it is an upstream's.
    pub changed: Millis,
    /// The date and author of its original publication elsewhere, if they are known.
    pub origin: Option<Box<EntryOrigin>>,
    /// Of a published gem: which version it is.
    pub version: Option<ListedVersion>,
}

/// A version of a gem.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedVersion {
    /// Of a version of a hosted gem, like those below: the name of the gem.
    pub name: String,
    /// Its number.
    #[serde(rename = "version")]
    pub number: String,
    /// Its platform; `ruby` is any.
    pub platform: String,
    /// When it was published here.
    #[serde(serialize_with = "moment::shown")]
    #[schemars(with = "Moment")]
    pub published: Millis,
    /// The name of the token that published it; null: the journal does not have it.
    pub by: Option<String>,
    /// Whether its owners yanked it. What a cleanup or a purge removed is listed with `removed=true`, too.
    pub yanked: bool,
}

impl PageRequest<'_> {
    pub(crate) fn has(&self, path: &str) -> bool {
        let below = |rest: &str| rest.is_empty() || rest.starts_with(['/', '?']);
        self.path.is_empty() || path.strip_prefix(self.path).is_some_and(below)
    }

    pub(crate) fn listed<R, T>(&self, rows: &[R], path: impl Fn(&R) -> &str, shown: Vec<T>) -> Page<T> {
        let next = rows.last().filter(|_| rows.len() >= self.limit).map(|last| path(last).to_owned());
        Page { rows: shown, next }
    }
}
