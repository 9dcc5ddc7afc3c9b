//! Checks of what the program tells: certificates, the disk, names, indexes, hooks, settings, receivers of alerts.

mod alerts_do_not_arrive;
mod certificate_ends;
mod certificate_not_renewed;
mod contradictory_settings;
mod disk_fills;
mod lost_webhooks;
mod missing_files;
mod name_collisions;
mod read_only;
mod removals_held_back;
mod stale_index;
#[cfg(test)]
mod told;
mod versions_held_back;

use super::check::Check;

/// All of them.
pub(super) const ALL: &[&Check] = &[
    &alerts_do_not_arrive::CHECK,
    &certificate_ends::CHECK,
    &certificate_not_renewed::CHECK,
    &contradictory_settings::CHECK,
    &disk_fills::CHECK,
    &lost_webhooks::CHECK,
    &missing_files::CHECK,
    &name_collisions::CHECK,
    &read_only::CHECK,
    &removals_held_back::CHECK,
    &stale_index::CHECK,
    &versions_held_back::CHECK,
];
