//! Follows what findings advise: sees that a change was made, measures what comes of it, and closes the finding with the verdict.

use super::check::Guard;
use super::found::Found;
use super::promise::{Promise, PromiseState};
use super::saves::Saves;
use super::state::States;
use super::tally::Tallies;
use super::turned::Turned;
use crate::signals::Facts;
use crate::signals::seen::Seen;
use crate::signals::window::Window;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use telemetry::Millis;

/// The most findings whose advice is followed. The cheapest have no place.
const FOLLOWED_MAX: usize = 200;
/// The dearest look of so long tells what an advice promises: an older one may be of another load.
const DEAREST_MS: i64 = 60 * 60 * 1000;
/// So long after a finding was seen last its advice counts as the reason of a change.
const LATELY_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// A promise of a change since which hardly any request came is dropped after so long.
const MEASURED_MS: i64 = 30 * 24 * 60 * 60 * 1000;
/// At least this part of what was promised must come.
const HELD: f64 = 1.0 / 1.5;
/// So many promises that did not hold cost a cause a part of its confidence.
const FAILED: u32 = 2;
/// The least that is left of it.
const CONFIDENCE_MIN: f64 = 0.1;
/// Seconds of five minutes in those of an hour.
const HOURLY: f64 = 12.0;

/// The advice of an open finding, as long as nobody took it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Advice {
    /// The changes, one of which may be made: each with its value now, and the advised one.
    changes: Vec<(Turned, Value, Option<Value>)>,
    saves: Saves,
    /// What clients lost in five minutes, and the figures of that time.
    lost_s: f64,
    before: Tallies,
    /// When these were read, and when the finding was seen last.
    read: Millis,
    seen: Millis,
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Made {
    promise: Promise,
    turned: Turned,
    saves: Saves,
    before: Tallies,
    after: Tallies,
    /// It did not hold in a first time, so it is measured once more: after a start, memory is empty.
    is_second: bool,
}

/// The advice of findings, the changes that were made, and the causes whose promises did not hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Promises {
    advice: BTreeMap<String, Advice>,
    made: BTreeMap<String, Made>,
    /// Each with how often since one held. The one that failed last is the last one.
    failed: Vec<(String, u32)>,
}

impl Made {
    /// `None`: this is no change, it does not follow the advice, or it promises nothing.
    fn new(advice: &Advice, change: &(Turned, Value, Option<Value>), to: Value, now: Millis) -> Option<Self> {
        let (turned, from, advised) = change.clone();
        if to == from || !turned.follows(&from, advised.as_ref(), &to) {
            return None;
        }
        // Two sums of the same seconds may differ a little.
        let promised = advice.saves.scaled(&from, advised.as_ref(), &to).min(advice.lost_s);
        let promise = Promise {
            setting: turned.name(),
            from,
            to,
            advised: advised.unwrap_or_default(),
            changed_at: now,
            lost_s_per_hour: advice.lost_s * HOURLY,
            promised_s_per_hour: promised * HOURLY,
            came_s_per_hour: None,
            requests_before: advice.before.requests() as u64,
            requests_after: 0,
            state: PromiseState::Measuring,
            is_replaced: false,
        };
        let (saves, before, after) = (advice.saves.clone(), advice.before.clone(), Tallies::default());
        (promised > 0.0).then_some(Self { promise, turned, saves, before, after, is_second: false })
    }

    /// What another value saves. 0: it does not follow the advice.
    fn promised(&self, to: &Value) -> f64 {
        let Promise { from, advised, lost_s_per_hour, .. } = &self.promise;
        let advised = Some(advised).filter(|advised| !advised.is_null());
        if !self.turned.follows(from, advised, to) {
            return 0.0;
        }
        self.saves.scaled(from, advised, to).min(lost_s_per_hour / HOURLY)
    }

    /// Takes the figures of the time since the last look. Returns whether there is anything new to write.
    fn measure(&mut self, window: &Window, facts: &Facts, now: Millis) -> bool {
        if self.promise.state != PromiseState::Measuring {
            return false;
        }
        // The time of day was set.
        self.promise.changed_at = self.promise.changed_at.min(now);
        match self.turned.value(facts) {
            Some(value) if value == self.promise.from => {
                self.promise.state = PromiseState::Undone;
                return true;
            }
            Some(value) if value != self.promise.to => {
                // Changed again: what came until now was of another value.
                let promised = self.promised(&value);
                if promised <= 0.0 {
                    (self.promise.state, self.promise.is_replaced) = (PromiseState::Undone, true);
                    return true;
                }
                (self.promise.to, self.promise.changed_at, self.after) = (value, now, Tallies::default());
                self.is_second = false;
                self.promise.promised_s_per_hour = promised * HOURLY;
                return true;
            }
            _ => {}
        }
        self.after.add(&self.saves.gauge.read(window));
        self.promise.requests_after = self.after.requests() as u64;
        let Some(came) = self.before.spared(&self.after) else { return false };
        let held = came * HOURLY >= HELD * self.promise.promised_s_per_hour;
        if !held && !std::mem::replace(&mut self.is_second, true) {
            self.after = Tallies::default();
            return true;
        }
        self.promise.came_s_per_hour = Some(came * HOURLY);
        self.promise.state = if held { PromiseState::Held } else { PromiseState::DidNotHold };
        true
    }
}

