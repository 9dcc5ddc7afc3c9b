//! The account of one event: where its time went, read from its JSON.

use serde_json::Value;
use std::collections::BTreeMap;

/// The operation after the first byte.
const SEND: &str = "body.send";

/// The times of one event, in microseconds.
#[derive(Debug)]
pub(super) struct Account {
    /// The kind of work that it is compared with.
    pub(super) class: String,
    pub(super) duration: i64,
    /// The time without any operation on the line.
    pub(super) unaccounted: i64,
    event: Value,
}

/// Milliseconds with three digits, as whole microseconds.
fn micros(value: &Value) -> i64 {
    (value.as_f64().unwrap_or_default() * 1000.0).round() as i64
}

/// The sum of the operations on the line, without sending, and how far rounding may have raised it.
fn line(ops: &Value) -> (i64, i64) {
    let ops = ops.as_object().into_iter().flatten();
    let line = ops.filter(|(name, tally)| tally.get("inside").is_none() && *name != SEND);
    let line: Vec<i64> = line.map(|(_, tally)| micros(&tally["ms"])).collect();
    (line.iter().sum(), line.len() as i64 / 2 + 1)
}

impl Account {
    /// Reads the account of an event. The operations on its line, and those of each member, took no longer than the
    /// whole; sending begins with the first byte and ends with the event.
    pub(super) fn of(event: &Value) -> Self {
        let (duration, first_byte) = (micros(&event["duration_ms"]), micros(&event["first_byte_ms"]));
        let send = micros(&event["ops"][SEND]["ms"]);
        let before = if first_byte > 0 { first_byte } else { duration };
        if first_byte > 0 {
            assert!((first_byte + send - duration).abs() <= 1, "first byte and sending are not the duration: {event}");
        } else {
            assert_eq!(send, 0, "it was sent before its first byte: {event}");
        }
        let (sum, rounded) = line(&event["ops"]);
        assert!(sum <= before + rounded, "{sum} us on the line in {before} us: {event}");
        for member in event["members"].as_array().into_iter().flatten() {
            let (sum, rounded) = line(&member["ops"]);
            let whole = micros(&member["ms"]);
            assert!(sum <= whole + rounded, "{sum} us on the line of a member in {whole} us: {event}");
        }
        let text = |key: &str| event[key].as_str().unwrap_or_default();
        let class = match (text("kind"), text("layer")) {
            ("job", _) => format!("job {}", text("method")),
            (_, "page") => "hit".to_owned(),
            _ if text("outcome") == "client_gone" => "client gone".to_owned(),
            (_, layer) => format!("{layer} {}", text("class")),
        };
        Self { class, duration, unaccounted: (before - sum).max(0), event: event.clone() }
    }

    /// How much of the goal it takes: 1 is the goal of its class. Hits have 2 us, others 20 us or a twentieth.
    fn share(&self) -> f64 {
        let goal = if self.class == "hit" { 2.0 } else { (self.duration as f64 / 20.0).max(20.0) };
        self.unaccounted as f64 / goal
    }
}

/// Prints for each class the percentiles of the unaccounted time, and of its share of the goal, with an example where the
/// goal is missed.
pub(super) fn print(accounts: &[Account]) {
    let mut classes: BTreeMap<&str, Vec<&Account>> = BTreeMap::new();
    accounts.iter().for_each(|account| classes.entry(&account.class).or_default().push(account));
    println!("class                  events   unaccounted us: p50     p95     max   share of the goal at p95");
    let mut examples = Vec::new();
    for (class, mut all) in classes {
        let at = |percent: usize| (all.len() * percent / 100).min(all.len() - 1);
        let (half, most) = (at(50), at(95));
        all.sort_unstable_by_key(|account| account.unaccounted);
        let [p50, p95, max] = [half, most, all.len() - 1].map(|at| all[at].unaccounted);
        all.sort_by(|one, other| one.share().total_cmp(&other.share()));
        let share = all[most].share();
        println!("{class:22} {:6} {p50:23} {p95:7} {max:7} {share:8.2}", all.len());
        examples.extend((share > 1.0).then_some(&all[most].event));
    }
    examples.into_iter().for_each(|event| println!("misses the goal: {event}"));
}
