//! Checks of pools, upstreams and what waits for them.

mod class_too_narrow;
mod cost;
mod lost_packets;
mod pauses;
mod pool_saves;
mod pool_too_narrow;
mod serial_downloads;
mod set_up;
#[cfg(test)]
mod staged;
mod upstream_fails;
mod upstream_limit;
mod upstream_slower;

use crate::findings::check::Check;

/// All of them.
pub(super) const ALL: &[&Check] = &[
    &pool_too_narrow::CHECK,
    &class_too_narrow::CHECK,
    &upstream_fails::CHECK,
    &upstream_slower::CHECK,
    &set_up::CHECK,
    &lost_packets::CHECK,
    &serial_downloads::CHECK,
    &upstream_limit::CHECK,
    &pauses::CHECK,
];
