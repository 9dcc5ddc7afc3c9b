//! What the server says of a version: the rule that hides it now, or that no such version is known.

use super::api::{Api, decode};
use format::percent::segment;
use serde::Deserialize;
use serde_json::Value;

/// The answer about a path or a version, as far as commands about policies need it.
#[derive(Debug, Deserialize)]
pub(super) struct Explained {
    reason: Option<String>,
    /// The rule that hides it.
    pub(super) rule: Option<Rule>,
}

/// The rule that hides a version now.
#[derive(Debug, Deserialize)]
pub(super) struct Rule {
    #[serde(default)]
    pub(super) repository: String,
    pub(super) package: String,
    pub(super) kind: String,
    pub(super) text: String,
    pub(super) until: Option<String>,
    /// There is none for a version that cannot be let through.
    pub(super) command: Option<String>,
}

impl Explained {
    /// The answer about a path, or about a version such as `rack:3.0.0`.
    pub(super) fn of(api: &Api, repository: &str, path: &str) -> anyhow::Result<Self> {
        let query =
            [("repository", repository), ("path", path)].map(|(name, value)| format!("{name}={}", segment(value)));
        let answer: Value = api.get(&format!("/api/v1/explain?{}", query.join("&")))?;
        decode(answer)
    }

    /// The answer about the version that a pattern names; `None`: the pattern may name several, or something that is not explained.
    pub(super) fn of_pattern(api: &Api, repository: &str, pattern: &str) -> Option<Self> {
        if pattern.contains('*') {
            return None;
        }
        let explained = Self::of(api, repository, pattern).ok()?;
        // The path of a group of Maven's artifacts is not that of a version.
        explained.rule.as_ref().is_none_or(|rule| rule.kind != "unclassified").then_some(explained)
    }

    /// Whether the repository knows no such gem or version. A missing file says less: an artifact may have no POM.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self.reason.as_deref(), Some("no_such_package" | "no_such_version"))
    }

    /// Whether only the upstream could tell.
    pub(super) fn is_unasked(&self) -> bool {
        self.reason.as_deref() == Some("upstream_unasked")
    }
}
