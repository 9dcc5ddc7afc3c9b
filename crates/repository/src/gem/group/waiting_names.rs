//! The waiting names of a group, as they were last found, and the state of the members at that time.

use crate::policy::rules::Rules;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use store::{Origin, RepositoryId, Seq};
use telemetry::{Millis, lock};

/// Maximum number of remembered names.
pub(crate) const NAMES_MAX: usize = 10_000;

/// The waiting names of a group.
#[derive(Debug, Default)]
pub(crate) struct WaitingNames(Mutex<Option<Arc<Noted>>>);

/// The names, with the members and the changes of their indexes that they were found from.
#[derive(Debug, Clone)]
pub(crate) struct Noted {
    pub(crate) members: Vec<MemberMark>,
    pub(crate) through: BTreeMap<RepositoryId, Seq>,
    pub(crate) names: BTreeSet<String>,
}

/// The facts about a member that decide about owners, apart from its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemberMark {
    pub(crate) id: RepositoryId,
    pub(crate) origin: Origin,
    pub(crate) stands_since: Millis,
    /// Whether the index of its upstream is known.
    pub(crate) is_known: bool,
    pub(crate) rules: Rules,
    pub(crate) claims: Vec<String>,
}

impl WaitingNames {
    /// The last result.
    pub(crate) fn noted(&self) -> Option<Arc<Noted>> {
        lock(&self.0).clone()
    }

    /// Stores a result.
    pub(crate) fn note(&self, noted: Noted) {
        *lock(&self.0) = Some(Arc::new(noted));
    }

    /// The number of waiting names.
    pub(crate) fn count(&self) -> usize {
        self.noted().map_or(0, |noted| noted.names.len())
    }
}
