//! The answer of sizing: all rows, the sizes that are too small or twice too large in sentences, and whether servers are wasted.

use super::loads::{Loads, Resource};
use super::period::{Period, SizingAsked};
use super::row::{SizingRow, SizingVerdict};
use super::surroundings::Surroundings;
use super::{caches, machine, places};
use crate::ask::Answer;
use crate::findings::caches::size::show;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use telemetry::{Millis, PoolName};

/// A size to change, or one that no change helps.
#[derive(Debug, Clone, PartialEq)]
pub struct SizingAdvice {
    /// As in the row.
    pub subject: String,
    /// The setting. `None`: it is no setting.
    pub setting: Option<String>,
    /// Its value.
    pub from: Option<u64>,
    /// The value that is enough. `None`: no other value helps.
    pub to: Option<u64>,
    /// The verdict of the row.
    pub verdict: SizingVerdict,
    /// The same for people.
    pub sentence: String,
}

/// How many of everything today's traffic and a multiple of it need.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizing {
    asked: SizingAsked,
    /// The begin of the busiest minute and its requests.
    busiest: Option<(Millis, u64)>,
    requests: u64,
    /// Since when pools are sampled.
    since: Option<Millis>,
    factor: Option<f64>,
    /// Nearly nobody asked.
    pub idle: bool,
    /// One row for each pool, limit and cache that was used, and the machine.
    pub rows: Vec<SizingRow>,
    /// What to change.
    pub advice: Vec<SizingAdvice>,
    /// The machines like this one that today's traffic needs, and the multiple.
    pub machines: Option<(u64, u64)>,
    /// The answer in a sentence.
    pub sentence: String,
}

impl Sizing {
    /// Answers.
    pub(crate) fn of(asked: SizingAsked, loads: &Loads, around: &Surroundings, counts: Option<&Answer>) -> Self {
        let period = Period::new(&asked, loads, counts);
        let mut rows: Vec<SizingRow> =
            loads.resources().into_iter().filter_map(|resource| places::row(resource, &period, around)).collect();
        rows.extend(around.groups.first().and_then(|_| width(around)));
        rows.extend(around.caches.iter().map(|cache| caches::row(cache, &period)));
        rows.extend(machine::rows(&period, around));
        let idle = period.is_idle();
        if idle {
            rows.iter_mut().for_each(forget);
        }
        let advice = if idle { Vec::new() } else { advice(&rows, around, asked.times) };
        let machines = machine::machines(&rows).filter(|_| !idle);
        let busiest = period.busiest.map(|busiest| (busiest.at, busiest.requests));
        let sentence = sentence(&period, machines);
        let (requests, since, factor) = (period.requests, loads.since, period.factor());
        let from = period.from;
        Self {
            asked: SizingAsked { from, ..asked },
            busiest,
            requests,
            since,
            factor,
            idle,
            rows,
            advice,
            machines,
            sentence,
        }
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let advice = |one: &SizingAdvice| {
            json!({
                "subject": one.subject, "setting": one.setting, "from": one.from, "to": one.to, "verdict": one.verdict.as_str(),
                "sentence": one.sentence,
            })
        };
        json!({
            "from": self.asked.from.to_string(), "to": self.asked.to.to_string(), "times": self.asked.times,
            "requests": self.requests,
            "busiest": self.busiest.map(|(at, requests)| json!({ "at": at.to_string(), "requests": requests })),
            "sampled_since": self.since.map(|at| at.to_string()), "sampled_times": self.factor,
            "idle": self.idle, "sentence": self.sentence,
            "rows": self.rows.iter().map(SizingRow::json).collect::<Vec<_>>(),
            "advice": self.advice.iter().map(advice).collect::<Vec<_>>(),
            "machines": self.machines.map(|(needed, needed_at)| json!({ "needed": needed, "needed_at": needed_at })),
        })
    }
}

/// Nothing is said about the sizes of a server that nobody asks.
fn forget(row: &mut SizingRow) {
    (row.needed, row.needed_at, row.verdict, row.confidence) = (None, None, SizingVerdict::Unknown, 0.0);
    "the server is idle".clone_into(&mut row.why);
}

/// How many members groups ask at once.
fn width(around: &Surroundings) -> Option<SizingRow> {
    const SETTING: &str = "upstream.max_concurrent";
    let (name, asked) = around.groups.iter().max_by_key(|(_, asked)| *asked)?;
    let row = SizingRow {
        now: Some(around.setting(SETTING)?),
        needed: Some(*asked),
        needed_at: Some(*asked),
        why: format!("`{name}` asked that many members for one answer; more traffic asks no more of them for each"),
        confidence: 0.9,
        data: json!({ "groups": around.groups.len() }),
        ..SizingRow::unknown("group:width".to_owned(), Some(SETTING), "members", "")
    };
    Some(row.judged())
}

