//! What a change that was advised has promised, and what came of it.

use super::stored::Named;
use super::wording::{round, seconds};
use serde_json::{Value, json};
use telemetry::{Millis, closed_list};

closed_list! {
    /// What came of a promise.
    #[derive(Hash)]
    pub enum PromiseState {
        /// Too few requests came since the change to say it.
        Measuring = "measuring",
        /// At least two thirds of what was promised came.
        Held = "held",
        /// Less came.
        DidNotHold = "did not hold",
        /// Before there was a verdict, the change was taken back, or made to another value that promises nothing.
        Undone = "undone",
    }
}

impl Named for PromiseState {
    const LIST: &'static [Self] = Self::ALL;

    fn name(self) -> &'static str {
        self.as_str()
    }
}

/// What a change that was advised has promised, and what came of it. All seconds are those of an hour with the requests of the time before.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Promise {
    /// The key of the setting. A change of the repository NAME has one of four names: `members of NAME`, `names of NAME`, `private prefixes of
    /// NAME` and `negative answers of NAME`.
    pub setting: String,
    /// Its value before.
    pub from: Value,
    /// The value that was set.
    pub to: Value,
    /// The value that was advised, also by a command that sets it.
    pub advised: Value,
    /// When it was seen first that it had changed.
    pub changed_at: Millis,
    /// The seconds that clients lost before.
    pub lost_s_per_hour: f64,
    /// Those of them that the value was to save.
    pub promised_s_per_hour: f64,
    /// The seconds that clients lose less. `None`: too few requests came since.
    pub came_s_per_hour: Option<f64>,
    /// The requests that the time before is known from.
    pub requests_before: u64,
    /// The requests since the change.
    pub requests_after: u64,
    /// What came of it.
    #[serde(with = "super::stored::name")]
    pub state: PromiseState,
    /// It is undone by a change to another value than the one before.
    pub(super) is_replaced: bool,
}

impl Promise {
    /// Whether both are about the same change, which may have been made in two steps.
    pub(super) fn is_of(&self, newer: &Self) -> bool {
        let is_open = self.state == PromiseState::Measuring;
        self.setting == newer.setting && (is_open || self.changed_at == newer.changed_at)
    }

    /// The form of the API.
    pub(super) fn json(&self) -> Value {
        json!({
            "setting": self.setting, "from": self.from, "to": self.to, "advised": self.advised,
            "changed_at": self.changed_at.to_string(), "lost_s_per_hour": round(self.lost_s_per_hour),
            "promised_s_per_hour": round(self.promised_s_per_hour), "came_s_per_hour": self.came_s_per_hour.map(round),
            "requests_before": self.requests_before, "requests_after": self.requests_after, "state": self.state.as_str(),
            "sentence": self.sentence(),
        })
    }

    /// It as a sentence without an end: what was changed, promised, and what came.
    pub fn sentence(&self) -> String {
        let Self { setting, state, .. } = self;
        let changed = match (self.from.is_array() || self.to.is_array(), self.from.is_null()) {
            (true, _) => format!("{setting} changed"),
            (false, true) => format!("{setting} changed to {}", plain(&self.to)),
            (false, false) => format!("{setting} changed from {} to {}", plain(&self.from), plain(&self.to)),
        };
        let promised = format!(
            "{changed} at {}, which was to save {} an hour",
            self.changed_at,
            seconds(self.promised_s_per_hour)
        );
        match (state, self.came_s_per_hour) {
            (PromiseState::Undone, _) if self.is_replaced => {
                format!("{}: {promised}, and was changed to another value", state.as_str())
            }
            (PromiseState::Undone, _) => format!("{}: {promised}, and was taken back", state.as_str()),
            (_, Some(came)) if came < 0.0 => {
                format!("{}: {promised}, and costs {} more", state.as_str(), seconds(-came))
            }
            (_, Some(came)) => format!("{}: {promised}, and saves {}", state.as_str(), seconds(came)),
            (_, None) => format!("{}: {promised}; {} requests came since", state.as_str(), self.requests_after),
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promise(state: PromiseState, came: Option<f64>) -> Promise {
        Promise {
            setting: "upstream.max_calls".to_owned(),
            from: json!(2),
            to: json!(31),
            advised: json!(31),
            changed_at: Millis(1_793_534_400_000),
            lost_s_per_hour: 400.0,
            promised_s_per_hour: 340.0,
            came_s_per_hour: came,
            requests_before: 64,
            requests_after: 60,
            state,
            is_replaced: false,
        }
    }

    #[test]
    fn it_is_told_with_what_was_promised_and_what_came() {
        let begin =
            "upstream.max_calls changed from 2 to 31 at 2026-11-01T12:00:00.000Z, which was to save 340 s an hour";
        for (state, came, expected) in [
            (PromiseState::Held, Some(352.0), format!("held: {begin}, and saves 352 s")),
            (PromiseState::DidNotHold, Some(-12.0), format!("did not hold: {begin}, and costs 12 s more")),
            (PromiseState::Measuring, None, format!("measuring: {begin}; 60 requests came since")),
            (PromiseState::Undone, None, format!("undone: {begin}, and was taken back")),
        ] {
            assert_eq!(promise(state, came).sentence(), expected);
        }
        let other = Promise { is_replaced: true, ..promise(PromiseState::Undone, None) };
        assert_eq!(other.sentence(), format!("undone: {begin}, and was changed to another value"));
        let members = Promise {
            setting: "members of all".to_owned(),
            from: json!(["a"]),
            to: json!(["b"]),
            ..promise(PromiseState::Held, Some(1.0))
        };
        assert!(members.sentence().starts_with("held: members of all changed at "), "{}", members.sentence());
    }

    #[test]
    fn it_is_stored_and_read_again() {
        let one = promise(PromiseState::DidNotHold, Some(3.5));
        let text = serde_json::to_string(&one).unwrap();
        assert_eq!(serde_json::from_str::<Promise>(&text).unwrap(), one);
        assert_eq!(one.json()["state"], "did not hold");
    }
}
