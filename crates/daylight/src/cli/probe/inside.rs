//! What the server knows of the requests: how long each took in it, and on what it spent the time.

use super::{Probe, ms};
use crate::cli::api::Api;
use crate::cli::failure::{Failure, plain};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::pin::pin;
use std::time::Duration;

/// The most events that are read.
pub(super) const EVENTS_MAX: usize = 200;
/// How often an event is looked for: the last byte of an answer may arrive before the server knows that it was sent.
const LOOKS: usize = 3;
/// The server notes the first byte after it was sent, so on a busy machine it may seem so much later than it arrived, in milliseconds.
const NOTED_LATE_MS: f64 = 25.0;
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// The time of a request in the server, in milliseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Inside {
    /// Until the first byte of the answer.
    pub(super) first_byte_ms: f64,
    /// From the first byte of the answer to its last; `None`: not known.
    pub(super) body_ms: Option<f64>,
    /// The operations on its line.
    pub(super) ops: BTreeMap<String, f64>,
}

/// What the server told.
#[derive(Debug, Default)]
pub(super) struct Insides {
    /// By the place of the request. `None`: nothing.
    pub(super) all: Vec<Option<Inside>>,
    /// Answers whose event is that of an earlier one, or whose event took longer than they did: they came from a cache on the way.
    pub(super) repeated: usize,
    /// Answers whose events were not read, because they are too many.
    pub(super) unread: usize,
    /// Why the server did not tell.
    pub(super) refused: Option<String>,
}

/// An event, as far as it is needed.
#[derive(Debug, Deserialize)]
struct Event {
    first_byte_ms: f64,
    duration_ms: f64,
    #[serde(default)]
    ops: BTreeMap<String, Op>,
}

#[derive(Debug, Deserialize)]
struct Op {
    ms: f64,
    #[serde(default)]
    inside: bool,
}

impl Insides {
    /// Asks the server about each request.
    pub(super) fn ask(api: &Api, probes: &[Probe]) -> Self {
        let mut insides = Self::default();
        let (counts, mut read) = (counts(probes), 0);
        for probe in probes {
            // Which answer of a cache is the one that it waited for is not known, and it may have been asked for long before.
            let is_repeated = counts.get(probe.event.as_str()).is_some_and(|count| *count > 1);
            let mut inside = None;
            if !is_repeated && !probe.event.is_empty() && insides.refused.is_none() {
                if read < EVENTS_MAX {
                    read += 1;
                    inside = insides.event(api, &probe.event);
                } else {
                    insides.unread += 1;
                }
            }
            let told = || Some(Inside { first_byte_ms: probe.told_ms?, ..Inside::default() });
            let inside = if is_repeated { None } else { inside.or_else(told) };
            insides.add(inside, probe);
        }
        insides.repeated += counts.values().map(|count| count - 1).sum::<usize>();
        insides
    }

    /// Takes what was told of a request, unless it is the time of another one: none takes longer in the server than at its client.
    fn add(&mut self, inside: Option<Inside>, probe: &Probe) {
        let head = ms(probe.times.head);
        let is_possible = |inside: &Inside| inside.first_byte_ms <= head + NOTED_LATE_MS;
        self.repeated += usize::from(inside.as_ref().is_some_and(|inside| !is_possible(inside)));
        let possible = inside.filter(is_possible);
        self.all.push(possible.map(|inside| Inside { first_byte_ms: inside.first_byte_ms.min(head), ..inside }));
    }

    fn event(&mut self, api: &Api, id: &str) -> Option<Inside> {
        for look in 0..LOOKS {
            if look > 0 {
                api.wait(PAUSE, pin!(std::future::pending::<()>()));
            }
            match api.get(&format!("/api/v1/events/{}", format::percent::segment(id))) {
                Ok(event) => return serde_json::from_value::<Event>(event).ok().map(Inside::from),
                Err(error) if error.downcast_ref::<Failure>().and_then(Failure::status) == Some(404) => {}
                Err(error) => {
                    self.refused = Some(plain(&format!("{error:#}")));
                    return None;
                }
            }
        }
        None
    }

    /// Requests of which the server told.
    pub(super) fn known(&self) -> usize {
        self.all.iter().flatten().count()
    }
}

/// How many answers have each event.
fn counts(probes: &[Probe]) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for probe in probes.iter().filter(|probe| !probe.event.is_empty()) {
        *counts.entry(probe.event.as_str()).or_default() += 1;
    }
    counts
}

impl From<Event> for Inside {
    fn from(event: Event) -> Self {
        let Event { first_byte_ms, duration_ms, ops } = event;
        let ops = ops.into_iter().filter(|(_, op)| !op.inside).map(|(name, op)| (name, op.ms)).collect();
        Self { first_byte_ms, body_ms: Some((duration_ms - first_byte_ms).max(0.0)), ops }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use client::CallTimes;

    fn probe(event: &str, head: u64) -> Probe {
        let times = CallTimes { head: head * 1_000_000, ..CallTimes::default() };
        Probe { times, status: 200, event: event.to_owned(), told_ms: None }
    }

    #[test]
    fn a_time_of_another_request_is_not_taken_and_one_that_was_noted_late_is_the_whole_wait() {
        let mut insides = Insides::default();
        for first_byte_ms in [30.0, 110.0, 400.0] {
            insides.add(Some(Inside { first_byte_ms, ..Inside::default() }), &probe("a", 100));
        }
        let told: Vec<Option<f64>> =
            insides.all.iter().map(|inside| inside.as_ref().map(|inside| inside.first_byte_ms)).collect();
        assert_eq!((told, insides.repeated), (vec![Some(30.0), Some(100.0), None], 1));
    }

    #[test]
    fn answers_are_counted_by_their_events() {
        let probes = ["a", "b", "a", "", ""].map(|event| probe(event, 1));
        assert_eq!(counts(&probes), HashMap::from([("a", 2), ("b", 1)]));
    }
}
