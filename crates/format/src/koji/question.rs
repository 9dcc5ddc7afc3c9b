//! The calls that Daylight makes. None needs a login.

use crate::koji::model::{BuildId, EventId, TagId};

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// `getLastEvent()`.
    LastEvent,
    /// `getEvent(id)`: the moment of an event.
    Event {
        /// The event.
        event: EventId,
    },
    /// `listTags(pattern=)`. Koji ignores case, so the names are matched again.
    Tags {
        /// A glob.
        pattern: String,
    },
    /// `getTag(id, strict=False)`: the present name of a tag, or that it is gone.
    Tag {
        /// The tag.
        tag: TagId,
    },
    /// `listTaggedArchives(tag, type=maven, event=, inherit=, latest=False, strict=True, extra=False)`; where `plain`,
    /// without `extra`, for hubs that answer fault 1019.
    TaggedArchives {
        /// The tag.
        tag: TagId,
        /// As of this event; `None` for now.
        event: Option<EventId>,
        /// With the builds of the tags that it inherits from.
        inherit: bool,
        /// Without the argument `extra`.
        plain: bool,
    },
    /// `listTagged(tag, type=maven, event=, inherit=, latest=False, strict=True)`.
    Tagged {
        /// The tag.
        tag: TagId,
        /// As of this event; `None` for now.
        event: Option<EventId>,
        /// With the builds of the tags that it inherits from.
        inherit: bool,
    },
    /// `listArchives(buildID=, type=maven)`.
    Archives {
        /// The build.
        build: BuildId,
    },
    /// `getBuild(id)`.
    Build {
        /// The build.
        build: BuildId,
    },
    /// `getFullInheritance(tag, event=)`.
    Inheritance {
        /// The tag.
        tag: TagId,
        /// As of this event; `None` for now.
        event: Option<EventId>,
    },
    /// `tagChangedSinceEvent(event, [tags])`.
    ChangedSince {
        /// The event, which does not count.
        event: EventId,
        /// The tags.
        tags: Vec<TagId>,
    },
    /// `queryHistory(tables=[...], tag=, afterEvent=)` of `tag_listing`, `tag_packages`, `tag_inheritance` and
    /// `tag_config`.
    History {
        /// The tag.
        tag: TagId,
        /// Only changes after this event; `None` for all.
        after: Option<EventId>,
    },
}

impl Question {
    /// The name of the hub's method.
    pub fn method(&self) -> &'static str {
        match self {
            Question::LastEvent => "getLastEvent",
            Question::Event { .. } => "getEvent",
            Question::Tags { .. } => "listTags",
            Question::Tag { .. } => "getTag",
            Question::TaggedArchives { .. } => "listTaggedArchives",
            Question::Tagged { .. } => "listTagged",
            Question::Archives { .. } => "listArchives",
            Question::Build { .. } => "getBuild",
            Question::Inheritance { .. } => "getFullInheritance",
            Question::ChangedSince { .. } => "tagChangedSinceEvent",
            Question::History { .. } => "queryHistory",
        }
    }
}
