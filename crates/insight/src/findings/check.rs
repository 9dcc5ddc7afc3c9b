//! A check: a standing question about what findings read, with its thresholds in words and the function that answers it.

use super::saves::Saves;
use super::stored::Named;
use super::turned::Turned;
use crate::signals::seen::Seen;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;
use telemetry::{EventId, closed_list};

closed_list! {
    /// What a finding is in the chain of events. A cause comes before a failure, a failure before an impact.
    #[derive(PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum FindingKind {
        /// Something to change: a setting, a member, a machine.
        Cause = "cause",
        /// The first sign that something does not work.
        Failure = "failure",
        /// What clients notice.
        Impact = "impact",
    }
}

impl Named for FindingKind {
    const LIST: &'static [Self] = Self::ALL;

    fn name(self) -> &'static str {
        self.as_str()
    }
}

/// A check. Each has a file of its own, and a line in the documentation is made from it.
pub(crate) struct Check {
    /// Its name in ids, such as `pool-too-narrow`.
    pub(crate) key: &'static str,
    pub(crate) kind: FindingKind,
    /// What a finding of it says, in one sentence without figures.
    pub(crate) about: &'static str,
    /// When it is seen: figures with their thresholds.
    pub(crate) when: &'static str,
    /// What must hold besides, so that it does not cry wolf. Empty: nothing.
    pub(crate) unless: &'static str,
    /// How long it must be seen until it opens, by the time of day.
    pub(crate) after: Duration,
    /// How long it must not be seen until it closes, by the time of day.
    pub(crate) keeps: Duration,
    /// Looks.
    pub(crate) look: fn(&Seen) -> Verdict,
}

impl Check {
    /// The usual time until a finding opens.
    pub(crate) const AFTER: Duration = Duration::from_secs(5 * 60);
    /// The usual time until a finding closes.
    pub(crate) const KEEPS: Duration = Duration::from_secs(30 * 60);
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// It needs more data: what, and the uptime at which it will have that, if time is all that it needs.
    Unknown { needs: String, until: Option<Duration> },
    /// What it found; empty: nothing.
    Looked(Vec<Problem>),
}

impl Verdict {
    /// Nothing was found.
    pub(crate) const QUIET: Verdict = Verdict::Looked(Vec::new());
}

/// Something that a check found.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Problem {
    /// What it is about: `upstream:HOST:PORT`, `bound:truth.readers`, `cache:pages`, `repository:NAME`, `member:GROUP/NAME`, `client:ADDRESS`,
    /// `job:NAME`, `server`, `disk`, `loop:NAME`.
    pub(crate) subject: String,
    /// What clients lose.
    pub(crate) lost: Lost,
    /// How sure the check is, 0 to 1.
    pub(crate) confidence: f64,
    /// The fault with its figures, for people.
    pub(crate) sentence: String,
    /// What to change.
    pub(crate) changes: Vec<Change>,
    /// The question about events that shows it, as `POST /api/v1/ask` takes it, without `from` and `to`.
    pub(crate) evidence: Value,
    /// The event that shows it best.
    pub(crate) event: Option<EventId>,
    /// What was checked besides.
    pub(crate) guards: Vec<Guard>,
    /// What the advised change saves. `None`: nothing is advised, it saves no time, or nobody can tell how much.
    pub(crate) saves: Option<Saves>,
}

/// Seconds that clients lose.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Lost {
    /// Seconds in the last five minutes. Above 60 a finding opens at once.
    pub(crate) recent_s: f64,
    /// Seconds in an hour.
    pub(crate) hourly_s: f64,
    /// The seconds of the last five minutes by repository, where they are known: a symptom is folded under a cause that explains most of
    /// its seconds. Empty: the whole server.
    pub(crate) by_repository: BTreeMap<Box<str>, f64>,
}

impl Lost {
    /// Seconds of the last five minutes, of the whole server.
    pub(crate) fn recent(seconds: f64) -> Self {
        // Younger servers have shorter windows. A rate from seconds would be a guess.
        Self { recent_s: seconds, hourly_s: seconds * 12.0, by_repository: BTreeMap::new() }
    }

    /// The same, by repository.
    pub(crate) fn of<'a>(seconds: impl IntoIterator<Item = (&'a str, f64)>) -> Self {
        let mut by_repository: BTreeMap<Box<str>, f64> = BTreeMap::new();
        for (name, seconds) in seconds {
            *by_repository.entry(name.into()).or_default() += seconds;
        }
        Self { by_repository: by_repository.clone(), ..Self::recent(by_repository.values().sum()) }
    }

    /// Seconds of the last hour, of the whole server.
    pub(crate) fn hourly(seconds: f64) -> Self {
        Self { recent_s: 0.0, hourly_s: seconds, by_repository: BTreeMap::new() }
    }
}

/// A change that would help: of a setting, or a command where it is no setting.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Change {
    /// The key of the setting. `None`: it is none.
    pub setting: Option<String>,
    /// Its value now.
    pub from: Option<Value>,
    /// The advised value.
    pub to: Option<Value>,
    /// Whether it is in force without a restart.
    pub live: bool,
    /// The command that makes the change, where it is no setting.
    pub command: Option<String>,
    /// What the command changes, where that can be seen.
    #[serde(skip)]
    pub(crate) turns: Option<Turned>,
    /// The value that the command sets, where `to` does not say it.
    #[serde(skip)]
    pub(crate) advised: Option<Value>,
}

impl Change {
    /// A setting, with its present value from what the program told. `None`: there is no setting of this key, or its limits allow no such
    /// change.
    pub(crate) fn of_setting(seen: &Seen, key: &str, to: u64) -> Option<Self> {
        let setting = seen.facts.setting(key)?;
        let limited = setting.limits.map_or(to, |(low, high)| to.max(low).min(high));
        if setting.number.is_some_and(|now| now == to || limited.cmp(&now) != to.cmp(&now)) {
            return None;
        }
        let to = limited;
        let from = setting.number.map(Value::from).unwrap_or_else(|| Value::from(&*setting.value));
        Some(Self {
            setting: Some(key.to_owned()),
            from: Some(from),
            to: Some(to.into()),
            live: setting.live,
            command: None,
            turns: Some(Turned::Setting(key.to_owned())),
            advised: None,
        })
    }

    /// A command.
    pub(crate) fn by_command(command: String) -> Self {
        Self { setting: None, from: None, to: None, live: true, command: Some(command), turns: None, advised: None }
    }

    /// A command that changes this to a value.
    pub(crate) fn turning(command: String, turns: Turned, advised: Value) -> Self {
        Self { turns: Some(turns), advised: Some(advised), ..Self::by_command(command) }
    }

    /// The value that is advised, of a setting or by a command.
    pub(crate) fn advised(&self) -> Option<&Value> {
        self.advised.as_ref().or(self.to.as_ref())
    }
}

/// Something that was checked so that a finding is no false alarm.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Guard {
    /// What was checked.
    pub name: Cow<'static, str>,
    /// Whether it holds.
    pub passed: bool,
    /// The figure.
    pub value: Value,
}

impl Guard {
    /// A guard that held: only then there is a finding.
    pub(crate) fn passed(name: &'static str, value: impl Into<Value>) -> Self {
        Self { name: name.into(), passed: true, value: value.into() }
    }
}
