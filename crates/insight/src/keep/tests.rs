use super::*;
use crate::column::Column;
use telemetry::{Clock, Log, Tick};

fn keep(memory_bytes: u64) -> Arc<Keep> {
    Keep::new(InsightOptions { memory_bytes, clock: Clock::at(Millis(5)), log: Log::silent() })
}

fn gems() -> FactsOf {
    Box::new(|name| RepositoryFacts { kind: if name == "gems" { "hosted" } else { "" }, format: "gem" })
}

fn event(at: i64, repository: &str) -> Event {
    let mut event = *Event::request(Millis(at), Tick(0));
    event.subject.repository = repository.into();
    event
}

fn ids(parts: &[Arc<dyn Part>]) -> Vec<u64> {
    parts.iter().flat_map(|part| part.numbers(Column::Id).unwrap()).map(i64::cast_unsigned).collect()
}

#[test]
fn events_from_before_the_repositories_are_known_get_their_facts_later() {
    let keep = keep(1 << 20);
    keep.take(&[event(10, "gems"), event(11, "other")]);
    assert!(keep.parts(Millis(0), Millis(100)).is_empty());
    keep.begin(gems());
    let parts = keep.parts(Millis(0), Millis(100));
    let kinds = parts[0].texts(Column::RepositoryKind).unwrap();
    let kinds: Vec<&str> = kinds.codes.iter().map(|code| &kinds.texts[*code as usize]).collect();
    assert_eq!(kinds, ["hosted", ""]);
}

#[test]
fn a_time_has_the_parts_with_its_events_and_the_newest_come_first() {
    let keep = keep(1 << 30);
    keep.begin(gems());
    let events: Vec<Event> = (0..3 * BLOCK_ROWS as i64 / 2).map(|at| event(at, "gems")).collect();
    keep.take(&events);
    let parts = keep.parts(Millis(0), Millis(10_000));
    assert_eq!(parts.iter().map(|part| part.span().rows).collect::<Vec<_>>(), [BLOCK_ROWS / 2, BLOCK_ROWS]);
    assert_eq!(keep.parts(Millis(0), Millis(BLOCK_ROWS as i64)).len(), 1);
    assert_eq!(keep.parts(Millis(BLOCK_ROWS as i64 - 1), Millis(BLOCK_ROWS as i64)).len(), 1);
    assert!(keep.parts(Millis(10_000), Millis(20_000)).is_empty());
    let mut found = ids(&parts);
    found.sort_unstable();
    assert_eq!(found, events.iter().map(|event| event.id.0).collect::<Vec<_>>());
}

#[test]
fn full_memory_loses_the_oldest_rows_and_counts_them() {
    let keep = keep(4 * BLOCK_ROWS as u64 * ROW_BYTES);
    keep.begin(gems());
    for at in 0..6 * BLOCK_ROWS as i64 {
        keep.take(&[event(at, "gems")]);
    }
    let memory = &keep.bounds()[0];
    assert!(memory.used() <= memory.capacity() && memory.used() > memory.capacity() / 2);
    let left = keep.parts(Millis(0), Millis(100_000));
    let rows: usize = left.iter().map(|part| part.span().rows).sum();
    assert_eq!(rows as u64 + memory.rejected(), 6 * BLOCK_ROWS as u64);
    assert_eq!(left[0].span().to, 6 * BLOCK_ROWS as i64 - 1);
}

#[test]
fn without_memory_nothing_is_kept() {
    let keep = keep(0);
    keep.begin(gems());
    keep.take(&[event(1, "gems")]);
    assert!(keep.parts(Millis(0), Millis(100)).is_empty());
}
