//! A problem that is seen now, with the rules of the check that found it.

use super::check::{Check, FindingKind, Problem};
use std::time::Duration;

/// A problem that is seen now, with the rules of the check that found it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// The id of the finding.
    pub(super) id: String,
    /// The key of its check, or the name of a finding of the settings.
    pub(super) key: String,
    pub(super) kind: FindingKind,
    /// How long it must be seen until it opens.
    pub(super) after: Duration,
    /// How long it must not be seen until it closes.
    pub(super) keeps: Duration,
    pub(super) problem: Problem,
}

impl Found {
    /// What a check found.
    pub(super) fn of(check: &Check, problem: Problem) -> Self {
        Self {
            id: format!("{}@{}", check.key, problem.subject),
            key: check.key.to_owned(),
            kind: check.kind,
            after: check.after,
            keeps: check.keeps,
            problem,
        }
    }
}
