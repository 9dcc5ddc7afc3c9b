//! Why a path is answered as it is: the value of `/explain` and of the API's call of that name.

use crate::moment::Moment;
use crate::shell::Shell;
use askama::Template;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The answer to a GET of a path, and the reasons. Texts that are empty are left out of the JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Explanation {
    /// When it was computed.
    pub at: String,
    /// Always `GET`.
    pub method: String,
    /// The path of the URL, with the repository.
    pub path: String,
    /// The repository's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub repository: String,
    /// The package: a gem's name, a Maven `G:A`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub package: String,
    /// The version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The kind of file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// The HTTP status; 0: an upstream decides, which is not asked for an explanation.
    pub status: u16,
    /// The outcome, by its name in events. `None`: an upstream decides.
    pub outcome: Option<String>,
    /// The reason, by its name in events and metrics.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The reason in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The details of this path.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The remedy.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hint: String,
    /// The rule that hides the version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<HidingRule>,
    /// The layer that gives the answer.
    pub layer: String,
    /// The members that are asked, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberAnswer>,
    /// The open findings about the repository, its members or their upstreams. For callers with the scope `observe`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<RelatedFinding>,
    /// The operations, and the calls to upstreams. For callers with the scope `observe`.
    #[serde(flatten)]
    pub costs: BTreeMap<String, Value>,
}

/// An open finding about the repository of a path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RelatedFinding {
    /// Its id.
    pub id: String,
    /// The sentence about it.
    pub sentence: String,
}

/// The rule of a policy that hides a version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HidingRule {
    /// The repository that has the policy. Absent: one that the caller may not read.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub repository: String,
    /// The version.
    pub package: String,
    /// The kind of rule: `cooldown`, `deny`, `allow`, `private` or `unclassified`.
    #[schemars(extend("enum" = ["cooldown", "deny", "allow", "private", "unclassified"]))]
    pub kind: String,
    /// The rule in words.
    pub text: String,
    /// The moment that the age of the version counts from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Moment")]
    pub since: Option<String>,
    /// Whether that moment is when this server first saw the version, as nothing dates it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub first_seen: bool,
    /// Whether the version existed by that moment, and may be older than can be proven.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub existed_by: bool,
    /// The moment from which on it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Moment")]
    pub until: Option<String>,
    /// The command with which an administrator lets the version through.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub command: Option<String>,
}

/// The answer of a member of a group, or of a repository that is asked alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemberAnswer {
    /// Its name. Empty: the caller may not read it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub member: String,
    /// What it says, by its name in events.
    pub said: String,
    /// The reason, by its name in events and metrics.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The details.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Until when that is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub until: String,
    /// Its operations, and its calls to an upstream. For callers with the scope `observe`.
    #[serde(flatten)]
    pub costs: BTreeMap<String, Value>,
}

impl MemberAnswer {
    /// What it says, in words.
    pub fn said_in_words(&self) -> &str {
        match self.said.as_str() {
            "hit" => "has it",
            "not_found" => "does not have it",
            "blocked" => "a rule hides it",
            "stale" => "gives its last answer, as its upstream fails",
            "timeout" => "did not answer in time",
            "failed" => "failed",
            "cancelled" => "was not waited for",
            "unknown" => "not known before its upstream is asked",
            "not_asked" => "is not asked",
            other => other,
        }
    }

    /// The host of its upstream, for callers who may know it.
    pub fn upstream(&self) -> Option<&str> {
        self.costs.get("upstream")?.get("host")?.as_str()
    }
}

impl Explanation {
    /// The answer in a few words.
    pub fn answer(&self) -> String {
        match (self.status, self.outcome.as_deref()) {
            (0, _) => "depends on an upstream".to_owned(),
            (status, Some(outcome)) => format!("{status} {}", outcome.replace('_', " ")),
            (status, None) => status.to_string(),
        }
    }

    /// The class of the answer in the stylesheet.
    pub fn class(&self) -> &'static str {
        match self.status {
            0 => "quiet",
            1..400 => "good",
            404 | 410 => "warn",
            _ => "bad",
        }
    }
}

/// What the form of `/explain` asks.
#[derive(Debug, Clone, Default)]
pub struct ExplainForm {
    /// The repository's name.
    pub repository: String,
    /// The path below it, or the name of a version.
    pub path: String,
    /// As of when; empty: now.
    pub as_of: String,
}

/// The page.
#[derive(Debug, Template)]
#[template(path = "explain.html")]
pub struct ExplainPage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The form.
    pub form: &'a ExplainForm,
    /// The answer; `None`: nothing is asked yet.
    pub found: Option<&'a Explanation>,
    /// The URL of this server, for commands.
    pub server: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Links, html};

    fn page(found: &Explanation) -> String {
        let shell = Shell::new("Why", Links::new("http://here.test"));
        let form = ExplainForm { repository: "maven".into(), path: "a/<b>".into(), as_of: String::new() };
        html(&ExplainPage { shell: &shell, form: &form, found: Some(found), server: "http://here.test" }).unwrap()
    }

    #[test]
    fn a_hidden_version_is_shown_with_its_rule_both_moments_and_the_command() {
        let rule = HidingRule {
            repository: "central".into(),
            package: "org.example:lamp:1.0".into(),
            kind: "cooldown".into(),
            text: "versions are hidden until they are 7 days old".into(),
            since: Some("2026-11-01T00:00:00.000Z".into()),
            until: Some("2026-11-08T00:00:00.000Z".into()),
            command: Some("daylight policy allow central org.example:lamp:1.0 --why REASON".into()),
            ..HidingRule::default()
        };
        let html = page(&Explanation { status: 403, rule: Some(rule), ..Explanation::default() });
        for text in [
            "versions are hidden until they are 7 days old",
            "<time datetime=\"2026-11-01T00:00:00.000Z\">",
            "<time datetime=\"2026-11-08T00:00:00.000Z\">",
            "daylight policy allow central org.example:lamp:1.0 --why REASON",
        ] {
            assert!(html.contains(text), "{text}: {html}");
        }
        assert!(html.contains("a/&#60;b&#62;"), "{html}");
    }

    #[test]
    fn a_member_without_a_name_is_counted_and_not_named() {
        let member = MemberAnswer { said: "hit".into(), ..MemberAnswer::default() };
        let found = Explanation { status: 200, members: vec![member], ..Explanation::default() };
        assert!(page(&found).contains("a member that you may not read"));
        let json = serde_json::to_value(&found).unwrap();
        assert_eq!(json["members"], serde_json::json!([{ "said": "hit" }]));
    }

    #[test]
    fn the_value_keeps_every_key_of_an_event() {
        let event = serde_json::json!({
            "at": "2026-11-01T00:00:00.000Z", "method": "GET", "path": "/repository/a/b", "status": 200,
            "outcome": "answered", "layer": "hosted", "ops": { "truth.read": { "count": 1, "ms": 0.1 } },
            "members": [{ "member": "a", "said": "hit", "ms": 0.5, "ops": {} }],
        });
        let value: Explanation = serde_json::from_value(event.clone()).unwrap();
        assert_eq!(serde_json::to_value(&value).unwrap(), event);
    }
}
