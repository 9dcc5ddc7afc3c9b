//! Checks of clients, limits and versions that a rule holds back.

use super::check::Check;

/// All of them.
pub(super) const ALL: &[&Check] = &[];
