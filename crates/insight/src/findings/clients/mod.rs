//! Checks of clients: what they ask for needlessly, and what they take from others.

mod cold_cache;
mod half;
mod never_conditional;
mod new_connections;
mod retry_storm;
mod tight_loop;

use super::check::{Check, Guard};
use crate::signals::clients::client::ClientSeen;
use crate::signals::seen::Seen;

/// All of them.
pub(super) const ALL: &[&Check] = &[
    &cold_cache::CHECK,
    &half::CHECK,
    &never_conditional::CHECK,
    &new_connections::CHECK,
    &retry_storm::CHECK,
    &tight_loop::CHECK,
];

/// Fewer agents than this are the programs of one machine. An address with more is that of a network.
const AGENTS_OF_ONE: usize = 3;
/// Seconds of clients below which a cause is not told.
const FLOOR_S: f64 = 5.0;
/// The share of the time of all clients below which a cause is not told.
const FLOOR_SHARE: f64 = 0.01;

/// Whether seconds are worth telling beside the time of all clients.
fn costs(seconds: f64, all_nanos: u64) -> bool {
    seconds >= FLOOR_S && seconds >= FLOOR_SHARE * all_nanos as f64 / 1e9
}

/// Whether it is one machine, as far as its agents and the form of its address tell.
fn is_one(client: &ClientSeen) -> Option<Guard> {
    let agents = client.agents.len();
    (agents < AGENTS_OF_ONE).then(|| Guard::passed("its programs are those of one machine", agents as u64))
}

/// How sure it is that an address is one machine.
fn confidence(seen: &Seen) -> f64 {
    let form = seen.facts.setting("telemetry.client_addresses").map(|setting| &*setting.value);
    if matches!(form, None | Some("full")) { 0.9 } else { 0.5 }
}

/// The agent of a client in a sentence.
fn agent(client: &ClientSeen) -> &str {
    if client.agent.is_empty() { "no User-Agent" } else { &client.agent }
}

/// Bytes for people.
fn bytes(bytes: f64) -> String {
    match bytes {
        1e9.. => format!("{:.1} GB", bytes / 1e9),
        1e6.. => format!("{:.1} MB", bytes / 1e6),
        _ => format!("{:.0} kB", bytes / 1e3),
    }
}

#[cfg(test)]
mod tests;
