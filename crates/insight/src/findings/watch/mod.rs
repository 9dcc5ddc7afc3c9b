//! Checks of what the watch found.

use super::check::Check;

/// All of them.
pub(super) const ALL: &[&Check] = &[];
