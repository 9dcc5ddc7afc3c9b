//! A finding as people and programs see it.

use super::check::{Change, FindingKind, Guard};
use super::promise::Promise;
use super::stored::Named;
use super::wording::round;
use serde_json::{Value, json};
use telemetry::{EventId, Millis, closed_list};

closed_list! {
    /// The state of a finding.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum FindingState {
        /// The check needs more data.
        Unknown = "unknown",
        /// It is seen, not yet for long enough.
        Pending = "pending",
        /// It is seen.
        Open = "open",
        /// It was open, and is not seen any more.
        Closed = "closed",
        /// It is seen, and somebody decided that it is not to be shown.
        Muted = "muted",
    }
}

impl Named for FindingState {
    const LIST: &'static [Self] = Self::ALL;

    fn name(self) -> &'static str {
        self.as_str()
    }
}

/// Why a finding is not shown, and until when.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Mute {
    /// The id of the finding.
    pub id: String,
    /// Why.
    pub why: String,
    /// Until when.
    pub until: Millis,
    /// The name of the token of the person.
    pub by: String,
}

/// A finding.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Finding {
    /// Key and subject, as in `pool-too-narrow@upstream:repo.example.org:443`; of an unknown one the key. Of one that the settings define
    /// `custom:NAME`, or `custom:NAME@COLUMN:VALUE` where its question has keys.
    pub id: String,
    /// The key of its check.
    pub key: String,
    /// What it is about.
    pub subject: String,
    /// Cause, failure or impact.
    #[serde(with = "super::stored::name")]
    pub kind: FindingKind,
    /// Its state.
    #[serde(with = "super::stored::name")]
    pub state: FindingState,
    /// When it was seen first, by the time of day: of a pending, open or muted one. Of a closed one when it closed, and of an unknown one
    /// since when its check needs more data.
    pub since: Millis,
    /// When it opened. `None`: it has not, or is not known to.
    #[serde(default)]
    pub opened: Option<Millis>,
    /// When it closed, or was not seen any more. `None`: it is there.
    #[serde(default)]
    pub ended: Option<Millis>,
    /// Client seconds that it costs in an hour.
    pub lost_s_per_hour: f64,
    /// Client seconds that were lost to it since it was seen first, as the sum of what each look saw; in an answer about a time, the part of
    /// them that lies in that time.
    #[serde(default)]
    pub lost_s: f64,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
    /// The fault with its figures; of an unknown one the data that it needs.
    pub sentence: String,
    /// What to change.
    pub changes: Vec<Change>,
    /// The question that shows it, with `from` and `to`. Null: there is none.
    pub evidence: Value,
    /// The event that shows it best.
    #[serde(with = "super::stored::event")]
    pub event: Option<EventId>,
    /// What was checked besides.
    pub guards: Vec<Guard>,
    /// The ids of symptoms that it explains. They are not listed by themselves.
    pub folds: Vec<String>,
    /// What the advised change promised, and what came. `None`: it was not made.
    #[serde(default)]
    pub promise: Option<Promise>,
    /// Why it is not shown.
    pub mute: Option<Mute>,
}

impl Finding {
    /// A finding about a subject of which nothing else is known.
    pub(super) fn empty(id: &str, subject: &str, kind: FindingKind) -> Self {
        Self {
            id: id.to_owned(),
            key: id.split_once('@').map_or(id, |(key, _)| key).to_owned(),
            subject: subject.to_owned(),
            kind,
            state: FindingState::Unknown,
            since: Millis(0),
            opened: None,
            ended: None,
            lost_s_per_hour: 0.0,
            lost_s: 0.0,
            confidence: 1.0,
            sentence: String::new(),
            changes: Vec::new(),
            evidence: Value::Null,
            event: None,
            guards: Vec::new(),
            folds: Vec::new(),
            promise: None,
            mute: None,
        }
    }

    /// The form of the API.
    pub fn json(&self) -> Value {
        let Self { id, key, subject, sentence, changes, evidence, guards, folds, .. } = self;
        json!({
            "id": id, "key": key, "subject": subject, "kind": self.kind.as_str(), "state": self.state.as_str(),
            "since": self.since.to_string(), "opened": self.opened.map(|at| at.to_string()),
            "ended": self.ended.map(|at| at.to_string()), "lost_s_per_hour": round(self.lost_s_per_hour),
            "lost_s": round(self.lost_s), "confidence": round(self.confidence),
            "sentence": sentence, "changes": changes, "evidence": evidence,
            "event": self.event.map(|event| event.to_string()), "guards": guards, "folds": folds,
            "promise": self.promise.as_ref().map(Promise::json),
            "mute": self.mute.as_ref().map(|mute| json!({
                "why": mute.why, "until": mute.until.to_string(), "by": mute.by,
            })),
        })
    }
}
