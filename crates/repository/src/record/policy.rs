//! The stored policy of a repository.

use serde::{Deserialize, Serialize};
use telemetry::Millis;

/// The policy of a repository: which packages are visible, and for which names no upstream is called.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PolicyRecord {
    /// Patterns of visible packages. An empty list makes all visible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Patterns of hidden packages. They take precedence over `allow`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// How long a version is hidden after its publication, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cooldown_s: Option<u64>,
    /// Exceptions from the cooldown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<ExceptionRecord>,
    /// Prefixes of names for which no upstream is called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub private_prefixes: Vec<String>,
    /// Patterns of packages for which upstreams are called although a hosted repository has the name or a private
    /// prefix matches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<String>,
}

/// An exception from the cooldown: who made it, why, and until when it is valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceptionRecord {
    /// A pattern of the packages that become visible.
    pub package: String,
    /// The reason, as the person who made it gave it.
    pub why: String,
    /// The name of the token that made it.
    pub who: String,
    /// When it was made.
    pub made: Millis,
    /// The start of the exception that this one renewed while it was still valid; `None`: it renewed none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Millis>,
    /// When it ends; `None`: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Millis>,
}
