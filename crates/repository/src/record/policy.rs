//! The stored policy of a repository.

use crate::moment::Moment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telemetry::Millis;

/// The packages that clients may see and people may publish. The policy of a group also holds for its members, seen through the group.
/// A pattern is `G:A:V` in Maven repositories, `NAME:NUMBER` in gem repositories and a path in raw ones. A part that is missing at its end
/// matches anything, and so does `*`. `exceptions` are no setting: each has a call of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Policy")]
pub struct PolicyRecord {
    /// The only packages that may be seen and published; none: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    pub allow: Vec<String>,
    /// Packages that are never seen, and cannot be published, whatever allows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    pub deny: Vec<String>,
    /// For how long after its publication a version is not seen, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cooldown_s: Option<u64>,
    /// Exceptions from the cooldown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Exception>")]
    pub exceptions: Vec<ExceptionRecord>,
    /// Prefixes of names that no upstream is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    pub private_prefixes: Vec<String>,
    /// Packages that upstreams are asked for though a hosted member of the group has some of the name, or it begins privately.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
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

/// Something that is seen though it is young.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(extend("required" = ["package", "why", "who", "made", "until"]))]
pub struct Exception {
    /// A pattern of what it is for.
    pub package: String,
    /// The reason, as the person who made it gave it.
    pub why: String,
    /// The token that it was made with.
    pub who: String,
    /// When it was made.
    pub made: Moment,
    /// When it ends; null: never.
    pub until: Option<Moment>,
}

impl From<&ExceptionRecord> for Exception {
    fn from(ExceptionRecord { package, why, who, made, since: _, until }: &ExceptionRecord) -> Self {
        let [package, why, who] = [package, why, who].map(String::clone);
        Self { package, why, who, made: Moment(*made), until: until.map(Moment) }
    }
}
