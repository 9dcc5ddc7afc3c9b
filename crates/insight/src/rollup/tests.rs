//! The counts from the recorder to the files and back.

mod keys;
mod lost;
mod retention;

use super::counts::Counts;
use super::name::Name;
use super::rows::{Key, Rows, Table};
use super::*;
use crate::ask::{Answer, Asker, AskerOptions, Cost, Figure, Parts, Question, RollupSource, Seen};
use crate::block::Block;
use crate::interner::Interner;
use crate::options::Surroundings;
use crate::part::Part;
use crate::row::{RepositoryFacts, Row};
use crate::sampler::{Goal, Sampler};
use crate::texts::Texts;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Class, Clock, Event, Layer, Log, Millis, Outcome, Recorder, RecorderOptions, Tick};

/// 2026-11-01T12:00:00Z.
const NOON: i64 = 1_793_534_400_000;

/// Any rows, of a few minutes and texts.
pub(super) fn rows() -> impl Strategy<Value = Rows> {
    let durations = || proptest::collection::vec((any::<u64>(), 14u32..64), 0..5);
    let row = (0..4i64, any::<[u8; 7]>(), 0..600u16, any::<[u32; 3]>(), durations(), durations());
    proptest::collection::vec(row, 1..12).prop_map(|all| {
        let texts = ["", "é", "hosted", "(other)", "a long name of a repository"];
        let mut rows = Rows { texts: Interner::from(Texts::from_iter(texts)), rows: Vec::new() };
        for (minute, codes, status, [events, bytes_in, bytes_out], first_bytes, durations) in all {
            let mut counts = Counts { events: events.into(), bytes_in: bytes_in.into(), ..Counts::default() };
            counts.bytes_out = bytes_out.into();
            first_bytes.iter().for_each(|(value, shift)| counts.first_byte.record(value >> shift));
            durations.iter().for_each(|(value, shift)| counts.duration.record(value >> shift));
            let codes = codes.map(|code| u32::from(code) % texts.len() as u32);
            rows.rows.push((Key { at: NOON + minute * MINUTE, texts: codes, status }, counts));
        }
        rows
    })
}

/// Any event of the hour before `now`.
fn event() -> impl Strategy<Value = (usize, usize, usize, usize, u16, i64, u64, u64)> {
    let status = proptest::sample::select(vec![0u16, 200, 206, 304, 404, 503]);
    (0..4usize, 0..5usize, 0..7usize, 0..6usize, status, 0..60 * MINUTE, 0..1u64 << 40, 0..3_000_000_000u64)
}

/// A server's clock, recorder and counts.
struct World {
    clock: Clock,
    recorder: Arc<Recorder>,
    rollups: Arc<Rollups>,
}

impl World {
    fn new(folder: &Path, now: i64) -> Self {
        let clock = Clock::at(Millis(now));
        let rollups = Rollups::new();
        let options = RecorderOptions { shards: 2, buffered_events: 1 << 16, ..RecorderOptions::of(clock.clone()) };
        let recorder = Recorder::start_with_censuses(options, vec![rollups.census()], Vec::new());
        let surroundings = Surroundings {
            folder: folder.to_owned(),
            facts: Arc::new(|_| RepositoryFacts { kind: "hosted", format: "gem" }),
            above_floor: Arc::new(|| true),
        };
        let options = RollupOptions { surroundings, bytes: 1 << 30, clock: clock.clone(), log: Log::silent() };
        rollups.start(options).unwrap();
        Self { clock, recorder, rollups }
    }

    fn event(&self, repository: &str, status: u16, at: i64, nanos: u64) {
        self.recorder.attempt();
        let mut event = Event::request(Millis(at), Tick(0));
        event.subject.repository = repository.into();
        (event.status, event.class, event.layer) = (status, Some(Class::Downloads), Layer::Hosted);
        event.outcome = Some(if status < 400 { Outcome::Answered } else { Outcome::NotFound });
        (event.first_byte, event.duration, event.bytes_out) = (nanos / 2, nanos, 10);
        self.recorder.release(event);
    }

    /// Waits until everything is counted and logged.
    fn settle(&self) {
        assert!(self.recorder.flush(Duration::from_secs(60)));
        assert!(self.rollups.flush());
    }

