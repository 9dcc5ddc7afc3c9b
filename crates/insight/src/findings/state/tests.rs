//! Tests of the states.

use super::super::check::{FindingKind, Lost, Problem};
use super::*;

const MINUTE: i64 = 60_000;

/// Looks by hand.
struct Looks {
    states: States,
    now: i64,
    tick: u64,
}

impl Looks {
    fn new() -> Self {
        Self { states: States::default(), now: 1_793_534_400_000, tick: 1 }
    }

    /// A look so much later by the time of day, and ten seconds later by the monotonic clock.
    fn look(&mut self, passed: i64, lost: &[(&str, f64)]) -> Vec<(String, FindingState)> {
        self.look_after(passed, 10, lost)
    }

    fn look_after(&mut self, passed: i64, seconds: u64, lost: &[(&str, f64)]) -> Vec<(String, FindingState)> {
        self.now += passed;
        self.tick += seconds * 1_000_000_000;
        let found = lost.iter().map(|(subject, seconds)| found(subject, Lost::recent(*seconds))).collect();
        self.states.look(found, Millis(self.now), Tick(self.tick));
        self.states.entries.values().map(|entry| (entry.finding.subject.clone(), entry.finding.state)).collect()
    }
}

fn found(subject: &str, lost: Lost) -> Found {
    Found {
        id: format!("key@{subject}"),
        key: "key".to_owned(),
        kind: FindingKind::Cause,
        after: Duration::from_secs(300),
        keeps: Duration::from_secs(1800),
        problem: Problem {
            subject: subject.to_owned(),
            lost,
            evidence: json!({ "measures": ["count"] }),
            ..Problem::default()
        },
    }
}

fn pending(subject: &str) -> Vec<(String, FindingState)> {
    vec![(subject.to_owned(), FindingState::Pending)]
}

fn open(subject: &str) -> Vec<(String, FindingState)> {
    vec![(subject.to_owned(), FindingState::Open)]
}

#[test]
fn a_finding_opens_after_its_time_and_closes_after_its_quiet() {
    let mut looks = Looks::new();
    assert_eq!(looks.look(0, &[("a", 10.0)]), pending("a"));
    let began = looks.now;
    assert_eq!(looks.look(5 * MINUTE - 1, &[("a", 11.0)]), pending("a"));
    assert_eq!(looks.look(1, &[("a", 12.0)]), open("a"));
    assert_eq!(looks.states.entries["key@a"].finding.since.0, began, "it is open since it was seen first");
    assert_eq!(looks.look(30 * MINUTE - 1, &[]), open("a"));
    assert_eq!(looks.look(0, &[("a", 5.0)]), open("a"), "it came back");
    assert_eq!(looks.look(30 * MINUTE - 1, &[]), open("a"));
    assert_eq!(looks.look(1, &[]), []);
    let closed: Vec<_> = looks.states.history.closed().collect();
    assert_eq!((closed.len(), closed[0].state, closed[0].since.0), (1, FindingState::Closed, looks.now));
    assert_eq!(closed[0].lost_s_per_hour, 12.0 * 12.0, "the past tells what it cost when it cost most");
    // 11 s in five minutes for the minute of which the second look tells, and 12 s in five minutes for a moment.
    assert!((closed[0].lost_s - 2.2).abs() < 0.01, "{}", closed[0].lost_s);
    assert_eq!((closed[0].opened.map(|at| at.0), closed[0].ended), (Some(began + 5 * MINUTE), Some(closed[0].since)));
    assert_eq!(looks.look(0, &[("a", 10.0)]), pending("a"), "the next time it begins as pending");
}

#[test]
fn above_sixty_lost_seconds_it_opens_at_once() {
    let mut looks = Looks::new();
    assert_eq!(looks.look(0, &[("a", 60.0)]), pending("a"));
    assert_eq!(looks.look(0, &[("a", 60.1)]), open("a"));
    let mut looks = Looks::new();
    assert_eq!(looks.look(0, &[("a", 61.0)]), open("a"));
}

#[test]
fn a_pending_one_goes_after_two_looks_without_it() {
    let mut looks = Looks::new();
    looks.look(0, &[("a", 10.0)]);
    assert_eq!(looks.look(10_000, &[]), pending("a"));
    assert_eq!(looks.look(10_000, &[("a", 10.0)]), pending("a"));
    assert_eq!(looks.look(10_000, &[]), pending("a"));
    assert_eq!(looks.look(10_000, &[]), []);
    let (from, to) = (Millis(looks.now - 40_000), Millis(looks.now + 1));
    let past: Vec<_> = looks.states.history.within(from, to).collect();
    assert_eq!((past.len(), past[0].state, looks.states.history.closed().count()), (1, FindingState::Pending, 0));
}

