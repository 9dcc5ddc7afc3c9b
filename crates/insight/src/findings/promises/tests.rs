//! Tests of promises: of a pool whose calls wait, over looks by hand.

use super::super::check::{Change, FindingKind, Lost, Problem};
use super::super::finding::FindingState;
use super::super::found::Found;
use super::super::gauge::Gauge;
use super::*;
use crate::signals::facts::SettingFact;
use crate::signals::hosts::HostSeen;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Op, Tick};

const HOST: &str = "repo.example.org:443";
const ID: &str = "pool-too-narrow@upstream:repo.example.org:443";
const KEY: &str = "upstream.max_calls";
const S: u64 = 1_000_000_000;

impl Promises {
    /// The advice of so many findings, each with so many bytes.
    pub(in super::super) fn staged(count: usize, bytes: usize) -> Self {
        let advice = Advice {
            changes: vec![(Turned::Setting(KEY.to_owned()), "x".repeat(bytes).into(), None)],
            saves: Saves::new(1.0, Gauge::Database),
            lost_s: 1.0,
            before: Tallies::one(1.0, 1.0),
            read: Millis(1),
            seen: Millis(1),
        };
        let all = (0..count).map(|number| (format!("{ID}/{number}"), advice.clone()));
        Self { advice: all.collect(), ..Self::default() }
    }
}

/// A server with its states and promises.
struct Looks {
    promises: Promises,
    states: States,
    now: Millis,
    calls: u64,
}

fn facts(max_calls: u64) -> Facts {
    let (key, value, number) = (KEY.to_owned(), max_calls.to_string(), Some(max_calls));
    Facts { settings: vec![SettingFact { key, value, number, ..SettingFact::default() }], ..Facts::default() }
}

/// So many calls, each of which waited so long.
fn window(calls: u64, wait: f64) -> Window {
    let mut window = Window::default();
    let mut host = HostSeen::default();
    host.calls = calls;
    host.wait("central", Op::UpstreamWait, (calls as f64 * wait * S as f64) as u64);
    window.hosts.0.insert(HOST.into(), host);
    window
}

/// The pool is too narrow: 31 places would save nine tenths of these seconds.
fn narrow(seconds: f64) -> Found {
    let change = Change {
        setting: Some(KEY.to_owned()),
        from: Some(2.into()),
        to: Some(31.into()),
        live: false,
        command: None,
        turns: Some(Turned::Setting(KEY.to_owned())),
        advised: None,
    };
    let problem = Problem {
        subject: format!("upstream:{HOST}"),
        lost: Lost::recent(seconds),
        confidence: 0.8,
        sentence: "the pool is full".to_owned(),
        changes: vec![change],
        saves: Some(Saves::new(0.9 * seconds, Gauge::Host(HOST.to_owned()))),
        ..Problem::default()
    };
    let (after, keeps) = (Duration::from_secs(300), Duration::from_secs(1800));
    Found { id: ID.to_owned(), key: "pool-too-narrow".to_owned(), kind: FindingKind::Cause, after, keeps, problem }
}

impl Looks {
    /// A finding that is open, with 100 calls that waited a second each, and its advice.
    fn advised() -> Self {
        let mut looks = Self {
            promises: Promises::default(),
            states: States::default(),
            now: Millis(1_793_534_400_000),
            calls: 100,
        };
        looks.look(2, 1.0, vec![narrow(100.0)]);
        assert_eq!(looks.state(), Some(FindingState::Open));
        looks
    }

    /// A look ten seconds later, with this value of the setting, and as many calls as before since the last look, which waited so long.
    fn look(&mut self, max_calls: u64, wait: f64, mut found: Vec<Found>) {
        self.now = self.now.plus(Duration::from_secs(10));
        let (figures, facts) = (window(self.calls, wait), facts(max_calls));
        self.promises.measure(&figures, &facts, self.now);
        let seen = Seen { now: self.now, recent: figures, facts: Arc::new(facts), ..Seen::default() };
        found.iter_mut().for_each(|found| self.promises.weigh(found));
        let advice = self.promises.read(&found, &seen);
        self.states.look(found, self.now, Tick(self.now.0.cast_unsigned() * 1_000_000));
        self.promises.take(advice, &self.states);
        self.promises.tell(&mut self.states, self.now);
    }

