//! The calls to Koji hubs, by method and outcome.

use crate::lock;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The calls to all Koji hubs since the start.
#[derive(Debug, Default)]
pub struct KojiCalls(Mutex<BTreeMap<(&'static str, &'static str), u64>>);

impl KojiCalls {
    /// Counts a call. `method` is one of the hub's, `multiCall` for several questions at once; `outcome` is `answered`, `fault`, or the reason
    /// of a failure.
    pub fn count(&self, method: &'static str, outcome: &'static str) {
        *lock(&self.0).entry((method, outcome)).or_default() += 1;
    }

    /// All calls.
    pub fn total(&self) -> u64 {
        lock(&self.0).values().sum()
    }

    /// The calls by method and outcome.
    pub fn counts(&self) -> Vec<(&'static str, &'static str, u64)> {
        lock(&self.0).iter().map(|((method, outcome), count)| (*method, *outcome, *count)).collect()
    }
}
