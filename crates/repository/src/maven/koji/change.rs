//! The changes of a map, as a look finds them and the journal keeps them.

use format::koji::model::{BuildId, EventId, FileDigest, KojiEvent, Nvr, TagId};
use serde::{Deserialize, Serialize};

/// A file of a build, below its folder `maven/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MappedFile {
    /// `org/example/lamp/1.0`.
    pub(crate) folder: String,
    /// `lamp-1.0.jar`.
    pub(crate) name: String,
    pub(crate) size_bytes: u64,
    pub(crate) digest: FileDigest,
}

/// A build with its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MappedBuild {
    pub(crate) id: BuildId,
    pub(crate) nvr: Nvr,
    pub(crate) volume: String,
    pub(crate) files: Vec<MappedFile>,
    /// Whether Koji has deleted it: its files are gone (410), though moments before have them.
    pub(crate) deleted: bool,
}

/// A time that a build is or was in a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tagging {
    pub(crate) build: BuildId,
    pub(crate) tag: TagId,
    /// The name of the tag at that time.
    pub(crate) tag_name: String,
    pub(crate) tagged: KojiEvent,
    pub(crate) tagged_by: Option<String>,
}

/// Why a build is no longer in a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Gone {
    Untagged,
    /// Its package is blocked, or a parent is no longer inherited: the listing itself was not revoked.
    Hidden,
    Deleted,
    /// The tag no longer matches the patterns.
    TagLeft,
}

/// One change. A look has some, written in one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// A build that is new to the map, or has other files, another volume or another state than before.
    Build(MappedBuild),
    /// A known build has another volume, or was deleted. Its files are as known.
    Facts { build: BuildId, volume: String, deleted: bool },
    /// A build is in a tag.
    Tagged(Tagging),
    /// It no longer is, since this event, by this person, if known.
    Gone { build: BuildId, tag: TagId, why: Gone, event: Option<KojiEvent>, by: Option<String> },
    /// A time in the past, from Koji's history before the first look: it began and ended at these events.
    Past { tagging: Tagging, ended: KojiEvent, by: Option<String> },
    /// The tag has this name.
    Tag { tag: TagId, name: String },
    /// The newest event that was seen at least ten minutes ago, and the last one that this look saw. `full`: it read all.
    Settled { event: EventId, seen: EventId, full: bool },
    /// From here on a folder that several builds have belongs to the one that was tagged first, or last.
    Rule { oldest: bool },
}
