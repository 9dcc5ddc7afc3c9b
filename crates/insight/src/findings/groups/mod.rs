//! Checks of groups, their members, and caches.

use super::check::Check;

/// All of them.
pub(super) const ALL: &[&Check] = &[];
