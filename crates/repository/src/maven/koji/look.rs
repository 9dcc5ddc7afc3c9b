//! Decides what a hub is asked, and turns its answers into changes. Pure: it makes no calls and has no clock.
//!
//! In reading order: [`memory`] is what a look leaves for the next one, [`rounds`] has the questions of each round,
//! [`answers`] is what was answered, [`taken`] takes it, and [`difference`] compares it with the map.
//!
//! A look has these rounds, each of which is one call. First it asks for the last event, the tags of the patterns, and
//! what changed in each tag since the settled event. That is all where nothing changed. Each tag that is new is then
//! read whole, a call for each, and all changed ones are listed in one. The files of new builds come last.
//!
//! So a first look is one call and one for each tag. With inheritance one more asks for the history of those parents that
//! have builds in it and are no tags of the patterns themselves, and the second look may list the tags again. A look after
//! a start is one call, and one list of what changed; with inheritance it lists all tags, 20 in a call. Builds that left
//! before the first look are read once, 500 in a call.

pub(crate) mod answers;
pub(crate) mod difference;
pub(crate) mod memory;
pub(crate) mod rounds;
pub(crate) mod taken;
#[cfg(test)]
mod tests;

use crate::maven::koji::change::Change;
use crate::maven::koji::look::answers::Taken;
use crate::maven::koji::look::memory::Memory;
use crate::record::KojiRecord;
use format::koji::model::TagId;
use format::koji::question::Question;
use std::collections::VecDeque;
use telemetry::Millis;

/// Maximum number of builds whose files are asked for in one round.
pub(crate) const ARCHIVES_MAX: usize = 50;
/// How many times a look halves the number of builds of a round, if their files are too much for one answer.
const HALVED_MAX: u32 = 6;
/// Maximum number of tags that are listed in one round.
const LISTS_MAX: usize = 20;
/// Maximum number of tags of a repository, so that a pattern that matches everything does not make a look endless.
pub(crate) const TAGS_MAX: usize = 500;

/// Maximum number of bytes of the answers that a look holds until it is over, as values in memory.
pub(crate) const HELD_MAX: u64 = 512 << 20;
/// Maximum number of rows of the history of a tag that are remembered until they are settled. A tag with more counts as
/// changed.
const ROWS_MAX: usize = 10_000;

/// What a look does next.
#[derive(Debug)]
pub(crate) enum Step {
    /// Ask this in one round, and pass the answers to `next`.
    Ask(Vec<Question>),
    /// The look is over, with these changes; empty: the map is confirmed.
    Done(Vec<Change>),
    /// The hub refused a question without which nothing can be decided. Nothing has changed.
    Failed(String),
}

/// A look under way.
#[derive(Debug)]
pub(crate) struct Look {
    record: KojiRecord,
    pub(crate) memory: Memory,
    now: Millis,
    stage: Stage,
    /// The questions of this round.
    asked: Vec<Question>,
    pub(crate) taken: Taken,
    /// The tags that are read whole, each in a round of its own.
    whole: VecDeque<TagId>,
    /// The tags that are listed.
    listed: VecDeque<TagId>,
    /// Whether all is read.
    pub(crate) is_full: bool,
    /// Whether it begins with what the map has from before the start.
    is_restored: bool,
    /// How many times the number of builds of a round was halved.
    halved: u32,
    /// The number of rounds so far.
    pub(crate) rounds: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Begin,
    Changed,
    Lists,
    Builds,
    Over,
}

impl Look {
    /// A look at this moment. Once a day all is read, whatever the hub says of changes.
    pub(crate) fn new(record: KojiRecord, memory: Memory, now: Millis) -> Self {
        let (whole, listed) = Default::default();
        Self {
            is_full: memory.is_full_due(now) && memory.full.is_some(),
            record,
            memory,
            now,
            stage: Stage::Begin,
            asked: Vec::new(),
            taken: Taken::default(),
            whole,
            listed,
            is_restored: false,
            halved: 0,
            rounds: 0,
        }
    }
}
