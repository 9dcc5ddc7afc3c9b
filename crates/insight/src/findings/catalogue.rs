//! The list of all checks.

use super::check::{Check, FindingKind};
use super::{baselines, caches, clients, groups, machine, observation, program, upstreams, watch};
use std::time::Duration;

/// Every check.
pub(crate) fn checks() -> impl Iterator<Item = &'static Check> {
    [
        upstreams::ALL,
        groups::ALL,
        caches::ALL,
        machine::ALL,
        clients::ALL,
        program::ALL,
        watch::ALL,
        observation::ALL,
        baselines::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// A check, as documentation and the API describe it.
#[derive(Debug, Clone, Copy)]
pub struct CheckAbout {
    /// Its name in ids, such as `pool-too-narrow`.
    pub key: &'static str,
    /// Cause, failure or impact.
    pub kind: FindingKind,
    /// What a finding of it says.
    pub about: &'static str,
    /// When it is seen.
    pub when: &'static str,
    /// What must hold besides. Empty: nothing.
    pub unless: &'static str,
    /// How long it must be seen until it opens.
    pub after: Duration,
    /// How long it must not be seen until it closes.
    pub keeps: Duration,
}

/// All checks of the program. Those of `[[finding]]` in the configuration are not among them.
pub fn check_list() -> impl Iterator<Item = CheckAbout> {
    checks().map(|check| {
        let Check { key, kind, about, when, unless, after, keeps, .. } = *check;
        CheckAbout { key, kind, about, when, unless, after, keeps }
    })
}
