//! Fills a folder with events, through the sink that the server has.

use super::SPAN;
use super::busy::Busy;
use anyhow::{Result, ensure};
use insight::{Insight, InsightOptions, RepositoryFacts, Surroundings};
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};
use telemetry::{BoundName, Clock, Event, EventId, Layer, Log, Millis, UpstreamUse};

/// Events of a batch.
const BATCH: usize = 4096;
/// Ids that are looked up later.
const IDS: usize = 200;
/// Memory for rows that wait for their segment.
const MEMORY: u64 = 512 << 20;
/// The upstreams of the misses.
const UPSTREAMS: [&str; 3] = ["mirror.example:443", "partner.example:443", "legacy.example:443"];

/// Writes so many events, spread over the time before now. Returns the end of this time, and some of their ids.
pub(super) fn fill(folder: &Path, events: usize) -> Result<(Millis, Vec<EventId>)> {
    let clock = Clock::default();
    let to = clock.now().0;
    let options = InsightOptions {
        keep_bytes: 1 << 40,
        keep_time: SPAN * 10,
        memory_bytes: MEMORY,
        ask_memory_bytes: 0,
        clock,
        log: Log::silent(),
    };
    let insight = Insight::new(options);
    let facts = |name: &str| RepositoryFacts { kind: if name == "public" { "group" } else { "hosted" }, format: "gem" };
    insight.begin(Surroundings { folder: folder.to_owned(), facts: Arc::new(facts), above_floor: Arc::new(|| true) });
    let memory = insight.bounds().into_iter().find(|bound| bound.name() == BoundName::OpenEvents);
    let (mut sink, mut busy, mut ids) = (insight.sink(), Busy::new(1), Vec::new());
    let (began, mut done) = (Instant::now(), 0);
    let span = i64::try_from(SPAN.as_millis())?;
    while done < events {
        let many = BATCH.min(events - done);
        let batch: Vec<Event> = (done..done + many)
            .map(|number| {
                let after = span as f64 * (number as f64 / events as f64);
                placed(busy.event(), number, Millis(to - span + after as i64))
            })
            .collect();
        ids.extend(
            (done..done + many).filter(|number| number % (events / IDS) == 0).map(|number| batch[number - done].id),
        );
        sink.write(&batch)?;
        done += many;
        // Segments are written by a thread of low priority, which is slower than this one.
        while memory.as_ref().is_some_and(|memory| memory.used() > MEMORY / 2) {
            sleep(Duration::from_millis(10));
        }
    }
    insight.close();
    let lost: u64 = insight.bounds().iter().map(|bound| bound.rejected()).sum();
    ensure!(lost == 0, "{lost} events were not kept");
    let seconds = began.elapsed().as_secs_f64();
    println!("{events} events were written in {seconds:.1} s: {:.2} us each", seconds * 1e6 / events as f64);
    Ok((Millis(to), ids))
}

/// The event at another moment, with its upstream if it was a miss.
fn placed(mut event: Event, number: usize, at: Millis) -> Event {
    event.at = at;
    event.id = EventId((at.0.cast_unsigned() << 22) | (0x5A5 << 10) | (number as u64 & 0x3FF));
    if event.layer == Layer::Group {
        let host = UPSTREAMS[number % UPSTREAMS.len()].into();
        event.more_mut().upstream =
            Some(UpstreamUse { host, status: event.status, calls: 1, ..UpstreamUse::default() });
    }
    event
}
