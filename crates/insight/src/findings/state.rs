//! The states of findings: pending, open, closed. A finding is seen at each look, or it is not.

use super::check::Lost;
use super::found::Found;
use super::history::{History, Past};
use super::promise::{Promise, PromiseState};
use super::{Finding, FindingState};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use telemetry::{Millis, Tick};

/// The most findings at a time. The cheapest ones have no place.
pub(super) const FINDINGS_MAX: usize = 500;
/// How the sentence of a finding begins that was not seen lately.
const NOT_SEEN: &str = "not seen since ";
/// Looks without it after which a pending finding goes.
const MISSED_MAX: u32 = 2;
/// Above so many lost seconds in five minutes a finding opens at once.
const AT_ONCE_S: f64 = 60.0;
/// A longer time between two looks, by the time of day, is a correction of the clock and counts as none.
const LEAP_MS: i64 = 24 * 60 * 60 * 1000;
/// The most that counts between two looks, ten seconds apart, where the clock is that of the machine: the process may have been stopped. For what
/// was lost it is the most in any case.
const LOOK_MAX_MS: i64 = 60 * 1000;
/// A finding opens only while clients go on losing time: the loss grew so short ago. A fault that is over stays in the sums of five
/// minutes, and would open just before it leaves them.
const GOES_ON: Duration = Duration::from_secs(60);
/// So long the sums have what was lost before a verdict, in milliseconds. Until then a finding that it closed opens again only for what was lost
/// since.
const SETTLED_MS: i64 = 5 * 60 * 1000;
/// The time of the question that shows a finding: from five minutes before it was seen first, at most an hour.
const SHOWN_MS: i64 = 5 * 60 * 1000;
const SHOWN_MAX_MS: i64 = 60 * 60 * 1000;

/// A finding that is pending or open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Its content at the last look at which it was seen. Its state is pending or open, and it is since the moment at which it was seen first.
    pub(super) finding: Finding,
    /// What clients lost when it was seen last.
    pub(super) lost: Lost,
    /// Its content at the look at which it cost most.
    pub(super) worst: Finding,
    /// When it opened.
    pub(super) opened: Option<Millis>,
    /// How long it must not be seen until it closes, in milliseconds.
    keeps: i64,
    /// How long it has been seen, in milliseconds.
    waited: i64,
    /// How long it was not seen, in milliseconds.
    quiet: i64,
    /// Looks at which it was not seen, since the last one at which it was.
    missed: u32,
    /// When its loss grew last.
    #[serde(skip)]
    grew: Option<Tick>,
}

impl Entry {
    /// Whether it was seen at the last look.
    pub(super) fn is_seen(&self) -> bool {
        self.missed == 0
    }

    /// Its content at the look at which it cost most, with all that was lost to it.
    pub(super) fn dearest(&self) -> Finding {
        Finding { opened: self.opened, lost_s: self.finding.lost_s, ..self.worst.clone() }
    }

    fn into_past(self, ended: Millis) -> Past {
        Past { finding: self.dearest(), opened: self.opened, ended }
    }
}

/// A finding that a verdict has closed, as long as the sums of five minutes have what was lost before.
#[derive(Debug)]
struct Settled {
    /// How long it is still so, in milliseconds.
    left: i64,
    /// Its seconds of five minutes at the last look at which it was seen.
    recent_s: f64,
    /// By how much these grew since the verdict: so much was lost again at least.
    again_s: f64,
}

impl Settled {
    fn of(entry: &Entry) -> Self {
        Self { left: SETTLED_MS, recent_s: entry.lost.recent_s, again_s: 0.0 }
    }
}

/// The findings that are pending or open, and the past ones.
#[derive(Debug, Default)]
pub(super) struct States {
    pub(super) entries: BTreeMap<String, Entry>,
    pub(super) history: History,
    /// The findings that a verdict closed lately. After a restart there are none, and no sums either.
    settled: BTreeMap<String, Settled>,
    /// The last look, by the time of day and by the monotonic clock.
    last: Option<(Millis, Tick)>,
    /// The time of day is that of the machine, so no more of it passes than by the monotonic clock. The machine may have slept, and its clock
    /// may have been set.
    is_of_machine: bool,
}

impl States {
    /// The states of an earlier process.
    pub(super) fn kept(entries: Vec<Entry>, history: History) -> Self {
        let entries = entries.into_iter().take(FINDINGS_MAX);
        let entries = entries.map(|entry| (entry.finding.id.clone(), Entry { missed: 1, ..entry })).collect();
        Self { entries, history, ..Self::default() }
    }

    /// Whether the time of day is that of the machine. It is not where tests set it.
    pub(super) fn set_of_machine(&mut self, is_of_machine: bool) {
        self.is_of_machine = is_of_machine;
    }

