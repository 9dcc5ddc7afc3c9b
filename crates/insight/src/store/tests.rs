//! Tests of keeping: rows on their way to segments, kills, a full disk, and retention.

mod unreadable;

use super::*;
use crate::column::Column;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use telemetry::{Because, Clock, Tick};

const NOON: i64 = 1_793_534_400_000;
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Keeping in a folder, with a clock and a disk that the test sets. Its thread does not run: a test calls what the thread does.
struct World {
    store: Arc<EventStore>,
    clock: Clock,
    full: Arc<AtomicBool>,
}

impl World {
    fn open(folder: &Path, keep_bytes: u64, memory_bytes: u64) -> Self {
        let world = Self::look(folder, keep_bytes, memory_bytes);
        world.store.load();
        world
    }

    /// Knows the files in the folder, and has read none.
    fn look(folder: &Path, keep_bytes: u64, memory_bytes: u64) -> Self {
        let (clock, full) = (Clock::at(Millis(NOON)), Arc::new(AtomicBool::new(false)));
        let keep_time = Duration::from_secs(90 * 24 * 60 * 60);
        let options = InsightOptions {
            keep_bytes,
            keep_time,
            memory_bytes,
            ask_memory_bytes: 0,
            clock: clock.clone(),
            log: Log::silent(),
        };
        let store = EventStore::new(options, Budget::new(1 << 30));
        let is_full = full.clone();
        store.look(Surroundings {
            folder: folder.join("events"),
            facts: Arc::new(|name| RepositoryFacts { kind: if name == "gems" { "hosted" } else { "" }, format: "gem" }),
            above_floor: Arc::new(move || !is_full.load(Relaxed)),
        });
        Self { store, clock, full }
    }

    fn large(folder: &Path) -> Self {
        Self::open(folder, 1 << 30, 1 << 30)
    }

    /// Takes events that begin at these moments. Returns their ids.
    fn take(&self, moments: impl Iterator<Item = i64>) -> Vec<u64> {
        let events: Vec<Event> = moments.map(event).collect();
        self.store.take(&events);
        events.iter().map(|event| event.id.0).collect()
    }

    /// The ids of all events, sorted.
    fn ids(&self) -> Vec<u64> {
        let parts = self.store.parts(Millis(i64::MIN), Millis(i64::MAX));
        let ids = parts.iter().flat_map(|part| part.numbers(Column::Id).unwrap());
        let mut ids: Vec<u64> = ids.map(i64::cast_unsigned).collect();
        ids.sort_unstable();
        ids
    }
}

fn event(at: i64) -> Event {
    let mut event = *Event::request(Millis(at), Tick(0));
    event.subject.repository = "gems".into();
    event.asked(&format!("/repository/gems/gems/lamp-{at}.gem"));
    event
}

#[expect(clippy::disallowed_methods, reason = "for files that a killed process left")]
fn put(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
    fs::write(path, bytes).unwrap();
}

/// The files in the folder, by the ends of their names.
fn files(folder: &Path) -> BTreeMap<String, usize> {
    let mut files = BTreeMap::new();
    for file in fs::read_dir(folder.join("events")).unwrap() {
        let path = file.unwrap().path();
        *files.entry(path.extension().unwrap().to_str().unwrap().to_owned()).or_default() += 1;
    }
    files
}

fn count(segments: usize, logs: usize) -> BTreeMap<String, usize> {
    let all = [("parquet", segments), ("log", logs)];
    all.into_iter().filter(|(_, count)| *count > 0).map(|(end, count)| (end.to_owned(), count)).collect()
}

#[test]
fn events_from_before_the_repositories_are_known_get_their_facts_later() {
    let folder = tempfile::tempdir().unwrap();
    let options = InsightOptions {
        keep_bytes: 1 << 20,
        keep_time: Duration::from_secs(1),
        memory_bytes: 1 << 20,
        ask_memory_bytes: 0,
        clock: Clock::at(Millis(NOON)),
        log: Log::silent(),
    };
    let store = EventStore::new(options, Budget::new(1 << 30));
    store.take(&[event(10), event(11)]);
    assert!(store.parts(Millis(0), Millis(100)).is_empty());
    store.look(Surroundings {
        folder: folder.path().join("events"),
        facts: Arc::new(|_| RepositoryFacts { kind: "hosted", format: "gem" }),
        above_floor: Arc::new(|| true),
    });
    let parts = store.parts(Millis(0), Millis(100));
    let kinds = parts[0].texts(Column::RepositoryKind).unwrap();
    assert_eq!((kinds.texts.iter().collect::<Vec<_>>(), kinds.codes), (vec!["hosted"], vec![0, 0]));
}

