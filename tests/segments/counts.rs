//! Files of counts, of minutes and of hours, in other engines.

use crate::world::engines;
use insight::{RepositoryFacts, RollupOptions, Rollups, Surroundings};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use telemetry::{ClientAddresses, Clock, Event, Kind, Layer, Log, Millis, Outcome, Recorder, RecorderOptions, Tick};

/// 2026-11-01T12:00:00Z.
const NOON: i64 = 1_793_534_400_000;
const MINUTE: i64 = 60_000;

/// An event whose values follow from its number. It began within two hours.
fn event(number: u64) -> Event {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    let mut event = *Event::request(Millis(NOON + (mixed % 7_200_000).cast_signed()), Tick(0));
    event.subject.repository = ["gems", "maven", "", "é"][mixed as usize % 4].into();
    event.layer = Layer::ALL[mixed as usize % Layer::COUNT];
    event.outcome = Some([Outcome::Answered, Outcome::NotFound, Outcome::Failed][mixed as usize % 3]);
    event.status = [200, 404, 502][mixed as usize % 3];
    event.kind = if mixed.is_multiple_of(5) { Kind::Job } else { Kind::Request };
    (event.bytes_in, event.bytes_out) = (mixed % 977, mixed % 1_000_003);
    (event.first_byte, event.duration) = (mixed % 3_000_000, mixed % 3_000_000 + mixed % 90_000_000);
    event
}

/// What the engines find in files with these events.
fn figures(events: &[Event]) -> Value {
    let mut requests: BTreeMap<(&str, &str), [u64; 3]> = BTreeMap::new();
    for event in events.iter().filter(|event| event.kind == Kind::Request) {
        let outcome = event.outcome.unwrap().as_str();
        let sums = requests.entry((&event.subject.repository, outcome)).or_default();
        [1, event.bytes_in, event.bytes_out].iter().zip(sums).for_each(|(more, sum)| *sum += more);
    }
    let rows = requests
        .into_iter()
        .map(|((repository, outcome), [count, received, sent])| json!([repository, outcome, count, received, sent]));
    let spread = |micros: &dyn Fn(&Event) -> u64| {
        let mut all: Vec<u64> = events.iter().map(micros).collect();
        all.sort_unstable();
        let p95 = all[(all.len() * 95).div_ceil(100) - 1];
        json!({ "sum": all.iter().sum::<u64>(), "max": all.last(), "events": all.len(), "p95": p95 })
    };
    let durations = json!({
        "first_byte_ms": spread(&|event| event.first_byte / 1000),
        "duration_ms": spread(&|event| event.duration / 1000),
    });
    json!({ "requests": rows.collect::<Vec<_>>(), "durations": durations })
}

/// Compares what an engine found. A quantile is the upper edge of a bucket, which is 4.4 % wide.
fn compare(mut found: Value, expected: &Value) {
    for name in ["first_byte_ms", "duration_ms"] {
        let truth = expected["durations"][name]["p95"].as_u64().unwrap();
        let told = found["durations"][name]["p95"].as_u64().unwrap();
        assert!((truth..=truth + truth * 45 / 1000 + 1).contains(&told), "{name}: {told} for {truth}");
        found["durations"][name]["p95"] = truth.into();
    }
    assert_eq!(found, *expected);
}

fn files(folder: &Path, level: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(level)).collect()
}

#[test]
fn pyarrow_and_duckdb_read_files_of_counts_to_the_sums_of_all_events() {
    let folder = tempfile::tempdir().unwrap();
    let (clock, rollups) = (Clock::at(Millis(NOON)), Rollups::new());
    let options = RecorderOptions {
        clock: clock.clone(),
        shards: 2,
        buffered_events: 1 << 16,
        client_addresses: ClientAddresses::default(),
    };
    let recorder = Recorder::start_with_censuses(options, vec![rollups.census()], Vec::new());
    let surroundings = Surroundings {
        folder: folder.path().to_owned(),
        facts: Arc::new(|_| RepositoryFacts { kind: "hosted", format: "gem" }),
        above_floor: Arc::new(|| true),
    };
    let options = RollupOptions { surroundings, bytes: 1 << 30, clock: clock.clone(), log: Log::silent() };
    rollups.start(options).unwrap();
    let events: Vec<Event> = (0..6000).map(event).collect();
    // Two stretches each become a file of minutes. After midnight all of them become one of hours.
    for (stretch, at) in events.chunks(1000).zip([0, 60, 120, 180, 24 * 60, 25 * 60]) {
        clock.set(Some(Millis(NOON + at * MINUTE)));
        for event in stretch {
            recorder.attempt();
            recorder.release(Box::new(event.clone()));
        }
        assert!(recorder.flush(Duration::from_secs(60)));
        rollups.flush();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/segments/counts.py");
    let (minutes, hours) = (files(folder.path(), "minutes-"), files(folder.path(), "hours-"));
    assert_eq!((minutes.len(), hours.len()), (3, 1));
    let expected = figures(&events);
    for files in [minutes, hours] {
        let files: Vec<&str> = files.iter().map(|path| path.to_str().unwrap()).collect();
        let mut read = engines(&script, &files);
        compare(read["pyarrow"].take(), &expected);
        compare(read["duckdb"].take(), &expected);
    }
    recorder.stop(Duration::from_secs(60));
    rollups.stop();
}
