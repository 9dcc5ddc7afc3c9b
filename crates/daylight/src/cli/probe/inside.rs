//! What the server knows of the requests: how long each took in it, and on what it spent the time.

use super::Probe;
use crate::cli::api::Api;
use crate::cli::failure::{Failure, plain};
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};
use std::pin::pin;
use std::time::Duration;

/// The most events that are read.
const EVENTS_MAX: usize = 200;
/// How often an event is looked for: the last byte of an answer may arrive before the server knows that it was sent.
const LOOKS: usize = 3;
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
    /// Answers whose event is that of an earlier one: they came from a cache on the way.
    pub(super) repeated: usize,
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
        let (mut seen, mut read) = (HashSet::new(), 0);
        for probe in probes {
            let mut inside = None;
            if !probe.event.is_empty() && !seen.insert(probe.event.as_str()) {
                insides.repeated += 1;
            } else if !probe.event.is_empty() && insides.refused.is_none() && read < EVENTS_MAX {
                read += 1;
                inside = insides.event(api, &probe.event);
            }
            let told = || Some(Inside { first_byte_ms: probe.told_ms?, ..Inside::default() });
            insides.all.push(inside.or_else(told));
        }
        insides
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

impl From<Event> for Inside {
    fn from(event: Event) -> Self {
        let Event { first_byte_ms, duration_ms, ops } = event;
        let ops = ops.into_iter().filter(|(_, op)| !op.inside).map(|(name, op)| (name, op.ms)).collect();
        Self { first_byte_ms, body_ms: Some((duration_ms - first_byte_ms).max(0.0)), ops }
    }
}
