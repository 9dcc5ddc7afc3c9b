//! The changes that share a row with others: all but those of the files of a build.

use crate::maven::koji::change::{Change, Gone, Tagging};
use format::koji::model::{BuildId, EventId, KojiEvent, TagId};
use serde::{Deserialize, Serialize};

/// An event: its number and its moment.
type EventRow = (u64, i64);

/// A time that a build is or was in a tag.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TaggingRow {
    build: u32,
    tag: u32,
    name: String,
    event: EventRow,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

/// Such a change, as JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SmallChange {
    Facts {
        build: u32,
        volume: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        deleted: bool,
    },
    Tagged(TaggingRow),
    Gone {
        build: u32,
        tag: u32,
        why: Gone,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        event: Option<EventRow>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    Past {
        was: TaggingRow,
        ended: EventRow,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    Tag {
        tag: u32,
        name: String,
    },
    Settled {
        event: u64,
        seen: u64,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        full: bool,
    },
    Rule {
        oldest: bool,
    },
}

/// A change that shares a row with others, and roughly its bytes.
pub(super) fn small_form(change: &Change) -> Option<(SmallChange, usize)> {
    let event = |event: &KojiEvent| (event.id.0, event.at_ms);
    let tagging = |of: &Tagging| TaggingRow {
        build: of.build.0,
        tag: of.tag.0,
        name: of.tag_name.clone(),
        event: event(&of.tagged),
        by: of.tagged_by.clone(),
    };
    let small = match change {
        Change::Build(_) => return None,
        Change::Facts { build, volume, deleted } => {
            SmallChange::Facts { build: build.0, volume: volume.clone(), deleted: *deleted }
        }
        Change::Tagged(of) => SmallChange::Tagged(tagging(of)),
        Change::Gone { build, tag, why, event: of, by } => {
            SmallChange::Gone { build: build.0, tag: tag.0, why: *why, event: of.as_ref().map(event), by: by.clone() }
        }
        Change::Past { tagging: of, ended, by } => {
            SmallChange::Past { was: tagging(of), ended: event(ended), by: by.clone() }
        }
        Change::Tag { tag, name } => SmallChange::Tag { tag: tag.0, name: name.clone() },
        Change::Settled { event, seen, full } => SmallChange::Settled { event: event.0, seen: seen.0, full: *full },
        Change::Rule { oldest } => SmallChange::Rule { oldest: *oldest },
    };
    let names = match change {
        Change::Tagged(of) | Change::Past { tagging: of, .. } => {
            of.tag_name.len() + of.tagged_by.as_ref().map_or(0, String::len)
        }
        Change::Tag { name, .. } => name.len(),
        _ => 32,
    };
    Some((small, names + 160))
}

impl SmallChange {
    /// The change in the row.
    pub(super) fn change(self) -> Change {
        let event = |(id, at_ms): EventRow| KojiEvent { id: EventId(id), at_ms };
        let tagging = |of: TaggingRow| Tagging {
            build: BuildId(of.build),
            tag: TagId(of.tag),
            tag_name: of.name,
            tagged: event(of.event),
            tagged_by: of.by,
        };
        match self {
            SmallChange::Facts { build, volume, deleted } => Change::Facts { build: BuildId(build), volume, deleted },
            SmallChange::Tagged(of) => Change::Tagged(tagging(of)),
            SmallChange::Gone { build, tag, why, event: of, by } => {
                Change::Gone { build: BuildId(build), tag: TagId(tag), why, event: of.map(event), by }
            }
            SmallChange::Past { was, ended, by } => Change::Past { tagging: tagging(was), ended: event(ended), by },
            SmallChange::Tag { tag, name } => Change::Tag { tag: TagId(tag), name },
            SmallChange::Settled { event, seen, full } => {
                Change::Settled { event: EventId(event), seen: EventId(seen), full }
            }
            SmallChange::Rule { oldest } => Change::Rule { oldest },
        }
    }
}
