//! Answers are not called exact if events were not counted.

use super::keys::whole;
use super::*;
use std::sync::{Mutex, MutexGuard};
use telemetry::{Census, Glance, SamplingDecision};

/// A census that waits for a lock.
struct Gate(Arc<Mutex<()>>);

impl Census for Gate {
    fn name(&self) -> &'static str {
        "gate"
    }

    fn see(&mut self, _: &Glance<'_>) -> SamplingDecision {
        drop(self.0.lock().unwrap());
        SamplingDecision::DROP
    }
}

/// A server whose buffers have room for four events, and whose collector waits for a lock.
fn crowded(world: World, gate: &Arc<Mutex<()>>) -> World {
    let options = RecorderOptions { buffered_events: 4, ..RecorderOptions::of(world.clock.clone()) };
    let censuses = vec![Box::new(Gate(gate.clone())) as Box<dyn Census>, world.rollups.census()];
    let recorder = Recorder::start_with_censuses(options, censuses, Vec::new());
    World { recorder, ..world }
}

#[test]
fn events_that_found_no_buffer_count_as_other_and_no_answer_about_their_minute_is_exact() {
    let folder = tempfile::tempdir().unwrap();
    let gate = Arc::default();
    let world = crowded(World::new(folder.path(), NOON + 1), &gate);
    let closed: MutexGuard<'_, ()> = gate.lock().unwrap();
    // The collector has four of them at most, and as many wait.
    (0..20).for_each(|_| world.event("gems", 200, NOON, 5_000));
    drop(closed);
    world.settle();
    let lost = world.recorder.totals().unbuffered();
    assert!(lost >= 12, "{lost}");
    let row = |name: &str, events: u64| vec![Figure::Text(name.into()), Figure::Whole(events.cast_signed())];
    let mut expected = vec![row("answered", 20 - lost), row(OTHER, lost)];
    expected.sort_by_key(|row| std::cmp::Reverse(whole(&row[1])));
    let found = world.ask("count by outcome from -1h", NOON + MINUTE);
    assert_eq!((found.rows, found.exact), (expected, false));
    let now = NOON + 3 * MINUTE;
    world.clock.set(Some(Millis(now)));
    world.event("gems", 200, now - MINUTE, 5_000);
    world.settle();
    let found = world.ask("count by outcome from -2m", now);
    assert_eq!((found.rows, found.exact), (vec![row("answered", 1)], true), "it is about later minutes");
    // The file tells it as well.
    world.clock.set(Some(Millis(NOON + HOUR)));
    world.event("gems", 200, NOON + HOUR, 5_000);
    world.settle();
    assert_eq!(names(folder.path()).len(), 1);
    assert!(!world.ask("count from -2h", NOON + HOUR).exact);
    assert!(world.ask("count from -50m", NOON + HOUR).exact);
    world.end();
}

#[test]
fn after_the_census_has_ended_questions_are_left_to_events() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), NOON + 1);
    world.event("gems", 200, NOON, 5_000);
    world.settle();
    let question = asked("count from -1h", NOON);
    assert!(world.rollups.scan(&question).is_some());
    world.recorder.stop(Duration::from_secs(60));
    let World { clock, recorder, rollups } = world;
    drop(recorder);
    // Its thread drops the census when it ends.
    while rollups.is_counting() {
        std::thread::yield_now();
    }
    assert!(rollups.scan(&question).is_none());
    drop(clock);
    rollups.stop();
}