    /// Takes what a look found. Returns whether a finding came, opened, closed or went.
    pub(super) fn look(&mut self, mut found: Vec<Found>, now: Millis, tick: Tick) -> bool {
        let passed = self.passed(now, tick);
        self.settled.values_mut().for_each(|settled| settled.left = settled.left.saturating_sub(passed));
        self.settled.retain(|_, settled| settled.left > 0);
        found.sort_by(|one, other| cost(&other.problem.lost).total_cmp(&cost(&one.problem.lost)));
        found.truncate(FINDINGS_MAX);
        let mut changed = false;
        let mut seen = BTreeSet::new();
        for found in found {
            let is_new = seen.insert(found.id.clone());
            if is_new && (self.entries.contains_key(&found.id) || self.make_room(cost(&found.problem.lost), now)) {
                changed |= self.see(found, now, tick, passed);
            }
        }
        let missing: Vec<String> = self.entries.keys().filter(|id| !seen.contains(*id)).cloned().collect();
        for id in missing {
            changed |= self.miss(&id, now, passed);
        }
        changed
    }

    /// Tells a finding what came of a promise, and those of the past of which it is. With a verdict the finding closes at once, unless it did not
    /// hold and is seen nevertheless. Returns whether there is anything new in the history.
    pub(super) fn tell(&mut self, id: &str, promise: &Promise, now: Millis) -> bool {
        let is_verdict = matches!(promise.state, PromiseState::Held | PromiseState::DidNotHold);
        let say = |finding: &mut Finding| {
            if is_verdict {
                finding.sentence = format!("{}. {}", promise.sentence(), finding.sentence);
            }
            finding.promise = Some(promise.clone());
        };
        // The finding may have closed since the change, and another one of its id may be there.
        let (mut told, mut news) = (false, is_verdict);
        for past in self.history.of(id) {
            let Some(before) = past.promise.as_ref().filter(|before| before.is_of(promise)) else { continue };
            told = true;
            if before != promise {
                say(past);
                news = true;
            }
        }
        // One that is pending began after the change, or is a rest in the sums.
        let Some(entry) = self.entries.get_mut(id).filter(|entry| entry.opened.is_some()) else {
            if let Some(past) = self.history.last_mut(id).filter(|_| !told) {
                say(past);
                news = true;
            }
            return news;
        };
        (entry.finding.promise, entry.worst.promise) = (Some(promise.clone()), Some(promise.clone()));
        let stays = promise.state == PromiseState::DidNotHold && entry.is_seen();
        if is_verdict
            && !stays
            && let Some(entry) = self.entries.remove(id)
        {
            self.settled.insert(id.to_owned(), Settled::of(&entry));
            let mut past = entry.into_past(now);
            say(&mut past.finding);
            self.history.push(past);
        }
        news
    }

    /// Whether there is a place for another one of this cost. One that is not seen any more gives way, or else a cheaper one: rather a pending
    /// one.
    fn make_room(&mut self, costs: f64, now: Millis) -> bool {
        if self.entries.len() < FINDINGS_MAX {
            return true;
        }
        let others = self.entries.iter().filter(|(_, entry)| !entry.is_seen() || cost(&entry.lost) < costs);
        let least = others.min_by(|(_, one), (_, other)| {
            let order = |entry: &Entry| (entry.is_seen(), entry.opened.is_some());
            order(one).cmp(&order(other)).then_with(|| cost(&one.lost).total_cmp(&cost(&other.lost)))
        });
        let gone = least.map(|(id, _)| id.clone()).and_then(|id| self.entries.remove(&id));
        gone.map(|entry| entry.into_past(now)).map(|past| self.history.push(past)).is_some()
    }

    /// The milliseconds since the last look by the time of day. The clock may have been corrected; then all moments move with it.
    fn passed(&mut self, now: Millis, tick: Tick) -> i64 {
        let Some((last, last_tick)) = self.last.replace((now, tick)) else { return 0 };
        let passed = now.0.saturating_sub(last.0);
        if (0..=LEAP_MS).contains(&passed) {
            let monotonic = i64::try_from(tick.since(last_tick) / 1_000_000).unwrap_or(i64::MAX);
            let most = if self.is_of_machine { monotonic.min(LOOK_MAX_MS) } else { LEAP_MS };
            return passed.min(most);
        }
        for entry in self.entries.values_mut() {
            let moments = [Some(&mut entry.finding.since), Some(&mut entry.worst.since), entry.opened.as_mut()];
            moments.into_iter().flatten().for_each(|moment| moment.0 = moment.0.saturating_add(passed));
        }
        0
    }

