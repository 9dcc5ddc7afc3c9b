//! Checks of pools, upstreams and what waits for them.

use super::check::Check;

/// All of them.
pub(super) const ALL: &[&Check] = &[];
