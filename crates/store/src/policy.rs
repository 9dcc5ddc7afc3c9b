//! The policy of a repository, as the journal has it. Patterns are opaque here.

use serde::{Deserialize, Serialize};
use telemetry::Millis;

/// What of a repository may be seen, and whose names are whose.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PolicyRecord {
    /// Patterns of what may be seen; none: everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Patterns of what is never seen, whatever allows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// For how long after its publication a version is not seen, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cooldown_s: Option<u64>,
    /// What is seen though it is younger than that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<ExceptionRecord>,
    /// Beginnings of names that no upstream is ever asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub private_prefixes: Vec<String>,
    /// Patterns of packages that upstreams are asked for though a hosted repository has some of the name, or it begins so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<String>,
}

/// What is seen though it is young: who said so, why, and until when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceptionRecord {
    /// A pattern of what it is for.
    pub package: String,
    /// Why, in their words.
    pub why: String,
    /// The token it was made with.
    pub who: String,
    /// When it was made.
    pub made: Millis,
    /// Where it renews one that had not ended: since when that let it be seen. `None`: since it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Millis>,
    /// When it ends; `None`: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Millis>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RepositoryRecord;

    #[test]
    fn rows_of_before_have_no_policy_and_one_comes_back_as_it_was() {
        let before = r#"{"name":"gems","format":"gem","kind":"hosted","private":false,"created":1}"#;
        let mut record: RepositoryRecord = serde_json::from_str(before).unwrap();
        assert_eq!(record.policy, None);
        assert!(!serde_json::to_string(&record).unwrap().contains("policy"));
        let exception = ExceptionRecord {
            package: "rack:3.0.0".into(),
            why: "a hole that is closed in it".into(),
            who: "ops".into(),
            made: Millis(5),
            since: None,
            until: None,
        };
        let policy = PolicyRecord { cooldown_s: Some(60), exceptions: vec![exception], ..PolicyRecord::default() };
        record.policy = Some(Box::new(policy));
        let after = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<RepositoryRecord>(&after).unwrap(), record);
        assert!(!after.contains("deny") && !after.contains("since"), "{after}");
    }
}