#[test]
fn a_fault_that_is_over_does_not_open_while_it_is_in_the_sums_of_five_minutes() {
    let mut looks = Looks::new();
    for second in (0..320).step_by(10) {
        let lost = if second < 30 { 20.0 + f64::from(second) } else { 40.0 };
        assert_eq!(looks.look(10_000, &[("a", lost)]), pending("a"), "after {second} s");
    }
    // It goes on: the loss grows again.
    assert_eq!(looks.look(10_000, &[("a", 45.0)]), open("a"));
}

#[test]
fn a_finding_without_lost_seconds_opens_by_its_time_alone() {
    let mut looks = Looks::new();
    for _ in 0..30 {
        assert_eq!(looks.look(10_000, &[("a", 0.0)]), pending("a"));
    }
    assert_eq!(looks.look(10_000, &[("a", 0.0)]), open("a"));
}

#[test]
fn a_clock_that_jumps_neither_opens_nor_closes_anything() {
    let mut looks = Looks::new();
    looks.look(0, &[("a", 10.0)]);
    looks.look(MINUTE, &[("a", 11.0)]);
    let age = |looks: &Looks| looks.now - looks.states.entries["key@a"].finding.since.0;
    assert_eq!(age(&looks), MINUTE);
    assert_eq!(looks.look(-3 * 60 * MINUTE, &[("a", 12.0)]), pending("a"));
    assert_eq!(age(&looks), MINUTE, "its moments move with the clock");
    assert_eq!(looks.look(50 * 365 * 24 * 60 * MINUTE, &[("a", 13.0)]), pending("a"));
    assert_eq!(age(&looks), MINUTE);
    assert_eq!(looks.look(4 * MINUTE, &[("a", 14.0)]), open("a"));
    for jump in [-1000, i64::MIN / 4, 365 * 24 * 60 * MINUTE] {
        assert_eq!(looks.look(jump, &[]), open("a"));
    }
    assert_eq!(looks.look(30 * MINUTE, &[]), []);
}

#[test]
fn neither_a_sleep_nor_a_step_of_the_machines_clock_opens_or_closes_anything() {
    let by_machine = || {
        let mut looks = Looks::new();
        looks.states.set_of_machine(true);
        looks.look_after(0, 10, &[("a", 0.0)]);
        looks
    };
    // A step of six minutes, or a sleep of the machine: ten seconds by the monotonic clock.
    let mut looks = by_machine();
    assert_eq!(looks.look_after(6 * MINUTE, 10, &[("a", 0.0)]), pending("a"));
    assert_eq!(looks.look_after(289_999, 290, &[("a", 0.0)]), pending("a"), "at most a minute in one look");
    for _ in 0..22 {
        assert_eq!(looks.look_after(10_000, 10, &[("a", 0.0)]), pending("a"));
    }
    assert_eq!(looks.look_after(10_000, 10, &[("a", 0.0)]), open("a"));
    for _ in 0..3 {
        assert_eq!(looks.look_after(60 * MINUTE, 10, &[]), open("a"));
    }
    // A stopped process.
    let mut looks = by_machine();
    assert_eq!(looks.look_after(6 * MINUTE, 360, &[("a", 0.0)]), pending("a"));
    // Tests set the clock, and all of it counts.
    looks.states.set_of_machine(false);
    assert_eq!(looks.look_after(4 * MINUTE, 1, &[("a", 0.0)]), open("a"));
}

#[test]
fn moments_of_a_damaged_file_are_no_panic() {
    let mut looks = Looks::new();
    looks.look(0, &[("a", 61.0)]);
    for since in [i64::MIN, i64::MAX] {
        let mut entries: Vec<Entry> = looks.states.entries.values().cloned().collect();
        let entry = &mut entries[0];
        (entry.finding.since, entry.opened, entry.keeps) = (Millis(since), Some(Millis(since)), since);
        (entry.waited, entry.quiet) = (i64::MAX, i64::MAX);
        let mut again = Looks { states: States::kept(entries, History::default()), now: looks.now, tick: 1 };
        again.look(0, &[("a", 1.0)]);
        again.look(MINUTE, &[("a", 1.0)]);
        again.look(-MINUTE, &[]);
    }
}