    fn see(&mut self, found: Found, now: Millis, tick: Tick, passed: i64) -> bool {
        let (after, keeps) = (millis(found.after), millis(found.keeps));
        let lost = found.problem.lost.clone();
        // What counts for opening: after a verdict, what was lost since.
        let again_s = self.settled.get_mut(&found.id).map(|settled| {
            settled.again_s += (lost.recent_s - settled.recent_s).max(0.0);
            settled.recent_s = lost.recent_s;
            settled.again_s
        });
        let (fresh, entry) = match self.entries.get_mut(&found.id) {
            Some(entry) => {
                entry.waited = entry.waited.saturating_add(passed);
                if lost.recent_s > entry.lost.recent_s {
                    entry.grew = Some(tick);
                }
                (false, entry)
            }
            None => {
                let finding = finding(&found, FindingState::Pending, now, now);
                let entry = Entry {
                    worst: finding.clone(),
                    finding,
                    lost: Lost::default(),
                    opened: None,
                    keeps,
                    waited: 0,
                    quiet: 0,
                    missed: 0,
                    grew: Some(tick),
                };
                (true, self.entries.entry(found.id.clone()).or_insert(entry))
            }
        };
        let costs = lost.recent_s > 0.0;
        let goes_on =
            !costs || entry.grew.is_none_or(|grew| tick.since(grew) <= millis(GOES_ON).cast_unsigned() * 1_000_000);
        let goes_on = goes_on && again_s.is_none_or(|again_s| again_s > 0.0);
        let opens = entry.opened.is_none()
            && ((entry.waited >= after && goes_on) || again_s.unwrap_or(lost.recent_s) > AT_ONCE_S);
        if opens {
            entry.opened = Some(now);
        }
        let state = if entry.opened.is_some() { FindingState::Open } else { FindingState::Pending };
        // A look tells nothing of a longer time, even where the clock leaps.
        let lost_s = entry.finding.lost_s + lost.hourly_s / 3600.0 * passed.min(LOOK_MAX_MS) as f64 / 1000.0;
        let seen = finding(&found, state, entry.finding.since, now);
        // Until there is another promise, it has that of the change before.
        let promise = entry.finding.promise.take();
        entry.finding = Finding { opened: entry.opened, lost_s, promise, ..seen };
        if opens || entry.finding.lost_s_per_hour >= entry.worst.lost_s_per_hour {
            entry.worst = entry.finding.clone();
        }
        (entry.lost, entry.keeps, entry.quiet, entry.missed) = (lost, keeps, 0, 0);
        fresh || opens
    }

    fn miss(&mut self, id: &str, now: Millis, passed: i64) -> bool {
        let Some(entry) = self.entries.get_mut(id) else { return false };
        entry.missed = entry.missed.saturating_add(1);
        entry.quiet = entry.quiet.saturating_add(passed);
        // After a restart the sentence may say so already.
        let is_told = entry.finding.sentence.starts_with(NOT_SEEN);
        if entry.opened.is_some() && entry.missed == MISSED_MAX && !is_told {
            // Somebody who has made the change sees that it helped.
            entry.finding.sentence = format!("{NOT_SEEN}{now}: {}", entry.finding.sentence);
            entry.finding.lost_s_per_hour = 0.0;
        }
        let gone = match entry.opened {
            Some(_) => entry.quiet >= entry.keeps,
            None => entry.missed >= MISSED_MAX,
        };
        if gone && let Some(entry) = self.entries.remove(id) {
            self.history.push(entry.into_past(now));
        }
        gone
    }
}

/// What decides who has a place.
fn cost(lost: &Lost) -> f64 {
    lost.hourly_s.max(lost.recent_s)
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

fn finding(found: &Found, state: FindingState, since: Millis, now: Millis) -> Finding {
    let problem = found.problem.clone();
    let mut evidence = problem.evidence;
    if let Value::Object(question) = &mut evidence {
        let before = |moment: Millis, by: i64| moment.0.saturating_sub(by);
        let from = before(since, SHOWN_MS).max(before(now, SHOWN_MAX_MS)).min(before(now, SHOWN_MS)).max(0);
        question.insert("from".to_owned(), json!(Millis(from).to_string()));
        // An event of this very moment belongs to it.
        question.insert("to".to_owned(), json!(now.plus(Duration::from_millis(1)).to_string()));
    }
    Finding {
        id: found.id.clone(),
        key: found.key.clone(),
        subject: problem.subject,
        kind: found.kind,
        state,
        since,
        opened: None,
        ended: None,
        lost_s_per_hour: problem.lost.hourly_s,
        lost_s: 0.0,
        confidence: problem.confidence,
        sentence: problem.sentence,
        changes: problem.changes,
        evidence,
        event: problem.event,
        guards: problem.guards,
        folds: Vec::new(),
        promise: None,
        mute: None,
    }
}

#[cfg(test)]
mod tests;