    /// Events by the time of their row and repository: those in memory, those in files of minutes, those in files of hours.
    fn scan(&self) -> [BTreeMap<(i64, String), u64>; 3] {
        let shared = self.rollups.shared().unwrap();
        let state = shared.read();
        let of = |all: Vec<Rows>| {
            let mut counted = BTreeMap::new();
            for rows in &all {
                for (key, counts) in &rows.rows {
                    let repository = rows.text(key.texts[3]).to_owned();
                    *counted.entry((key.at, repository)).or_default() += counts.events;
                }
            }
            counted
        };
        let mut recent = Table::default();
        recent.merge(state.recent.rows());
        let read = |files: &[Arc<folder::RollupFile>]| files.iter().map(|file| file.rows().unwrap()).collect();
        [of(vec![recent.into_sorted()]), of(read(&state.files.minutes)), of(read(&state.files.hours))]
    }

    /// Answers a question from the counts alone.
    fn ask(&self, text: &str, now: i64) -> Answer {
        answer(&askers(self, &[])[1], &asked(text, now))
    }

    fn end(self) {
        self.recorder.stop(Duration::from_secs(60));
        self.rollups.stop();
    }
}

fn names(folder: &Path) -> Vec<String> {
    crate::disk::files(folder).unwrap().into_iter().map(|(name, _)| name).collect()
}

fn row(at: i64, repository: &str, events: u64) -> ((i64, String), u64) {
    ((at, repository.to_owned()), events)
}

#[test]
fn a_restart_continues_with_the_counts_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    for round in 1..=3 {
        let world = World::new(folder.path(), NOON + 5);
        world.event("gems", 200, NOON + 1, 5_000);
        world.event("gems", 404, NOON + MINUTE, 5_000);
        world.settle();
        let [recent, minutes, hours] = world.scan();
        assert_eq!(recent, BTreeMap::from([row(NOON, "gems", round), row(NOON + MINUTE, "gems", round)]));
        assert!(minutes.is_empty() && hours.is_empty());
        world.end();
    }
}

#[test]
fn after_an_hour_there_is_a_file_and_after_a_day_a_file_of_hours() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), NOON);
    for hour in 0..3 {
        let now = NOON + hour * HOUR;
        world.clock.set(Some(Millis(now)));
        for minute in [0, 0, 7] {
            world.event("gems", 200, now + minute * MINUTE, 5_000);
        }
        world.settle();
    }
    // Counts of a new hour make those before a file, and are in it.
    let [recent, minutes, hours] = world.scan();
    assert!(hours.is_empty());
    assert_eq!((minutes.values().sum::<u64>(), recent.values().sum::<u64>()), (6, 3));
    assert_eq!(minutes.get(&(NOON + HOUR, "gems".to_owned())), Some(&2));
    // It ended after midnight, and began at noon.
    world.clock.set(Some(Millis(NOON + DAY)));
    world.event("gems", 200, NOON, 5_000);
    world.settle();
    world.clock.set(Some(Millis(NOON + DAY + HOUR)));
    world.event("gems", 200, NOON + DAY, 5_000);
    world.settle();
    let [_, minutes, hours] = world.scan();
    assert_eq!(minutes.get(&(NOON, "gems".to_owned())), Some(&3));
    assert_eq!(hours.get(&(NOON, "gems".to_owned())), Some(&4));
    assert_eq!(hours.get(&(NOON + HOUR, "gems".to_owned())), Some(&3));
    let logs: Vec<String> = names(folder.path()).into_iter().filter(|name| Name::read_log(name).is_some()).collect();
    assert_eq!(logs, [Name::log(3)]);
    world.end();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_event_is_counted_once_for_its_minute_wherever_the_process_ends(
        events in proptest::collection::vec((0..5usize, 0..3u16, 0..90i64, 1..5_000_000_000u64, 0..12u8), 1..200),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let repositories = ["gems", "maven", "", "raw", "é"];
        let (mut now, mut expected, mut ended) = (NOON, BTreeMap::new(), Vec::new());
        let mut world = World::new(folder.path(), now);
        for (repository, status, minute, nanos, then) in events {
            let (repository, status, at) = (repositories[repository], 200 + 102 * status, now - minute * MINUTE - 1);
            world.event(repository, status, at, nanos);
            *expected.entry((at - at.rem_euclid(MINUTE), repository.to_owned())).or_default() += 1;
            match then {
                0 => {
                    now += 20 * MINUTE;
                    world.clock.set(Some(Millis(now)));
                }
                1 => {
                    // The first process is not told to end until the next one has taken over, as if it were killed.
                    world.settle();
                    ended.push(std::mem::replace(&mut world, World::new(folder.path(), now)));
                }
                _ => {}
            }
        }
        world.settle();
        let [recent, minutes, hours] = world.scan();
        let mut all = minutes;
        recent.into_iter().for_each(|(key, events)| *all.entry(key).or_default() += events);
        prop_assert_eq!(&all, &expected);
        let in_hours: u64 = hours.values().sum();
        prop_assert!(in_hours <= all.values().sum());
        world.end();
        ended.into_iter().for_each(World::end);
    }
}