#[test]
fn a_finding_seen_twice_in_a_look_counts_once_and_there_is_a_most() {
    let mut looks = Looks::new();
    assert_eq!(looks.look(0, &[("a", 10.0), ("a", 10.0)]), pending("a"));
    let subjects: Vec<String> = (0..2 * FINDINGS_MAX).map(|number| format!("s{number}")).collect();
    let lost: Vec<(&str, f64)> =
        subjects.iter().zip(1..).map(|(subject, n)| (&**subject, f64::from(n) / 100.0)).collect();
    let mut looks = Looks::new();
    assert_eq!(looks.look(0, &lost).len(), FINDINGS_MAX);
    assert!(looks.states.entries.contains_key("key@s999") && !looks.states.entries.contains_key("key@s0"));
    // A dearer one has a place, and a cheaper one has none as long as the others are seen.
    let with = |other, costs| [&[(other, costs)], &lost[FINDINGS_MAX + 1..]].concat();
    let has = |looks: &Looks, id: &str| looks.states.entries.contains_key(id);
    assert_eq!(looks.look(0, &with("dear", 50.0)).len(), FINDINGS_MAX);
    assert!(has(&looks, "key@dear") && !has(&looks, "key@s500"));
    looks.look(0, &with("cheap", 0.1));
    assert!(!has(&looks, "key@cheap"));
}

#[test]
fn the_question_of_a_finding_begins_before_it_was_seen_first() {
    let mut looks = Looks::new();
    let from = |looks: &Looks| {
        let evidence = &looks.states.entries["key@a"].finding.evidence;
        let moment = evidence["from"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        looks.now - moment.as_millisecond()
    };
    looks.look(0, &[("a", 70.0)]);
    assert_eq!(from(&looks), 5 * MINUTE);
    looks.look(6 * MINUTE, &[("a", 70.0)]);
    assert_eq!(from(&looks), 11 * MINUTE);
    looks.look(6 * 60 * MINUTE, &[("a", 70.0)]);
    assert_eq!(from(&looks), 60 * MINUTE);
}

#[test]
fn states_of_an_earlier_process_go_on() {
    let mut looks = Looks::new();
    looks.look(0, &[("open", 61.0), ("pending", 1.0)]);
    looks.look(4 * MINUTE, &[("open", 61.0), ("pending", 1.0)]);
    let text = serde_json::to_string(&looks.states.entries.values().collect::<Vec<_>>()).unwrap();
    let kept = || -> Looks {
        let states = States::kept(serde_json::from_str(&text).unwrap(), History::default());
        // The server was off for a week, which is no time of quiet.
        Looks { states, now: looks.now + 7 * 24 * 60 * MINUTE, tick: 1 }
    };
    let mut again = kept();
    let both = |of_pending| vec![("open".to_owned(), FindingState::Open), ("pending".to_owned(), of_pending)];
    assert_eq!(again.look(0, &[("open", 1.0), ("pending", 1.0)]), both(FindingState::Pending));
    assert_eq!(again.look(MINUTE, &[("open", 1.0), ("pending", 1.0)]), both(FindingState::Open));
    let mut quiet = kept();
    assert_eq!(quiet.look(0, &[]), open("open"), "a pending one that is not seen goes");
    assert_eq!(quiet.look(30 * MINUTE - 1, &[]), open("open"));
    assert_eq!(quiet.look(1, &[]), []);
}

/// An alert is sent when a finding opens and when it closes, so these two open and close once, however often the fault pauses.
#[test]
fn shedding_and_a_full_accept_queue_that_pause_for_minutes_open_once_and_close_once() {
    for key in ["class-too-narrow", "accept-queue-overflows"] {
        let check = super::super::catalogue::checks().find(|check| check.key == key).unwrap();
        let (mut states, mut changes, mut was_open) = (States::default(), Vec::new(), false);
        // Three hours of looks, ten seconds apart: it sheds for ten minutes, and then for ten minutes it does not, for two hours.
        for look in 0_i64..3 * 360 {
            let sheds = look < 2 * 360 && look / 60 % 2 == 0;
            let lost = Lost { recent_s: 30.0 + (look % 3) as f64, ..Lost::recent(30.0) };
            let problem = Problem { subject: "bound:requests/uploads".to_owned(), lost, ..Problem::default() };
            let found = if sheds { vec![Found::of(check, problem)] } else { Vec::new() };
            let tick = u64::try_from(look * 10 + 1).unwrap() * 1_000_000_000;
            states.look(found, Millis(look * 10_000), Tick(tick));
            let is_open = states.entries.values().any(|entry| entry.opened.is_some());
            if is_open != was_open {
                changes.push(look / 6);
                was_open = is_open;
            }
        }
        // In minutes: it opens after five, and closes half an hour after it shed last.
        assert_eq!(changes, [5, 139], "{key}");
    }
}
