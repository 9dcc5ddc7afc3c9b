//! The calls that Daylight makes. None needs a login.

#![allow(missing_docs)]

use crate::koji::model::{BuildId, EventId, TagId};

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// `getLastEvent()`.
    LastEvent,
    /// `listTags(pattern=)`. Koji ignores case, so the names are matched again.
    Tags { pattern: String },
    /// `getTag(id, strict=False)`: the present name of a tag, or that it is gone.
    Tag { tag: TagId },
    /// `listTaggedArchives(tag, type=maven, event=, inherit=, latest=False, strict=True, extra=False)`; where `plain`,
    /// without `extra`, for hubs that answer fault 1019.
    TaggedArchives { tag: TagId, event: Option<EventId>, inherit: bool, plain: bool },
    /// `listTagged(tag, type=maven, event=, inherit=, latest=False, strict=True)`.
    Tagged { tag: TagId, event: Option<EventId>, inherit: bool },
    /// `listArchives(buildID=, type=maven)`.
    Archives { build: BuildId },
    /// `getBuild(id)`.
    Build { build: BuildId },
    /// `getFullInheritance(tag, event=)`.
    Inheritance { tag: TagId, event: Option<EventId> },
    /// `tagChangedSinceEvent(event, [tags])`.
    ChangedSince { event: EventId, tags: Vec<TagId> },
    /// `queryHistory(tables=[...], tag=, afterEvent=)` of `tag_listing`, `tag_packages`, `tag_inheritance` and
    /// `tag_config`.
    History { tag: TagId, after: Option<EventId> },
}