fn made(
    (repository, class, layer, outcome, status, before, bytes, nanos): (usize, usize, usize, usize, u16, i64, u64, u64),
) -> Event {
    let mut event = *Event::request(Millis(NOON - before), Tick(0));
    event.subject.repository = ["gems", "maven", "", "é"][repository].into();
    (event.status, event.class) = (status, Class::ALL.get(class).copied());
    (event.layer, event.outcome) = (Layer::ALL[layer], Some(Outcome::ALL[outcome]));
    (event.bytes_in, event.bytes_out) = (bytes, bytes / 3);
    (event.first_byte, event.duration) = (nanos, nanos * 2);
    event
}

/// Answers a question by the asker's thread.
fn answer(asker: &Asker, question: &Question) -> Answer {
    let (done, answered) = std::sync::mpsc::channel();
    asker.ask(question.clone(), crate::ask::Caller::default(), move |answer| done.send(answer).unwrap());
    let answer = answered.recv().unwrap().unwrap();
    Answer { cost: Cost::default(), seen: Seen::default(), ..answer }
}

/// An asker with these events, and one with the counts.
fn askers(world: &World, events: &[Event]) -> [Asker; 2] {
    let mut block = Block::default();
    let facts = RepositoryFacts { kind: "hosted", format: "gem" };
    events.iter().for_each(|event| block.push(&Row::of(event, facts)));
    let block: Arc<dyn Part> = Arc::new(block);
    let parts: Parts = Arc::new(move |_, _| vec![block.clone()]);
    let none: Parts = Arc::new(|_, _| panic!("events are read"));
    let rollups = world.rollups.clone();
    let rollups: RollupSource = Arc::new(move |question| rollups.scan(question));
    let start = |parts: Parts, rollups| {
        let clock = world.clock.clone();
        Asker::start(AskerOptions { parts, rollups, memory_bytes: 64 << 20, clock, log: Log::silent() })
    };
    [start(parts, None), start(none, Some(rollups))]
}

