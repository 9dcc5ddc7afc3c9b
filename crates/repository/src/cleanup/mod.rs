//! What the rules of a repository keep, and what a cleanup removes.

pub(crate) mod last_use;
mod plan;
pub(crate) mod purge;
pub(crate) mod rules;

pub use plan::{CleanupPlan, Cleanups, PrunePlan, RulePlan};

use crate::actor::Actor;
use crate::cleanup::last_use::LastUses;
use crate::cleanup::rules::CleanupRules;
use store::Entry;
use telemetry::Millis;

/// What decides a cleanup.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cleanup<'a> {
    pub(crate) rules: CleanupRules,
    pub(crate) uses: LastUses<'a>,
    /// Who removes what no rule keeps; `None`: it is only planned.
    pub(crate) by: Option<Actor<'a>>,
    pub(crate) at: Millis,
}

/// When the first of a version's files was published: where it came from, if that is known.
pub(crate) fn first_published(files: &[&Entry]) -> Option<Millis> {
    files.iter().map(|entry| entry.first_published()).min()
}
