//! How the hints of a repository go, for operators.

use telemetry::Millis;

/// How the hints of a repository go, since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HintFigures {
    /// Hints that were taken.
    pub taken: u64,
    /// Hooks that were refused.
    pub refused: u64,
    /// Versions that a look found and no hint had announced.
    pub lost: u64,
    /// Hints that nothing upstream came to agree with within an hour.
    pub unseen: u64,
    /// Hints that wait for that.
    pub waiting: usize,
    /// When the last hint was taken.
    pub last: Option<Millis>,
    /// When the last one was seen to be true.
    pub seen: Option<Millis>,
    /// How long that took, from its publication if the hint told that, in milliseconds.
    pub lag_ms: Option<u64>,
    /// Since when a hint waits that should have been seen long ago.
    pub behind_since: Option<Millis>,
}