/// The changes, one for each setting: where several rows have the same setting, the one that needs most decides.
fn advice(rows: &[SizingRow], around: &Surroundings, times: f64) -> Vec<SizingAdvice> {
    let mut by_setting: BTreeMap<&str, Vec<&SizingRow>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.verdict != SizingVerdict::Unknown) {
        // Each application has slots of its own.
        let key = row.setting.as_deref().filter(|_| !row.subject.starts_with("app:")).unwrap_or(&row.subject);
        by_setting.entry(key).or_default().push(row);
    }
    let largest = |rows: Vec<&SizingRow>| rows.into_iter().max_by_key(|row| (row.needed, row.needed_at)).cloned();
    let mut advice: Vec<SizingAdvice> =
        by_setting.into_values().filter_map(largest).filter_map(|row| one(&row, around, times)).collect();
    advice.sort_by_key(|one| (one.verdict as usize, one.subject.clone()));
    advice
}

/// Fewer of something are advised without a warning only from this confidence on, which needs an hour of figures.
const SURE: f64 = 0.9;

fn one(row: &SizingRow, around: &Surroundings, times: f64) -> Option<SizingAdvice> {
    let (now, needed, needed_at) = (row.now?, row.needed?, row.needed_at?);
    let name = row.setting.as_ref().map_or_else(|| row.subject.clone(), |setting| format!("`{setting}`"));
    let traffic = multiple(times);
    // These threads are set for each core.
    let is_each = row.setting.as_deref() == PoolName::FileThreads.setting();
    let each = if is_each { around.setting("server.cores").unwrap_or(1).max(1) } else { 1 };
    let limits = row.setting.as_deref().and_then(|key| around.facts.setting(key)?.limits).unwrap_or((1, u64::MAX));
    let value = |places: u64| places.div_ceil(each).clamp(limits.0, limits.1);
    let amount = |size: u64| match row.unit {
        "bytes" => show(size),
        unit if size == 1 => format!("1 {}", unit.trim_end_matches('s')),
        unit => format!("{size} {unit}"),
    };
    let (is, why) = (amount(now), &row.why);
    let (to, sentence) = match row.verdict {
        SizingVerdict::TooSmall => (
            Some(value(needed_at)),
            format!(
                "{name}: {is} are too few: the busiest minute needs {}, and {traffic} {} ({}: {why})",
                amount(needed),
                amount(needed_at),
                row.subject
            ),
        ),
        SizingVerdict::TooSmallForMore => (
            Some(value(needed_at)),
            format!(
                "{name}: {is} are enough for the busiest minute, and {traffic} needs {} ({}: {why})",
                amount(needed_at),
                row.subject
            ),
        ),
        SizingVerdict::TwiceTooLarge => (
            Some(value(needed_at.min(now))),
            format!(
                "{name}: {is}, {} would do, and {} for {traffic} ({}: {why}){}",
                amount(needed),
                amount(needed_at),
                row.subject,
                // A busier hour may come.
                if row.confidence < SURE { "; wait for an hour of traffic before you change it" } else { "" },
            ),
        ),
        SizingVerdict::MoreDoesNotHelp => {
            (None, format!("{name}: {is}, and more would not help ({}: {why})", row.subject))
        }
        SizingVerdict::Enough | SizingVerdict::Unknown => return None,
    };
    let from = row.setting.as_deref().and_then(|key| around.setting(key)).or(Some(now));
    let (subject, setting, verdict) = (row.subject.clone(), row.setting.clone(), row.verdict);
    // The limits of a setting, or the places for each core, may leave no other value.
    (to.is_none() || to != from || setting.is_none()).then_some(SizingAdvice {
        subject,
        setting,
        from,
        to,
        verdict,
        sentence,
    })
}

/// A multiple of the traffic, for people.
fn multiple(times: f64) -> String {
    if times == 2.0 { "twice its traffic".to_owned() } else { format!("{times} times its traffic") }
}