fn asked(text: &str, now: i64) -> Question {
    Question { wait_ms: 60_000, ..Question::from_text(text, Millis(now)).unwrap() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn counts_give_the_answers_that_all_events_would_give(
        events in proptest::collection::vec(event(), 1..150), then in 0..3u8,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut world = World::new(folder.path(), NOON);
        let events: Vec<Event> = events.into_iter().map(made).collect();
        for event in &events {
            world.recorder.attempt();
            world.recorder.release(Box::new(event.clone()));
        }
        world.settle();
        match then {
            0 => {}
            1 => {
                world.end();
                world = World::new(folder.path(), NOON + HOUR);
            }
            _ => {
                // The first event of the next hour makes a file of those before.
                world.clock.set(Some(Millis(NOON + HOUR)));
                world.event("gems", 200, NOON + HOUR, 5);
                world.settle();
                prop_assert_eq!(names(folder.path()).len(), 1);
            }
        }
        let [of_events, of_counts] = askers(&world, &events);
        for text in [
            "count, rate, sum(bytes_in), sum(bytes_out), mean(duration_ms) by repository from -1h",
            "max(first_byte_ms), max(duration_ms), sum(duration_ms), distinct(outcome), distinct(status) by class, layer from -30m",
            "count, share(status >= 500) by repository, outcome where not (kind = job) and status != 304 from -1h",
            "count, mean(first_byte_ms), min(status), max(status) from -1h per 5m",
            "count by status, repository_kind, format from -1h per 1h",
            "count where repository = gems from -7m",
        ] {
            let question = asked(text, NOON);
            let (expected, found) = (answer(&of_events, &question), answer(&of_counts, &question));
            prop_assert_eq!(&found, &expected, "{}", text);
            prop_assert!(found.exact);
        }
        let question = asked("p50(duration_ms), p95(first_byte_ms), p99(duration_ms) by repository from -1h", NOON);
        // The order is that of the quantiles, which are not exact.
        let sorted = |mut answer: Answer| {
            answer.rows.sort_by_key(|row| format!("{:?}", row[0]));
            answer.rows
        };
        let (expected, found) = (sorted(answer(&of_events, &question)), sorted(answer(&of_counts, &question)));
        prop_assert_eq!(expected.len(), found.len());
        for (expected, found) in expected.iter().zip(&found) {
            prop_assert_eq!(&expected[0], &found[0]);
            for (expected, found) in expected[1..].iter().zip(&found[1..]) {
                let (Figure::Fraction(expected), Figure::Fraction(found)) = (expected, found) else { panic!("{found:?}") };
                prop_assert!((found - expected).abs() <= expected * 0.023 + 0.001, "{} {}", found, expected);
            }
        }
        drop((of_events, of_counts));
        world.end();
    }
}

#[test]
fn counts_equal_the_totals_of_the_recorder_while_one_event_of_fifty_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), NOON);
    let facts = RepositoryFacts { kind: "hosted", format: "gem" };
    let rate = Sampler::new(world.clock.clone(), Goal::Number(2), move |_| facts);
    let options = RecorderOptions { shards: 2, buffered_events: 1 << 16, ..RecorderOptions::of(world.clock.clone()) };
    let recorder = Recorder::start_with_censuses(options, vec![Box::new(rate), world.rollups.census()], Vec::new());
    let world = World { recorder, ..world };
    const EVENTS: u64 = 10_000;
    for number in 0..EVENTS {
        let status = [200, 200, 206, 404][number as usize % 4];
        world.event(["gems", "maven"][number as usize % 2], status, NOON + number as i64 * 10, 5_000);
    }
    world.settle();
    let totals = world.recorder.totals();
    assert!(totals.unpacked() * 10 < EVENTS, "{}", totals.unpacked());
    let answer = world.ask("count, sum(bytes_out) by outcome from -1h", NOON + MINUTE * 2);
    let expected = [Outcome::Answered, Outcome::NotFound].map(|outcome| {
        let events = totals.outcome(outcome).cast_signed();
        vec![Figure::Text(outcome.as_str().into()), Figure::Whole(events), Figure::Whole(events * 10)]
    });
    assert_eq!((answer.rows, answer.exact), (expected.to_vec(), true));
    world.end();
}

#[test]
fn questions_that_need_more_than_counts_are_left_to_events() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), NOON + 30_000);
    let is_counted = |text: &str, now: i64| {
        world.rollups.scan(&asked(text, now)).map(|counted| (counted.from.0 - NOON, counted.to.0 - NOON))
    };
    let now = NOON + 30_000;
    assert_eq!(is_counted("count from -90s", now), Some((-60_000, 30_000)));
    assert_eq!(is_counted("count by repository from -1h per 10m", now), Some((-HOUR, 30_000)));
    assert_eq!(is_counted("count from 2026-11-01T11:00:00Z to 2026-11-01T11:30:00Z", now), Some((-HOUR, -HOUR / 2)));
    for text in [
        "count by package from -1h",
        "count from -1h per 10s",
        "count where path = /x from -1h",
        "sum(size) from -1h",
        "p95(bytes_out) from -1h",
        "min(duration_ms) from -1h",
        "distinct(client) from -1h",
        "share(method = GET) from -1h",
        "count from 2026-11-01T11:00:00Z to 2026-11-01T11:30:07Z",
    ] {
        assert_eq!(is_counted(text, now), None, "{text}");
    }
    world.end();
}
