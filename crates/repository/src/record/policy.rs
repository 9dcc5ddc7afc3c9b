//! The stored policy of a repository.

use serde::{Deserialize, Serialize};
use telemetry::Millis;

/// Which packages of a repository are visible, and which names no upstream is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PolicyRecord {
    /// Patterns of visible packages; none: all are visible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Patterns of hidden packages. They win over `allow`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// How long a version is hidden after its publication, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cooldown_s: Option<u64>,
    /// Exceptions from the cooldown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<ExceptionRecord>,
    /// Prefixes of names for which no upstream is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub private_prefixes: Vec<String>,
    /// Patterns of packages for which upstreams are asked although a hosted repository has the name or a private prefix matches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<String>,
}

/// An exception from the cooldown: who made it, why, and until when it is valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceptionRecord {
    /// A pattern of the packages that become visible.
    pub package: String,
    /// The reason that was given.
    pub why: String,
    /// The name of the token that it was made with.
    pub who: String,
    /// When it was made.
    pub made: Millis,
    /// If it renews an exception that was still valid: since when that one was. `None`: since `made`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Millis>,
    /// When it ends; `None`: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Millis>,
}
