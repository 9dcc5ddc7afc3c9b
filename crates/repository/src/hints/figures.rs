//! Figures about the hints of a repository, for operators.

use telemetry::Millis;

/// Figures about the hints of a repository since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HintFigures {
    /// Hints that were accepted.
    pub taken: u64,
    /// Hooks that were refused.
    pub refused: u64,
    /// Versions that a look at the upstream found although no hint had announced them.
    pub lost: u64,
    /// Hints that the upstream did not confirm within an hour.
    pub unseen: u64,
    /// Hints that are not confirmed yet.
    pub waiting: usize,
    /// When the last hint was accepted.
    pub last: Option<Millis>,
    /// When the upstream last confirmed a hint.
    pub seen: Option<Millis>,
    /// The time until that confirmation, in milliseconds: since the publication if the hint had its date, otherwise
    /// since the hint.
    pub lag_ms: Option<u64>,
    /// Since when a hint has been waiting for too long; `None`: none has.
    pub behind_since: Option<Millis>,
}