    /// When the sums have nothing any more of what was lost until now.
    fn later(&mut self) {
        self.now = self.now.plus(Duration::from_secs(300));
    }

    fn state(&self) -> Option<FindingState> {
        self.states.entries.get(ID).map(|entry| entry.finding.state)
    }

    fn promise(&self) -> Option<Promise> {
        self.states.entries.get(ID).and_then(|entry| entry.finding.promise.clone())
    }

    /// The finding that closed last.
    fn closed(&self) -> super::super::Finding {
        self.states.history.closed().next().unwrap()
    }

    /// As after a restart.
    fn restarted(self) -> Self {
        let promises = serde_json::from_str(&serde_json::to_string(&self.promises).unwrap()).unwrap();
        let entries = serde_json::to_string(&self.states.entries.values().collect::<Vec<_>>()).unwrap();
        let states = States::kept(serde_json::from_str(&entries).unwrap(), self.states.history);
        Self { promises, states, ..self }
    }
}

#[test]
fn a_promise_is_kept_over_a_restart_and_the_finding_closes_as_held() {
    let mut looks = Looks::advised().restarted();
    looks.look(31, 1.0, Vec::new());
    let promise = looks.promise().unwrap();
    assert_eq!((promise.state, promise.requests_after), (PromiseState::Measuring, 0), "that look is of both times");
    assert_eq!((promise.lost_s_per_hour, promise.promised_s_per_hour), (1200.0, 1080.0));
    looks.calls = 49;
    looks.look(31, 0.05, Vec::new());
    assert_eq!(looks.promise().unwrap().state, PromiseState::Measuring, "there were too few calls");
    looks.look(31, 0.05, Vec::new());
    assert_eq!(looks.state(), None);
    let closed = looks.closed();
    let promise = closed.promise.unwrap();
    assert_eq!((promise.state, promise.from, promise.to), (PromiseState::Held, 2.into(), 31.into()));
    assert!((promise.came_s_per_hour.unwrap() - 1140.0).abs() < 0.1, "{:?}", promise.came_s_per_hour);
    assert!(closed.sentence.starts_with("held: upstream.max_calls changed from 2 to 31 at "), "{}", closed.sentence);
    assert!(closed.sentence.ends_with(", and saves 1140 s. the pool is full"), "{}", closed.sentence);
}

#[test]
fn the_comparison_is_of_as_many_requests_so_more_of_them_are_no_failure() {
    // They wait longer in all, and each shorter than before: 804 and 600 of 1080 s.
    for (wait, came, state) in [(0.33, 804.0, PromiseState::Held), (0.5, 600.0, PromiseState::DidNotHold)] {
        let mut looks = Looks::advised();
        looks.look(31, 0.0, Vec::new());
        looks.calls = 3000;
        looks.look(31, wait, Vec::new());
        looks.look(31, wait, Vec::new());
        let promise = looks.closed().promise.unwrap();
        assert_eq!(promise.state, state, "at least two thirds must come");
        assert!((promise.came_s_per_hour.unwrap() - came).abs() < 0.1, "{promise:?}");
    }
}

#[test]
fn memory_that_is_empty_after_a_start_is_no_failure() {
    let mut looks = Looks::advised();
    looks.look(31, 1.0, Vec::new());
    looks.look(31, 0.9, Vec::new());
    let promise = looks.promise().unwrap();
    assert_eq!((promise.state, promise.came_s_per_hour), (PromiseState::Measuring, None));
    looks.look(31, 0.1, Vec::new());
    let promise = looks.closed().promise.unwrap();
    assert_eq!(promise.state, PromiseState::Held);
    assert!((promise.came_s_per_hour.unwrap() - 1080.0).abs() < 0.1, "the first time does not count: {promise:?}");
}

