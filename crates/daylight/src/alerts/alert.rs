//! An alert: a finding as receivers are told of it, by its id.

use insight::{Change, Finding, FindingKind};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use telemetry::Millis;

/// The most symptoms that an alert names.
const SYMPTOMS_MAX: usize = 20;
/// The checks of the journal and of the settings of repositories.
const SHARED: [&str; 3] = ["name-collisions", "removals-held-back", "versions-held-back"];

/// A finding as receivers are told of it. It is kept until its end was told, so that the end names what the beginning named.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Alert {
    /// The id of the finding, which is the key by which receivers know it.
    pub(crate) id: String,
    /// The key of its check, or the name of a finding of the settings.
    pub(crate) key: String,
    /// What it is about.
    pub(crate) subject: String,
    /// Cause, failure or impact.
    pub(crate) kind: FindingKind,
    /// The kind of the worst of it and the symptoms that it explains, which send no alert of their own.
    pub(crate) worst: FindingKind,
    /// The fault with its figures.
    pub(crate) sentence: String,
    /// What to change, one line for each possibility.
    pub(crate) advice: Vec<String>,
    /// The ids of symptoms that it explains.
    pub(crate) explains: Vec<String>,
    /// Seconds that clients lose in an hour.
    pub(crate) lost_s_per_hour: f64,
    /// When it was seen first.
    pub(crate) since: Millis,
    /// When it ended. `None`: it goes on.
    pub(crate) ended: Option<Millis>,
    /// The public URL of the server without a slash at the end.
    pub(crate) server: String,
    /// The node that found it, of several that share a database. Empty: there is one, or all find it alike.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) node: String,
    /// It only tests whether alerts arrive.
    pub(crate) is_test: bool,
    /// The number of its telling: the same for a repetition and for the end, another one when it is told again later.
    #[serde(default)]
    pub(crate) telling: u64,
}

/// Who tells.
#[derive(Debug, Clone, Default)]
pub(crate) struct Teller {
    /// The public URL of the server.
    pub(crate) server: String,
    /// The name of this node, if it may be one of several.
    pub(crate) node: String,
}

/// Whether all nodes that share a database find this alike, by the key of its check: one of them tells it.
pub(crate) fn is_shared(key: &str) -> bool {
    SHARED.contains(&key)
}

impl Alert {
    /// An open finding.
    pub(crate) fn of(finding: &Finding, by: &Teller) -> Self {
        let kind_of = |id: &String| {
            let key = id.split('@').next().unwrap_or_default();
            insight::check_list().find(|check| check.key == key).map(|check| check.kind)
        };
        let worst = finding.folds.iter().filter_map(kind_of).chain([finding.kind]).max();
        Self {
            id: finding.id.clone(),
            key: finding.key.clone(),
            subject: finding.subject.clone(),
            kind: finding.kind,
            worst: worst.unwrap_or(finding.kind),
            sentence: finding.sentence.clone(),
            advice: finding.changes.iter().map(advice).collect(),
            explains: finding.folds.iter().take(SYMPTOMS_MAX).cloned().collect(),
            lost_s_per_hour: (finding.lost_s_per_hour * 10.0).round() / 10.0,
            since: finding.since,
            ended: None,
            server: by.server.trim_end_matches('/').to_owned(),
            node: if is_shared(&finding.key) { String::new() } else { by.node.clone() },
            is_test: false,
            telling: 0,
        }
    }

    /// An alert that tests whether alerts arrive.
    pub(crate) fn test(id: String, by: &Teller, now: Millis) -> Self {
        Self {
            id,
            key: "test".to_owned(),
            subject: "alerts".to_owned(),
            kind: FindingKind::Failure,
            worst: FindingKind::Failure,
            sentence: "This is a test: Daylight asks whether alerts arrive here, and nothing is wrong".to_owned(),
            advice: vec!["there is nothing to do: the end of this alert follows".to_owned()],
            explains: Vec::new(),
            lost_s_per_hour: 0.0,
            since: now,
            ended: None,
            server: by.server.trim_end_matches('/').to_owned(),
            node: by.node.clone(),
            is_test: true,
            telling: 0,
        }
    }

