//! The names that wait in a group, as they were last found, and what of the members they were found from.

use crate::policy::rules::Rules;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use store::{Origin, RepositoryId, Seq};
use telemetry::Millis;

/// Most names that are remembered.
pub(crate) const NAMES_MAX: usize = 10_000;

/// The names that wait in a group. It is the same while the repository lives, and empty in all other repositories.
#[derive(Debug, Default)]
pub(crate) struct WaitingNames(Mutex<Option<Arc<Noted>>>);

/// The names that were found, from members that stood so, and by these changes of their indexes.
#[derive(Debug, Clone)]
pub(crate) struct Noted {
    pub(crate) members: Vec<MemberMark>,
    pub(crate) through: BTreeMap<RepositoryId, Seq>,
    pub(crate) names: BTreeSet<String>,
}

/// What of a member decides whose names are, beside the names that it has.
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
    /// What was found last.
    pub(crate) fn noted(&self) -> Option<Arc<Noted>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps what was found.
    pub(crate) fn note(&self, noted: Noted) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(noted));
    }

    /// How many names wait.
    pub(crate) fn count(&self) -> usize {
        self.noted().map_or(0, |noted| noted.names.len())
    }
}