#[test]
fn a_promise_is_of_the_value_that_was_set_and_ends_when_it_is_taken_back() {
    let mut looks = Looks::advised();
    looks.look(31, 1.0, Vec::new());
    looks.look(16, 1.0, Vec::new());
    let promise = looks.promise().unwrap();
    assert!((500.0..540.0).contains(&promise.promised_s_per_hour) && promise.to == 16, "{promise:?}");
    looks.look(2, 1.0, Vec::new());
    assert_eq!(looks.promise().unwrap().state, PromiseState::Undone);
    looks.look(2, 1.0, vec![narrow(100.0)]);
    assert_eq!(looks.state(), Some(FindingState::Open), "the finding goes on");
    looks.look(1, 1.0, Vec::new());
    assert_eq!(looks.promise().unwrap().state, PromiseState::Undone, "less promises nothing");
}

#[test]
fn a_cause_whose_promises_failed_twice_loses_confidence_until_one_holds() {
    let mut looks = Looks::advised();
    let confidence = |looks: &Looks| looks.states.entries[ID].finding.confidence;
    for failed in 1..=2 {
        assert_eq!(confidence(&looks), 0.8, "after {} failures", failed - 1);
        looks.look(31, 1.0, Vec::new());
        looks.look(31, 1.0, Vec::new());
        looks.look(31, 1.0, Vec::new());
        assert_eq!(looks.closed().promise.unwrap().state, PromiseState::DidNotHold);
        looks.later();
        looks.look(2, 1.0, vec![narrow(100.0)]);
    }
    assert_eq!(confidence(&looks), 0.4);
    let guard = &looks.states.entries[ID].finding.guards[0];
    assert!(!guard.passed && guard.value == 2, "{guard:?}");
    looks.look(31, 1.0, Vec::new());
    looks.look(31, 0.0, Vec::new());
    assert_eq!(looks.closed().promise.unwrap().state, PromiseState::Held);
    looks.later();
    looks.look(2, 1.0, vec![narrow(100.0)]);
    assert_eq!(confidence(&looks), 0.8);
}

#[test]
fn of_the_causes_that_failed_the_oldest_is_forgotten() {
    let mut promises = Promises::default();
    let id = |number: usize| format!("{ID}/{number}");
    (0..FOLLOWED_MAX).for_each(|number| promises.note(&id(number), false));
    promises.note(&id(0), false);
    promises.note(&id(FOLLOWED_MAX), false);
    assert_eq!(promises.failed.len(), FOLLOWED_MAX);
    let failures = [0, 1, 2, FOLLOWED_MAX].map(|number| promises.failures(&id(number)));
    assert_eq!(failures, [Some(2), None, Some(1), Some(1)]);
}

#[test]
fn what_is_left_in_the_sums_opens_nothing_after_a_verdict_and_what_is_lost_since_does() {
    let mut looks = Looks::advised();
    looks.look(31, 1.0, vec![narrow(100.0)]);
    let lost = looks.states.entries[ID].finding.lost_s;
    looks.look(31, 0.0, vec![narrow(100.0)]);
    assert_eq!((looks.state(), looks.closed().promise.unwrap().state), (None, PromiseState::Held));
    assert!(lost > 0.0 && looks.closed().lost_s > lost, "all that was lost until it closed");
    for left in [100.0, 90.0, 80.0, 110.0] {
        looks.look(31, 0.0, vec![narrow(left)]);
        assert_eq!(looks.state(), Some(FindingState::Pending), "{left}");
    }
    looks.look(31, 0.0, vec![narrow(141.0)]);
    assert_eq!(looks.state(), Some(FindingState::Open), "61 s in two steps");
}

#[test]
fn a_finding_whose_promise_did_not_hold_stays_open_with_the_verdict_while_it_is_seen() {
    let mut looks = Looks::advised();
    (0..5).for_each(|_| looks.look(31, 1.0, vec![narrow(100.0)]));
    assert_eq!(looks.state(), Some(FindingState::Open));
    let promise = looks.promise().unwrap();
    assert_eq!((promise.state, promise.came_s_per_hour), (PromiseState::DidNotHold, Some(0.0)));
    assert_eq!((looks.promises.made.len(), looks.promises.failures(ID)), (0, Some(1)), "once");
}