#[test]
fn a_row_can_be_asked_for_at_once_and_stays_while_it_becomes_part_of_a_segment() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::large(folder.path());
    let mut all = world.take(NOON..NOON + 100);
    assert_eq!((world.ids(), files(folder.path())), (all.clone(), count(0, 1)));
    world.store.maintain(true);
    assert_eq!((world.ids(), files(folder.path())), (all.clone(), count(1, 0)));
    all.extend(world.take(NOON + 100..NOON + 150));
    assert_eq!((world.ids(), files(folder.path())), (all.clone(), count(1, 1)));
    let parts = world.store.parts(Millis(NOON), Millis(NOON + DAY));
    assert!(parts.is_sorted_by_key(|part| std::cmp::Reverse(part.span().to)), "the newest come first");
    assert_eq!(world.store.parts(Millis(NOON + 99), Millis(NOON + 100)).len(), 1);
    assert_eq!(world.store.parts(Millis(NOON + 150), Millis(NOON + DAY)).len(), 0);
    assert_eq!(world.store.parts(Millis(0), Millis(NOON)).len(), 0);
}

#[test]
fn rows_become_a_segment_when_they_fill_their_memory_or_after_an_hour() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::open(folder.path(), 1 << 30, 1 << 20);
    let mut all = Vec::new();
    while files(folder.path()) != count(0, 2) {
        all.extend(world.take(NOON + all.len() as i64..NOON + all.len() as i64 + 500));
    }
    world.store.maintain(false);
    assert_eq!((world.ids(), files(folder.path())), (all.clone(), count(1, 1)));
    assert!(world.store.memory.highest() <= world.store.memory.capacity());
    world.clock.set(Some(Millis(NOON + HOUR - 1)));
    world.store.maintain(false);
    assert_eq!(files(folder.path()), count(1, 1));
    world.clock.set(Some(Millis(NOON + HOUR)));
    world.store.maintain(false);
    // The rest is joined with the small segment before it.
    assert_eq!((world.ids(), files(folder.path())), (all, count(1, 0)));
}

#[test]
fn enough_rows_become_a_segment_after_a_quarter_of_an_hour_and_stay_alone() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::large(folder.path());
    for batch in 0..66 {
        world.take((0..1000).map(|row| NOON + batch * 10 + row % 10));
    }
    world.clock.set(Some(Millis(NOON + 15 * MINUTE - 1)));
    world.store.maintain(false);
    assert_eq!(files(folder.path()), count(0, 1));
    world.clock.set(Some(Millis(NOON + 15 * MINUTE)));
    world.store.maintain(false);
    assert_eq!(files(folder.path()), count(1, 0));
    world.take(NOON..NOON + 10);
    world.store.maintain(true);
    assert_eq!((world.ids().len(), files(folder.path())), (66_010, count(2, 0)));
}

#[test]
fn a_killed_process_leaves_nothing_twice_and_loses_no_complete_batch() {
    let folder = tempfile::tempdir().unwrap();
    let events = folder.path().join("events");
    let save = |name: &str| {
        let file = fs::read_dir(&events)
            .unwrap()
            .map(|file| file.unwrap())
            .find(|file| file.path().extension().is_some_and(|end| end == name));
        let file = file.unwrap();
        (file.path(), fs::read(file.path()).unwrap())
    };
    let mut all = World::large(folder.path()).take(NOON..NOON + 100);
    let log = save("log");
    // Killed before it began a segment: the next start has the rows, and writes them.
    let world = World::large(folder.path());
    assert_eq!(world.ids(), all);
    world.store.maintain(false);
    assert_eq!((world.ids(), files(folder.path())), (all.clone(), count(1, 0)));
    // Killed between the segment and the removal of its log, and while it began another segment.
    let segment = save("parquet");
    put(&log.0, &log.1);
    put(events.join("events_x.parquet.tmp"), "half");
    let world = World::large(folder.path());
    assert_eq!((world.ids(), files(folder.path())), (all.clone(), count(1, 0)));
    all.extend(world.take(NOON + 100..NOON + 200));
    // Killed between a joined segment and the removal of the small one.
    world.store.maintain(true);
    assert_eq!(files(folder.path()), count(1, 0));
    put(&segment.0, &segment.1);
    assert_eq!(files(folder.path()), count(2, 0));
    let world = World::large(folder.path());
    assert_eq!((world.ids(), files(folder.path())), (all.clone(), count(1, 0)));
    // Killed within a batch.
    all.extend(world.take(NOON + 200..NOON + 300));
    world.take(NOON + 300..NOON + 400);
    let (path, bytes) = save("log");
    put(&path, &bytes[..bytes.len() - 1]);
    assert_eq!(World::large(folder.path()).ids(), all);
}

