//! Decides what a hub is asked, and turns its answers into changes. Pure: it makes no calls and has no clock.
//!
//! In reading order: [`memory`] is what a look leaves for the next one, [`rounds`] has the questions of each round,
//! [`answers`] is what was answered, [`taken`] takes it, and [`difference`] compares it with the map.
//!
//! A look has these rounds, each of which is one call. First it asks for the last event, the tags of the patterns, and
//! what changed in each tag since the settled event. That is all where nothing changed. Each tag that is new is then
//! read whole, a call for each, and all changed ones are listed in one. The files of new builds come last.

pub(crate) mod answers;
pub(crate) mod difference;
#[cfg(test)]
mod followed_hub;
#[cfg(test)]
mod hub_model;
pub(crate) mod memory;
#[cfg(test)]
mod properties;
pub(crate) mod rounds;
pub(crate) mod taken;

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
/// Maximum number of tags that are listed in one round.
const LISTS_MAX: usize = 20;
/// Maximum number of tags of a repository, so that a pattern that matches everything does not make a look endless.
pub(crate) const TAGS_MAX: usize = 500;

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
    /// A look at this moment. `full`: all is read, whatever the hub says of changes.
    pub(crate) fn new(record: KojiRecord, memory: Memory, full: bool, now: Millis) -> Self {
        let (whole, listed) = Default::default();
        Self {
            is_full: full || memory.is_full_due(now) && memory.full.is_some(),
            record,
            memory,
            now,
            stage: Stage::Begin,
            asked: Vec::new(),
            taken: Taken::default(),
            whole,
            listed,
            rounds: 0,
        }
    }
}
