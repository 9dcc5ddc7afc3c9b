//! Checks of the machine: processors, disks, sockets, and what recording costs.

mod accept_queue;
mod descriptors;
mod disk_waits;
mod outside;
mod slow_storage;
mod starved;
mod throttled;

use super::check::Check;
use crate::signals::seen::Seen;

/// All of them.
pub(super) const ALL: &[&Check] = &[
    &accept_queue::CHECK,
    &descriptors::CHECK,
    &disk_waits::CHECK,
    &outside::CHECK,
    &slow_storage::CHECK,
    &starved::CHECK,
    &throttled::CHECK,
];

/// Seconds of clients in five minutes below which a cause is not told.
const FLOOR_S: f64 = 5.0;
/// The share of the time of all clients below which a cause is not told.
const FLOOR_SHARE: f64 = 0.01;

/// Seconds that requests of the last five minutes spent in this server at work and waiting for its threads: not those for upstreams and for
/// bytes from and to clients.
fn local_seconds(seen: &Seen) -> f64 {
    let all = &seen.recent.clients.all;
    (all.work + all.waited) as f64 / 1e9
}

/// Whether seconds are worth telling beside the time of all clients in the last five minutes.
fn costs(seen: &Seen, seconds: f64, floor: f64, share: f64) -> bool {
    seconds >= floor && seconds >= share * seen.recent.clients.all.nanos as f64 / 1e9
}

/// Two digits after the point.
fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests;
