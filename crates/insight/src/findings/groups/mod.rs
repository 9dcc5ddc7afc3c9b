//! Checks of groups and their members.

mod advice;
pub(super) mod fact_levels;
mod facts_at_wrong_level;
mod group_facts_too_small;
mod group_too_narrow;
mod member_fails;
mod member_never_decides;
mod names_asked_in_vain;
mod private;
mod slow_member_first;
#[cfg(test)]
mod staged;

use super::check::Check;

/// All of them.
pub(super) const ALL: &[&Check] = &[
    &slow_member_first::CHECK,
    &member_never_decides::CHECK,
    &facts_at_wrong_level::CHECK,
    &names_asked_in_vain::CHECK,
    &group_facts_too_small::CHECK,
    &group_too_narrow::CHECK,
    &member_fails::CHECK,
];
