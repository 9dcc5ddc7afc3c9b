//! What the program tells, for tests of checks.

use crate::findings::check::{Check, Problem, Verdict};
use crate::signals::facts::Facts;
use crate::signals::program::ProgramFacts;
use crate::signals::seen::Seen;
use std::sync::Arc;
use telemetry::Millis;

/// Noon of 1 November 2026.
pub(super) const NOON: Millis = Millis(1_793_534_400_000);
pub(super) const MINUTE: i64 = 60_000;
pub(super) const DAY: i64 = 24 * 60 * MINUTE;

/// At noon the program tells this.
pub(super) fn told(program: ProgramFacts) -> Seen {
    Seen { now: NOON, facts: Arc::new(Facts { program, ..Facts::default() }), ..Seen::default() }
}

/// What the check finds.
pub(super) fn found(check: &Check, seen: &Seen) -> Vec<Problem> {
    match (check.look)(seen) {
        Verdict::Looked(problems) => problems,
        Verdict::Unknown { needs, .. } => panic!("it needs {needs}"),
    }
}
