//! The answers of Koji's hub.

#![allow(missing_docs)]

use crate::koji::model::{Archive, BuildId, BuildState, KojiEvent, Nvr, Tag, TagId, TaggedBuild};

/// The answer to the [`Question`](crate::koji::question::Question) of the same name.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    LastEvent(KojiEvent),
    Tags(Vec<Tag>),
    Tag(Option<Tag>),
    TaggedArchives {
        archives: Vec<Archive>,
        builds: Vec<TaggedBuild>,
    },
    Tagged(Vec<TaggedBuild>),
    Archives(Vec<Archive>),
    Build(Option<Build>),
    /// The tags that a tag inherits from, in order.
    Inheritance(Vec<TagId>),
    ChangedSince(bool),
    History(History),
}

/// A fault of the hub. Its text is for operators only: it may be a traceback with paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// 1000 general; 1014 the hub is offline; 1019 wrong arguments; 1 a bug.
    pub code: i64,
    /// At most 300 characters.
    pub text: String,
}

/// A build, whatever tags it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    pub id: BuildId,
    pub nvr: Nvr,
    pub volume: String,
    pub state: BuildState,
}

/// What changed in a tag.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// Rows of `tag_listing`.
    pub listings: Vec<Listing>,
    /// A digest of the rows of all tables: two equal ones are the same history.
    pub digest: u64,
}

/// A time that a build was in a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    pub build: BuildId,
    pub nvr: Nvr,
    pub state: BuildState,
    pub tag: TagId,
    pub created: KojiEvent,
    pub creator: Option<String>,
    /// When it ended, and by whom.
    pub revoked: Option<(KojiEvent, Option<String>)>,
}
