//! Checks of the machine, memory, jobs and hooks.

use super::check::Check;

/// All of them.
pub(super) const ALL: &[&Check] = &[];
