//! The counts from the recorder to the files and back.

use super::counts::Counts;
use super::name::Name;
use super::rows::{Key, Rows, Table};
use super::*;
use crate::row::RepositoryFacts;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Class, ClientAddresses, Clock, Event, Layer, Log, Millis, Outcome, Recorder, RecorderOptions, Tick};

/// 2026-11-01T12:00:00Z.
const NOON: i64 = 1_793_534_400_000;

/// Any rows, of a few minutes and texts.
pub(super) fn rows() -> impl Strategy<Value = Rows> {
    let durations = || proptest::collection::vec((any::<u64>(), 14u32..64), 0..5);
    let row = (0..4i64, any::<[u8; 7]>(), 0..600u16, any::<[u32; 3]>(), durations(), durations());
    proptest::collection::vec(row, 1..12).prop_map(|all| {
        let texts = ["", "é", "hosted", "(other)", "a long name of a repository"];
        let mut rows = Rows { texts: texts.map(Arc::from).into(), rows: Vec::new() };
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

/// A server's clock, recorder and counts.
struct World {
    clock: Clock,
    recorder: Arc<Recorder>,
    rollups: Arc<Rollups>,
}

impl World {
    fn new(folder: &Path, now: i64) -> Self {
        Self::with(folder, now, 1 << 30, true)
    }

    fn with(folder: &Path, now: i64, bytes: u64, above_floor: bool) -> Self {
        let clock = Clock::at(Millis(now));
        let rollups = Rollups::new();
        let options = RecorderOptions {
            clock: clock.clone(),
            shards: 2,
            buffered_events: 1 << 16,
            client_addresses: ClientAddresses::default(),
        };
        let recorder = Recorder::start_with_censuses(options, vec![rollups.census()], Vec::new());
        let options = RollupOptions {
            folder: folder.to_owned(),
            bytes,
            clock: clock.clone(),
            log: Log::silent(),
            facts: Box::new(|_| RepositoryFacts { kind: "hosted", format: "gem" }),
            above_floor: Box::new(move || above_floor),
        };
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
        self.rollups.flush();
    }

    /// Events by the time of their row and repository: those in memory, those in files of minutes, those in files of hours.
    fn counted(&self) -> [BTreeMap<(i64, String), u64>; 3] {
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
        let read = |files: &[Arc<folder::RollFile>]| files.iter().map(|file| file.rows().unwrap()).collect();
        [of(vec![recent.into_sorted()]), of(read(&state.files.minutes)), of(read(&state.files.hours))]
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
        let [recent, minutes, hours] = world.counted();
        assert_eq!(recent, BTreeMap::from([row(NOON, "gems", round), row(NOON + MINUTE, "gems", round)]));
        assert!(minutes.is_empty() && hours.is_empty());
        world.end();
    }
}

#[test]
fn counts_survive_a_process_that_ends_without_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let killed = World::new(folder.path(), NOON);
    killed.event("gems", 200, NOON, 5_000);
    killed.settle();
    let next = World::new(folder.path(), NOON);
    assert_eq!(next.counted()[0], BTreeMap::from([row(NOON, "gems", 1)]));
    next.end();
    killed.end();
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
    let [recent, minutes, hours] = world.counted();
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
    let [_, minutes, hours] = world.counted();
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
        let [recent, minutes, hours] = world.counted();
        let mut all = minutes;
        recent.into_iter().for_each(|(key, events)| *all.entry(key).or_default() += events);
        prop_assert_eq!(&all, &expected);
        let in_hours: u64 = hours.values().sum();
        prop_assert!(in_hours <= all.values().sum());
        world.end();
        ended.into_iter().for_each(World::end);
    }
}