    /// The same at its end.
    pub(crate) fn ended(&self, at: Millis) -> Self {
        Self { ended: Some(at), ..self.clone() }
    }

    /// The server, as `name:port`.
    pub(crate) fn instance(&self) -> String {
        client::host_of(&self.server).unwrap_or_else(|| self.server.clone())
    }

    /// The page that shows the finding while it is open.
    pub(crate) fn link(&self) -> String {
        format!("{}/#{}", self.server, format::percent::segment(&self.id))
    }

    /// What it says to people: the advice, and the symptoms that it explains.
    pub(crate) fn description(&self) -> String {
        let advice = self.advice.iter().enumerate();
        let advice = advice.map(|(at, line)| format!("{}: {line}", if at == 0 { "To change" } else { "Or" }));
        let explains = (!self.explains.is_empty()).then(|| format!("It explains {}", self.explains.join(", ")));
        let lines: Vec<String> = advice.chain(explains).collect();
        if lines.is_empty() { "Nothing to change is known".to_owned() } else { lines.join("\n") }
    }

    /// The form of webhooks and commands.
    pub(crate) fn json(&self) -> Value {
        let Self { id, key, subject, sentence, advice, explains, lost_s_per_hour, .. } = self;
        let mut json = json!({
            "finding": id, "status": if self.ended.is_some() { "closed" } else { "open" }, "key": key, "subject": subject,
            "kind": self.kind.as_str(), "worst": self.worst.as_str(), "sentence": sentence, "advice": advice, "explains": explains,
            "lost_s_per_hour": lost_s_per_hour, "since": self.since.to_string(),
            "ended": self.ended.map(|at| at.to_string()), "url": self.link(), "test": self.is_test,
        });
        if !self.node.is_empty() {
            json["node"] = self.node.as_str().into();
        }
        json
    }
}

/// A change as one line that a person can copy.
fn advice(change: &Change) -> String {
    let Some(key) = &change.setting else { return change.command.clone().unwrap_or_default() };
    let value = |value: &Option<Value>| value.as_ref().map_or_else(|| "its default".to_owned(), Value::to_string);
    let when = if change.live { "in force at once" } else { "needs a restart" };
    format!("{key} = {} (now {}; {when})", value(&change.to), value(&change.from))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A server, and a node of it.
    pub(in crate::alerts) fn teller(node: &str) -> Teller {
        Teller { server: "https://packages.example.org".to_owned(), node: node.to_owned() }
    }

    /// An open alert.
    pub(in crate::alerts) fn alert(id: &str) -> Alert {
        let key = id.split('@').next().unwrap_or_default().to_owned();
        Alert {
            key,
            advice: vec!["upstream.max_calls = 31".to_owned()],
            is_test: false,
            ..Alert::test(id.to_owned(), &teller(""), Millis(1_793_534_400_000))
        }
    }

    #[test]
    fn a_change_is_one_line_to_copy() {
        let change = |value| serde_json::from_value::<Change>(value).unwrap();
        let setting = change(json!({ "setting": "upstream.max_calls", "from": 2, "to": 31, "live": false }));
        assert_eq!(advice(&setting), "upstream.max_calls = 31 (now 2; needs a restart)");
        let command = change(json!({ "live": true, "command": "daylight repo set a" }));
        assert_eq!(advice(&command), "daylight repo set a");
    }

    #[test]
    fn an_alert_names_its_server_and_links_to_its_finding() {
        let alert = alert("slow@member:all/central");
        assert_eq!(alert.instance(), "packages.example.org:443");
        assert_eq!(alert.link(), "https://packages.example.org/#slow@member:all%2Fcentral");
        assert_eq!(alert.json()["status"], "open");
        let ended = alert.ended(Millis(1_793_534_460_000));
        assert_eq!(
            (ended.json()["status"].clone(), ended.json()["ended"].clone()),
            ("closed".into(), "2026-11-01T12:01:00.000Z".into())
        );
    }
}