#[test]
fn logs_that_many_killed_processes_left_become_one_segment_that_is_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for killed in 0..40 {
        let world = World::look(folder.path(), 1 << 30, 1 << 30);
        all.extend(world.take(NOON + killed * 10..NOON + killed * 10 + 10));
    }
    let world = World::look(folder.path(), 1 << 30, 1 << 30);
    assert_eq!(files(folder.path()), count(0, 40));
    assert_eq!(world.store.batch(None).unwrap().numbers(), 0..=39);
    world.store.maintain(true);
    assert_eq!((world.ids(), files(folder.path())), (all, count(1, 0)));
}

#[test]
fn the_oldest_segments_are_thinned_and_every_sum_of_weights_stays() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::open(folder.path(), 700_000, 1 << 30);
    let mut failed: Vec<Event> = (0..30).map(|day| event(NOON + day * 2 * DAY)).collect();
    failed.iter_mut().for_each(|event| event.because = Because::Failed);
    for (day, failed) in failed.iter().enumerate() {
        let at = NOON + day as i64 * 2 * DAY;
        world.clock.set(Some(Millis(at)));
        world.store.take(std::slice::from_ref(failed));
        world.take(at..at + 3000);
        world.store.maintain(true);
        assert!(world.store.disk.used() <= 700_000);
    }
    let parts = world.store.parts(Millis(0), Millis(i64::MAX));
    let spans: Vec<Span> = parts.iter().map(|part| part.span()).collect();
    assert!(spans.iter().all(|span| span.events == 3001), "{spans:?}");
    assert_eq!(spans[0].rows, 3001);
    assert_eq!(spans.last().unwrap().rows, 301);
    assert!(spans.len() < 30, "the oldest are gone");
    for (part, failed) in parts.iter().zip(failed.iter().rev()) {
        let ids = part.numbers(Column::Id).unwrap();
        assert!(ids.contains(&failed.id.0.cast_signed()), "the event with trouble stays");
        assert_eq!(part.numbers(Column::Weight).unwrap().iter().sum::<i64>(), 3001);
    }
}

#[test]
fn below_the_floor_events_are_in_memory_only_and_writing_resumes_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::open(folder.path(), 1 << 30, 1 << 20);
    world.full.store(true, Relaxed);
    let mut all = world.take(NOON..NOON + 100);
    world.store.maintain(true);
    assert_eq!((world.ids(), files(folder.path())), (all.clone(), count(0, 0)));
    assert!(world.store.incidents.logging.is_on());
    world.full.store(false, Relaxed);
    all.extend(world.take(NOON + 100..NOON + 200));
    world.store.maintain(true);
    assert_eq!((world.ids(), files(folder.path())), (all, count(1, 0)));
    assert!(!world.store.incidents.logging.is_on());
    // The oldest rows make room while nothing can be written.
    world.full.store(true, Relaxed);
    let mut taken = 0;
    while world.store.memory.rejected() == 0 {
        world.take(NOON + taken..NOON + taken + 500);
        taken += 500;
        assert!(world.store.memory.used() <= world.store.memory.capacity());
    }
    assert_eq!(world.ids().len() as i64 + world.store.memory.rejected() as i64, 200 + taken);
}

#[test]
fn a_segment_that_a_question_reads_stays_until_the_question_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::open(folder.path(), 1 << 30, 1 << 20);
    let ids = world.take(NOON..NOON + 100);
    world.store.maintain(true);
    let held = world.store.parts(Millis(NOON), Millis(NOON + 1));
    world.clock.set(Some(Millis(NOON + 91 * DAY)));
    world.store.maintain(false);
    assert!(world.ids().is_empty());
    assert_eq!(held[0].numbers(Column::Id).unwrap().len(), ids.len());
    drop(held);
    world.store.maintain(false);
    assert_eq!(files(folder.path()), count(0, 0));
}