fn sentence(period: &Period<'_>, machines: Option<(u64, u64)>) -> String {
    let Some(busiest) = period.busiest else {
        return "requests are not counted by minute yet, or nobody has asked anything: it needs an hour of traffic"
            .to_owned();
    };
    let requests = busiest.requests;
    if period.is_idle() {
        return format!(
            "the server is idle: the busiest minute of the period had {requests} requests, so nothing is said about sizes"
        );
    }
    let traffic = multiple(period.times);
    let machines = match machines {
        None => "how many machines that needs is not known yet: it needs an hour of traffic".to_owned(),
        Some((1, 1)) => format!(
            "this machine is enough for it, and for {traffic}: a second one serves nobody, but it takes over where this one fails"
        ),
        Some((one, more)) => format!("it needs {one} machines like this one, and {traffic} {more}"),
    };
    let sampled = period.loads.busiest(&Resource::Processors, period.from, period.to, period.now);
    let certainty = period.certainty(sampled.map_or(0, |sampled| sampled.minutes));
    format!("the busiest minute began at {} and had {requests} requests; {machines}{certainty}", busiest.at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Figure;
    use crate::signals::facts::{Facts, SettingFact};
    use std::sync::Arc;

    const MINUTE: i64 = 60_000;

    /// A row of something that has a size of its own.
    fn row(subject: &str, setting: &str, sizes: [u64; 3]) -> SizingRow {
        let [now, needed, needed_at] = sizes.map(Some);
        let row = SizingRow::unknown(subject.to_owned(), Some(setting), "threads", "it was seen");
        SizingRow { now, needed, needed_at, costs: true, ..row }.judged()
    }

    fn around() -> Surroundings {
        let setting = |key: &str, number, most| SettingFact {
            key: key.to_owned(),
            number: Some(number),
            limits: Some((1, most)),
            ..SettingFact::default()
        };
        let settings = vec![
            setting("server.cores", 4, 1024),
            setting("server.file_threads", 8, 64),
            setting("upstream.max_calls", 32, 40),
        ];
        Surroundings { facts: Arc::new(Facts { settings, ..Facts::default() }), ..Surroundings::default() }
    }

    fn told(rows: &[SizingRow]) -> Vec<(String, SizingVerdict, Option<u64>, Option<u64>)> {
        let one = |one: SizingAdvice| (one.subject, one.verdict, one.from, one.to);
        advice(rows, &around(), 2.0).into_iter().map(one).collect()
    }

    #[test]
    fn a_setting_of_several_hosts_is_as_large_as_the_one_that_needs_most() {
        let calls = |host: &str, sizes| row(host, "upstream.max_calls", sizes);
        let rows = [calls("upstream:a:80", [32, 3, 6]), calls("upstream:b:80", [32, 12, 24])];
        let large = ("upstream:b:80".to_owned(), SizingVerdict::TwiceTooLarge, Some(32), Some(24));
        assert_eq!(told(&rows), [large]);
        assert_eq!(told(&[calls("upstream:a:80", [32, 3, 6]), calls("upstream:b:80", [32, 17, 32])]), []);
        let small = ("upstream:b:80".to_owned(), SizingVerdict::TooSmall, Some(32), Some(40));
        assert_eq!(
            told(&[rows[0].clone(), calls("upstream:b:80", [32, 50, 100])]),
            [small],
            "the limit of the setting"
        );
    }

    #[test]
    fn threads_of_each_core_are_set_for_each_core_and_slots_for_each_application() {
        let files = row("pool:file.threads", "server.file_threads", [32, 5, 9]);
        let [lamps, oil] = ["app:lamps", "app:oil"].map(|app| row(app, "app.slots", [8, 1, 2]));
        let large = |subject: &str, from, to| (subject.to_owned(), SizingVerdict::TwiceTooLarge, Some(from), Some(to));
        let expected = [large("app:lamps", 8, 2), large("app:oil", 8, 2), large("pool:file.threads", 8, 3)];
        assert_eq!(told(&[files.clone(), oil, lamps]), expected);
        let sentence = &advice(&[files], &around(), 3.0)[0].sentence;
        let words = "`server.file_threads`: 32 threads, 5 threads would do, and 9 threads for 3 times its traffic";
        assert!(sentence.starts_with(words), "{sentence}");
    }

    #[test]
    fn a_server_that_nobody_asks_says_so_and_one_without_samples_that_they_are_missing() {
        let now = Millis(100 * MINUTE);
        let asked = SizingAsked { from: Millis(0), to: now, now, times: 2.0 };
        let mut counts = Answer::empty(&asked.question().unwrap());
        let minute = |requests| vec![Figure::Moment(Millis(7 * MINUTE)), Figure::Whole(requests), Figure::Whole(600)];
        counts.rows = vec![minute(59)];
        let idle = Sizing::of(asked, &Loads::default(), &around(), Some(&counts));
        assert!(idle.idle && idle.sentence.starts_with("the server is idle") && idle.advice.is_empty(), "{idle:#?}");
        assert!(idle.rows.iter().all(|row| row.needed.is_none()), "{idle:#?}");
        counts.rows = vec![minute(60)];
        let busy = Sizing::of(asked, &Loads::default(), &around(), Some(&counts));
        assert!(!busy.idle && busy.machines.is_none() && busy.sentence.contains("not known yet"), "{busy:#?}");
        let json = busy.json();
        assert_eq!(
            (&json["requests"], &json["busiest"]["requests"], &json["sampled_times"]),
            (&60.into(), &60.into(), &Value::Null)
        );
        let network = json["rows"].as_array().unwrap().iter().find(|row| row["subject"] == "machine:network").unwrap();
        assert_eq!((&network["needed"], &network["needed_at"]), (&10.into(), &20.into()));
        let nothing = Sizing::of(asked, &Loads::default(), &around(), None);
        assert!(nothing.idle && nothing.sentence.contains("an hour of traffic"), "{}", nothing.sentence);
    }
}
