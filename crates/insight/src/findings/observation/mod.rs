//! Checks of the server's observation of itself.

mod telemetry_costs;

use super::check::Check;

/// All of them.
pub(super) const ALL: &[&Check] = &[&telemetry_costs::CHECK];