#[test]
fn a_past_finding_has_the_verdict_and_a_pending_one_goes_on() {
    let mut looks = Looks::advised();
    looks.look(31, 1.0, Vec::new());
    looks.calls = 0;
    (0..2).for_each(|_| {
        looks.now = looks.now.plus(Duration::from_secs(1800));
        looks.look(31, 0.0, Vec::new());
    });
    assert_eq!((looks.state(), looks.closed().promise.unwrap().state), (None, PromiseState::Measuring));
    looks.calls = 100;
    looks.look(31, 0.0, vec![narrow(10.0)]);
    assert_eq!((looks.state(), looks.promise()), (Some(FindingState::Pending), None));
    let closed = looks.closed();
    assert_eq!(closed.promise.unwrap().state, PromiseState::Held);
    assert!(closed.sentence.starts_with("held: "), "{}", closed.sentence);
}

#[test]
fn another_value_saves_no_more_than_was_lost_and_one_that_saves_nothing_is_not_taking_it_back() {
    let mut looks = Looks::advised();
    let mut dear = narrow(101.0);
    dear.problem.saves = Some(Saves::new(95.0, Gauge::Host(HOST.to_owned())).at_values(2, 31, |_| 500.0));
    looks.look(2, 1.0, vec![dear]);
    looks.look(31, 1.0, Vec::new());
    looks.look(40, 1.0, Vec::new());
    assert!((looks.promise().unwrap().promised_s_per_hour - 1212.0).abs() < 1e-6, "{:?}", looks.promise());
    looks.look(1, 1.0, Vec::new());
    let promise = looks.promise().unwrap();
    assert_eq!((promise.state, promise.to.clone()), (PromiseState::Undone, 40.into()));
    assert!(promise.sentence().ends_with(", and was changed to another value"), "{}", promise.sentence());
}

#[test]
fn a_change_of_a_list_that_does_not_follow_the_advice_promises_nothing() {
    let list = |names: &[&str]| Value::from(names.to_vec());
    let change = (Turned::Members("all".to_owned()), list(&["slow", "a", "b"]), Some(list(&["a", "b", "slow"])));
    let advice = Promises::staged(1, 1).advice.into_values().next().unwrap();
    let follows = |to: &[&str]| Made::new(&advice, &change, list(to), Millis(1)).is_some();
    assert!(follows(&["a", "b", "slow"]) && follows(&["a", "b"]));
    assert!(!follows(&["slow", "b", "a"]) && !follows(&["slow", "a", "b", "c"]) && !follows(&["slow", "a", "b"]));
}

#[test]
fn a_change_after_the_finding_has_closed_counts_for_a_week() {
    for (days, follows) in [(6, true), (8, false)] {
        let mut looks = Looks::advised();
        looks.look(2, 0.0, Vec::new());
        let close = |looks: &mut Looks, ms: i64| looks.now = Millis(looks.now.0 + ms);
        close(&mut looks, 1_900_000);
        looks.look(2, 0.0, Vec::new());
        assert_eq!(looks.state(), None);
        close(&mut looks, days * 24 * 3_600_000);
        looks.look(2, 0.0, Vec::new());
        looks.look(31, 0.0, Vec::new());
        looks.look(31, 0.0, Vec::new());
        let told = looks.closed().promise.map(|promise| promise.state);
        assert_eq!(told, follows.then_some(PromiseState::Held), "after {days} days");
    }
}

#[test]
fn a_pending_finding_and_one_that_saves_nothing_promise_nothing() {
    let mut looks = Looks::advised();
    (looks.states, looks.promises) = (States::default(), Promises::default());
    looks.look(2, 0.1, vec![narrow(10.0)]);
    assert_eq!(looks.state(), Some(FindingState::Pending));
    assert!(looks.promises.advice.is_empty());
    let mut found = narrow(100.0);
    found.problem.saves = None;
    looks.look(2, 1.0, vec![found]);
    assert!(looks.promises.advice.is_empty() && looks.state() == Some(FindingState::Open));
}

#[test]
fn no_more_findings_are_followed_than_have_a_place() {
    let mut looks = Looks::advised();
    let many = (0..FOLLOWED_MAX + 50).map(|number| {
        let found = narrow(61.0 + number as f64);
        Found { id: format!("{ID}/{number}"), ..found }
    });
    looks.look(2, 1.0, many.collect());
    assert_eq!(looks.promises.advice.len(), FOLLOWED_MAX);
    assert!(!looks.promises.advice.contains_key(&format!("{ID}/0")), "the cheapest has none");
}
