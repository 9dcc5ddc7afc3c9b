//! Checks that compare the last minutes with the usual ones of this hour of the week.

mod slower_than_normal;

use super::check::Check;

/// All of them.
pub(super) const ALL: &[&Check] = &[&slower_than_normal::CHECK];
