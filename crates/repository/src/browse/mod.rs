//! One level of a repository's content at a time, for people and tools.
//!
//! [`tree`] lists folders and files by path. Other formats list names and then versions, in their folders.
//! A level costs its own rows only: the rows below a folder are not read, except for its first one.

pub(crate) mod tree;

use crate::policy::hidden::Hidden;
use crate::repository::Repository;
use std::sync::Arc;
use store::Hashes;
use telemetry::Millis;

/// A part of one level.
#[derive(Debug, Default)]
pub struct Level {
    /// In the byte order of their keys.
    pub items: Vec<LevelItem>,
    /// The key after which the next part begins; `None`: this is the last one.
    pub next: Option<String>,
}

/// A folder, a file, a gem or a version of a gem.
#[derive(Debug, Clone)]
pub struct LevelItem {
    /// Its name in the level. That of a folder ends with a slash. The level continues after it.
    pub key: String,
    /// Whether it has a level of its own.
    pub is_folder: bool,
    /// The path of the level, or of the file that clients request.
    pub path: String,
    /// The package that it is or belongs to: `G:A`, or the name of a gem.
    pub package: Option<String>,
    /// The version that it is or belongs to, in the form of the links of pages.
    pub version: Option<String>,
    /// Where its bytes are.
    pub place: ItemPlace,
    /// Of a file: its size and digests, if they are known.
    pub hashes: Option<Hashes>,
    /// Of a file: when it was published, or fetched from the upstream, or first listed by it.
    pub at: Option<Millis>,
    /// Why clients cannot see it. A folder is hidden if all of it is, as far as its rows were read.
    pub hidden: Option<HiddenItem>,
    /// In a group: the members that have it, first the one that answers.
    pub members: Vec<Arc<Repository>>,
}

/// A key of a level of a group, and the items that members have there, each with the place of its member.
pub(crate) type MemberItems = (String, Vec<(usize, LevelItem)>);

telemetry::closed_list! {
    /// Where the bytes of an item are.
    #[derive(PartialOrd, Ord)]
    pub enum ItemPlace {
        /// Published here.
        Hosted = "hosted",
        /// Kept in the cache of an upstream's files.
        Cached = "cached",
        /// Only listed by the index of the upstream.
        Known = "known",
    }
}

/// Why clients cannot see an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenItem {
    /// The reason, in words.
    pub reason: String,
    /// When it becomes visible by itself.
    pub until: Option<Millis>,
}

impl From<Hidden> for HiddenItem {
    fn from(hidden: Hidden) -> Self {
        Self { until: hidden.until(), reason: hidden.to_string() }
    }
}
