//! The answers of Koji's hub.

use crate::koji::model::{Archive, BuildId, BuildState, EventId, KojiEvent, Nvr, Tag, TagId, TaggedBuild};

/// The answer to the [`Question`](crate::koji::question::Question) of the same name.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The newest event, or the one that was asked for.
    LastEvent(KojiEvent),
    /// The tags that match.
    Tags(Vec<Tag>),
    /// The tag; `None`: there is none with that number.
    Tag(Option<Tag>),
    /// The archives of a tag and their builds.
    TaggedArchives {
        /// The archives.
        archives: Vec<Archive>,
        /// The builds.
        builds: Vec<TaggedBuild>,
    },
    /// The builds of a tag.
    Tagged(Vec<TaggedBuild>),
    /// The archives of a build.
    Archives(Vec<Archive>),
    /// The build; `None`: there is none with that number.
    Build(Option<Build>),
    /// The tags that a tag inherits from, in order.
    Inheritance(Vec<TagId>),
    /// Whether a tag changed since an event.
    ChangedSince(bool),
    /// What changed in a tag.
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
    /// Its number.
    pub id: BuildId,
    /// Its name, version and release.
    pub nvr: Nvr,
    /// `DEFAULT`, or the name of another volume.
    pub volume: String,
    /// Its state now.
    pub state: BuildState,
}

/// What changed in a tag.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// Rows of `tag_listing`.
    pub listings: Vec<Listing>,
    /// Of each row of all tables, the newest event in it and a hash of the row. The row of a listing that ends has another
    /// hash.
    pub rows: Vec<(EventId, u64)>,
}

/// A time that a build was in a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The build.
    pub build: BuildId,
    /// Its name, version and release.
    pub nvr: Nvr,
    /// Its state now.
    pub state: BuildState,
    /// The tag.
    pub tag: TagId,
    /// When it began.
    pub created: KojiEvent,
    /// Who tagged it.
    pub creator: Option<String>,
    /// When it ended, and by whom.
    pub revoked: Option<(KojiEvent, Option<String>)>,
}
