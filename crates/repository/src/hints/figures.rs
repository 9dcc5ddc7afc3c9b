//! Figures about the hints of a repository, for operators.

use crate::moment::{self, Moment};
use schemars::JsonSchema;
use serde::Serialize;
use telemetry::Millis;

/// How the hooks of a remote repository or a group go, since the start of the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Hooks")]
pub struct HintFigures {
    /// How many were taken.
    pub taken: u64,
    /// How many were refused.
    pub refused: u64,
    /// Changes of the upstream that were found and that no hook had announced.
    pub lost: u64,
    /// Hooks that nothing upstream came to agree with within an hour.
    pub unseen: u64,
    /// Hooks that the upstream does not agree with yet.
    pub waiting: usize,
    /// When the last one was taken, also before the start.
    #[serde(serialize_with = "moment::some")]
    #[schemars(with = "Option<Moment>")]
    pub last: Option<Millis>,
    /// When an announced change was last seen upstream.
    #[serde(rename = "last_seen", serialize_with = "moment::some")]
    #[schemars(with = "Option<Moment>")]
    pub seen: Option<Millis>,
    /// From the publication that it announced, or from its arrival, until that was seen, in milliseconds.
    pub lag_ms: Option<u64>,
    /// Those since the last hook was taken, or since the start.
    #[serde(skip)]
    pub lost_since: u64,
    /// Since when a hint has been waiting for too long; `None`: none has.
    #[serde(skip)]
    pub behind_since: Option<Millis>,
}
