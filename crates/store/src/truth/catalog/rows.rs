//! The results of reads.

use crate::journal::entry::{Entry, State};
use crate::journal::record::Seq;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use telemetry::Millis;

/// A unit when it was read: its entries, and the number of its last change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnitRows {
    /// The number of its last change; 0: it has none.
    pub seq: Seq,
    /// Its entries, including withdrawn ones unless only live ones were read, ordered by `published`, then `key`.
    pub entries: Vec<Entry>,
}

/// The part of an entry that lists of many entries need.
#[derive(Debug, Clone)]
pub struct Outline {
    /// Its unit. All entries of the unit share the text.
    pub unit: Arc<str>,
    /// Whether it is published or withdrawn.
    pub state: State,
    /// When it was first published.
    pub published: Millis,
    /// When it last changed.
    pub changed: Millis,
    /// When it was published at its origin, if that is known.
    pub origin: Option<Millis>,
    /// The facts that the format extracted from it.
    pub facts: Facts,
}

/// The facts of an [`Outline`].
#[derive(Debug, Clone)]
pub enum Facts {
    /// The short text that the format stored among the facts under [`Facts::BRIEF`].
    Brief(String),
    /// All facts as JSON, if there is no such text.
    Whole(Box<RawValue>),
}

impl Facts {
    /// The key under which a format stores the short text that lists need. The store keeps it apart from the other facts.
    pub const BRIEF: &'static str = "brief";
}

/// The facts of a unit itself, and the number of its last change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnitFacts {
    /// The number of the unit's last change; 0: it has none.
    pub seq: Seq,
    /// The facts as they were last set; null: there are none.
    pub facts: serde_json::Value,
}

/// A first-seen row of a unit.
#[derive(Debug, Clone, Deserialize)]
pub struct FirstSeen {
    /// The number of the change.
    pub seq: Seq,
    /// When it was seen.
    pub at: Millis,
    /// Whether the row repeats all facts that were known then.
    #[serde(default)]
    pub whole: bool,
    /// The facts that were new then, as JSON.
    pub seen: Box<RawValue>,
}

/// The size of a repository.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holding {
    /// The number of files: live entries, or cached files of an upstream.
    pub files: u64,
    /// The sum of their sizes, in bytes.
    pub size_bytes: u64,
    /// The number of packages that the live entries belong to. Not counted for an upstream. Meaningless where folders are not
    /// versions of packages.
    pub packages: u64,
}

/// The subject whose history is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    /// The entry of this key.
    Entry(&'a str),
    /// The facts of the unit of this name.
    Unit(&'a str),
}

/// A page of the entries that were published in a period, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first moment of the period.
    pub from: Millis,
    /// The last moment of the period.
    pub until: Millis,
    /// The number of newest entries to skip.
    pub skip: usize,
    /// The most entries to return.
    pub limit: usize,
}