#[test]
fn a_damaged_segment_is_named_in_answers_and_others_answer() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::large(folder.path());
    let first = world.take(NOON..NOON + 100);
    world.store.maintain(true);
    world.take(NOON + 2 * DAY..NOON + 2 * DAY + 100);
    world.store.maintain(true);
    assert_eq!(files(folder.path()), count(2, 0));
    drop(world);
    let newest = fs::read_dir(folder.path().join("events")).unwrap().map(|file| file.unwrap().path()).max().unwrap();
    put(newest, "PAR1");
    let world = World::large(folder.path());
    let parts = world.store.parts(Millis(i64::MIN), Millis(i64::MAX));
    let [damaged, whole] = [&parts[0], &parts[1]];
    assert_eq!((parts.len(), damaged.span().rows), (2, 100));
    assert!(damaged.numbers(Column::Id).unwrap_err().what.ends_with(".parquet"));
    let ids: Vec<u64> = whole.numbers(Column::Id).unwrap().into_iter().map(i64::cast_unsigned).collect();
    assert_eq!(ids, first);
    // New rows are not joined with it.
    world.take(NOON + 2 * DAY..NOON + 2 * DAY + 100);
    world.store.maintain(true);
    assert_eq!(files(folder.path()), count(3, 0));
    assert_eq!(world.store.parts(Millis(NOON + 2 * DAY), Millis(i64::MAX)).len(), 2);
}

#[test]
fn a_file_that_cannot_be_read_replaces_no_other_and_one_with_an_impossible_number_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::large(folder.path());
    let ids = world.take(NOON..NOON + 100);
    world.store.maintain(true);
    drop(world);
    let events = folder.path().join("events");
    put(events.join("events_20261101T000000.000Z_20261101T130000.000Z_10_0-5_0.parquet"), "PAR1junkPAR1");
    put(events.join(format!("events_{}.log", u64::MAX)), "junk");
    let world = World::large(folder.path());
    let parts = world.store.parts(Millis(NOON), Millis(i64::MAX));
    let found: Vec<u64> =
        parts.iter().filter_map(|part| part.numbers(Column::Id).ok()).flatten().map(i64::cast_unsigned).collect();
    assert_eq!((parts.len(), found), (2, ids));
}

#[test]
fn rows_are_written_though_the_segment_before_them_has_a_damaged_column() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::large(folder.path());
    world.take(NOON..NOON + 100);
    world.store.maintain(true);
    drop(world);
    let segment = fs::read_dir(folder.path().join("events")).unwrap().map(|file| file.unwrap().path()).max().unwrap();
    let mut bytes = fs::read(&segment).unwrap();
    bytes[8..40].fill(0xff);
    put(segment, bytes);
    let world = World::large(folder.path());
    world.take(NOON + 200..NOON + 300);
    world.store.maintain(true);
    assert_eq!(files(folder.path()), count(2, 0));
    let parts = world.store.parts(Millis(NOON), Millis(i64::MAX));
    let rows: Vec<Option<usize>> =
        parts.iter().map(|part| part.numbers(Column::At).ok().map(|all| all.len())).collect();
    assert_eq!(rows, [Some(100), None]);
}

#[test]
fn indexes_that_do_not_fit_are_read_again_and_the_least_recently_used_make_room() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::open(folder.path(), 1 << 30, 1 << 17);
    let mut ids = Vec::new();
    for day in 0..5 {
        ids.extend(world.take((0..3).map(|n| NOON + 2 * day * DAY + n)));
        world.store.maintain(true);
    }
    assert_eq!(files(folder.path()), count(5, 0));
    let segments = world.store.rows().segments.clone();
    let indexes = world.store.indexes.bound();
    for _ in 0..2 {
        assert_eq!(world.ids(), ids);
        assert!(indexes.used() > 0 && indexes.highest() <= indexes.capacity(), "{indexes:?}");
    }
    let all: u64 = segments.iter().map(|stored| stored.open().unwrap().memory()).sum();
    assert!(all > indexes.capacity(), "{all}");
    // One was used again before another is read, which therefore takes the place of the rest.
    for _ in 0..3 {
        segments.iter().skip(1).for_each(|kept| drop((kept.open(), segments[0].open())));
        assert!(segments[0].is_open() && segments[4].is_open() && !segments[1].is_open());
    }
}
