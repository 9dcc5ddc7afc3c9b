//! The rules of a repository for what to keep, and the cleanup that removes the rest.

pub(crate) mod last_use;
mod plan;
pub(crate) mod purge;
pub(crate) mod rules;
pub(crate) mod used_name;

pub use plan::{CleanupPlan, Cleanups, PrunePlan, RulePlan};

use crate::actor::Actor;
use crate::cleanup::last_use::LastUses;
use crate::cleanup::rules::CleanupRules;
use store::Entry;
use telemetry::Millis;

/// The input of a cleanup.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cleanup<'a> {
    pub(crate) rules: CleanupRules,
    pub(crate) uses: LastUses<'a>,
    /// The caller on whose behalf it removes versions; `None`: it only plans.
    pub(crate) by: Option<Actor<'a>>,
    pub(crate) at: Millis,
}

/// The earliest publication among a version's files. The original publication counts, if it is known.
pub(crate) fn first_published(files: &[&Entry]) -> Option<Millis> {
    files.iter().map(|entry| entry.first_published()).min()
}