impl Promises {
    /// Looks whether a change was made that was advised, and measures what came of those before. `window`: the time since the last look.
    /// Returns whether there is anything new to write.
    pub(super) fn measure(&mut self, window: &Window, facts: &Facts, now: Millis) -> bool {
        let mut news = false;
        self.made.values_mut().for_each(|made| news |= made.measure(window, facts, now));
        self.advice.retain(|id, advice| {
            let mut made = advice.changes.iter().filter_map(|change| {
                let (turned, ..) = change;
                Made::new(advice, change, turned.value(facts)?, now)
            });
            let Some(made) = made.next() else { return now.0.saturating_sub(advice.seen.0) < LATELY_MS };
            // The figures of this look are partly of the time before the change.
            self.made.insert(id.clone(), made);
            news = true;
            false
        });
        self.made.retain(|_, made| now.0.saturating_sub(made.promise.changed_at.0) < MEASURED_MS);
        while self.made.len() > FOLLOWED_MAX {
            let cost = |made: &Made| made.promise.lost_s_per_hour;
            let cheapest = self.made.iter().min_by(|(_, one), (_, other)| cost(one).total_cmp(&cost(other)));
            let Some(id) = cheapest.map(|(id, _)| id.clone()) else { break };
            self.made.remove(&id);
        }
        news
    }

    /// Takes a part of the confidence of a cause whose promises did not hold.
    pub(super) fn weigh(&self, found: &mut Found) {
        let Some(failed) = self.failures(&found.id).filter(|failed| *failed >= FAILED) else { return };
        let part = 0.5_f64.powi(i32::try_from(failed - FAILED + 1).unwrap_or(i32::MAX));
        found.problem.confidence = (found.problem.confidence * part).max(CONFIDENCE_MIN.min(found.problem.confidence));
        let guard = Guard::passed("promises of this advice that did not hold", failed);
        found.problem.guards.push(Guard { passed: false, ..guard });
    }

    /// What these findings advise and promise now.
    pub(super) fn read(&self, all: &[Found], seen: &Seen) -> Vec<(String, Advice)> {
        let advice = |found: &Found| {
            let (saves, lost_s) = (found.problem.saves.clone()?, found.problem.lost.hourly_s / HOURLY);
            let changes = found.problem.changes.iter().filter_map(|change| {
                let turned = change.turns.clone()?;
                let value = turned.value(&seen.facts)?;
                Some((turned, value, change.advised().cloned()))
            });
            let (changes, before) = (changes.collect::<Vec<_>>(), saves.gauge.read(&seen.recent));
            let says = !changes.is_empty() && saves.recent_s > 0.0 && before.seconds() > 0.0;
            let (read, seen) = (seen.now, seen.now);
            says.then(|| (found.id.clone(), Advice { changes, saves, lost_s, before, read, seen }))
        };
        all.iter().filter_map(advice).collect()
    }

    /// Takes the advice of the findings among these that are open.
    pub(super) fn take(&mut self, all: Vec<(String, Advice)>, states: &States) {
        for (id, new) in all {
            if states.entries.get(&id).is_none_or(|entry| entry.opened.is_none()) {
                continue;
            }
            match self.advice.get_mut(&id) {
                Some(known) => {
                    known.seen = new.seen;
                    let is_old = new.read.0.saturating_sub(known.read.0) >= DEAREST_MS || new.read < known.read;
                    if is_old || new.saves.recent_s >= known.saves.recent_s || !same(known, &new) {
                        *known = new;
                    }
                }
                None => drop(self.advice.insert(id, new)),
            }
        }
        self.follow(FOLLOWED_MAX);
    }

    /// Keeps the dearest advice alone, at most so much.
    fn follow(&mut self, most: usize) {
        while self.advice.len() > most {
            let cheapest = self.advice.iter().min_by(|(_, one), (_, other)| one.lost_s.total_cmp(&other.lost_s));
            let Some(id) = cheapest.map(|(id, _)| id.clone()) else { return };
            self.advice.remove(&id);
        }
    }

    /// Drops the cheaper half of the advice that nobody took. Returns whether there was any.
    pub(super) fn halve(&mut self) -> bool {
        let before = self.advice.len();
        self.follow(before / 2);
        before > 0
    }

    /// How many promises of a finding did not hold since one did.
    fn failures(&self, id: &str) -> Option<u32> {
        self.failed.iter().find(|(failed, _)| failed == id).map(|(_, count)| *count)
    }

    /// Notes a verdict. If there are too many that failed, the oldest goes.
    fn note(&mut self, id: &str, held: bool) {
        let before = self.failures(id).unwrap_or(0);
        self.failed.retain(|(failed, _)| failed != id);
        if !held {
            self.failed.push((id.to_owned(), before.saturating_add(1)));
            let over = self.failed.len().saturating_sub(FOLLOWED_MAX);
            self.failed.drain(..over);
        }
    }

    /// Tells the findings what came. One with a verdict closes, unless it did not hold and is seen nevertheless. Returns whether there is
    /// anything new in the history.
    pub(super) fn tell(&mut self, states: &mut States, now: Millis) -> bool {
        let (mut news, mut verdicts) = (false, Vec::new());
        for (id, Made { promise, .. }) in &self.made {
            news |= states.tell(id, promise, now);
            if let PromiseState::Held | PromiseState::DidNotHold = promise.state {
                verdicts.push((id.clone(), promise.state == PromiseState::Held));
            }
        }
        verdicts.iter().for_each(|(id, held)| self.note(id, *held));
        self.made.retain(|id, made| match made.promise.state {
            PromiseState::Measuring => true,
            PromiseState::Undone => states.entries.contains_key(id),
            PromiseState::Held | PromiseState::DidNotHold => false,
        });
        news
    }
}

/// Whether two looks advise to change the same from the same values.
fn same(one: &Advice, other: &Advice) -> bool {
    let changes = |advice: &Advice| {
        advice.changes.iter().map(|(turned, from, _)| (turned.clone(), from.clone())).collect::<Vec<_>>()
    };
    changes(one) == changes(other)
}

#[cfg(test)]
mod tests;
