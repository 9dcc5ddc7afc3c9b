//! Counts the paths that clients requested from repositories within the last day, so that a preview can compare a change of settings
//! with real requests. A sink counts them, after the reply.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use telemetry::{Bound, BoundName, Clock, Event, Kind, Millis, Sink, lock};

/// Memory for the paths, in bytes: some 30,000 of them.
const BYTES_MAX: u64 = 4 << 20;
/// Memory of a path besides its text, in bytes.
const ENTRY_BYTES: u64 = 64;
/// Counts are kept in two halves of a day, and the older half is dropped at once: 12 hours, in milliseconds.
const HALF: i64 = 12 * 3_600_000;
const DAY: i64 = 2 * HALF;

/// The paths of the last day, with how often each was requested.
#[derive(Debug)]
pub struct RecentPaths {
    clock: Clock,
    halves: Mutex<Halves>,
    bound: Arc<Bound>,
}

/// The counts of the last day.
#[derive(Debug)]
pub struct PathCounts {
    /// When counting began.
    pub since: Millis,
    /// Paths as they stand in URLs, each with its number of requests, the most requested first.
    pub paths: Vec<(String, u64)>,
}

/// The older half, then the half that is being filled.
#[derive(Debug)]
struct Halves {
    both: [Half; 2],
}

#[derive(Debug)]
struct Half {
    began: Millis,
    counts: HashMap<Box<str>, u64>,
    bytes: u64,
}

impl Half {
    fn new(began: Millis) -> Self {
        Self { began, counts: HashMap::new(), bytes: 0 }
    }
}

/// Passes finished events to the counts.
struct PathSink(Arc<RecentPaths>);

impl RecentPaths {
    /// Without any counts yet.
    pub fn new(clock: Clock) -> Arc<Self> {
        let now = clock.now();
        let halves = Mutex::new(Halves { both: [Half::new(now), Half::new(now)] });
        Arc::new(Self { clock, halves, bound: Bound::new(BoundName::AskedPaths, "", BYTES_MAX) })
    }

    /// The sink that counts the paths of finished events.
    pub fn sink(self: &Arc<Self>) -> Box<dyn Sink> {
        Box::new(PathSink(self.clone()))
    }

    /// The bound on their memory, to be registered. A path that does not fit counts as rejected.
    pub fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The counts of the last day, or since the server started.
    pub fn counts(&self) -> PathCounts {
        let halves = self.current();
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for (path, count) in halves.both.iter().flat_map(|half| &half.counts) {
            *counts.entry(path).or_default() += count;
        }
        let mut paths: Vec<(String, u64)> = counts.into_iter().map(|(path, count)| (path.to_owned(), count)).collect();
        paths.sort_unstable_by(|(a, count_a), (b, count_b)| count_b.cmp(count_a).then_with(|| a.cmp(b)));
        PathCounts { since: halves.both[0].began, paths }
    }

    /// Both halves without the entries that are too old.
    fn current(&self) -> MutexGuard<'_, Halves> {
        let mut halves = lock(&self.halves);
        let (now, began) = (self.clock.now(), halves.both[1].began);
        match now.0.saturating_sub(began.0) {
            0..HALF => {}
            HALF..DAY => {
                halves.both.swap(0, 1);
                halves.both[1] = Half::new(Millis(began.0 + HALF));
            }
            // Both are too old, or the clock was set back, so that their age is unknown.
            _ => halves.both = [Half::new(now), Half::new(now)],
        }
        halves
    }

    fn count(&self, events: &[Event]) {
        let mut halves = self.current();
        for event in events.iter().filter(|event| is_of_content(event)) {
            // Of frequent answers from memory the sink gets a sample. The first request of a path is never answered from there.
            self.add(&mut halves, &event.path, event.weight.into());
        }
        self.bound.observe(halves.both.iter().map(|half| half.bytes).sum());
    }

    fn add(&self, halves: &mut Halves, path: &str, count: u64) {
        let taken: u64 = halves.both.iter().map(|half| half.bytes).sum();
        let half = &mut halves.both[1];
        if let Some(total) = half.counts.get_mut(path) {
            *total += count;
            return;
        }
        let bytes = ENTRY_BYTES + path.len() as u64;
        if taken + bytes > BYTES_MAX {
            return self.bound.reject();
        }
        half.bytes += bytes;
        half.counts.insert(path.into(), count);
    }
}

/// Whether an event is a read of repository content that was not refused. A path that was cut short names nothing.
fn is_of_content(event: &Event) -> bool {
    event.kind == Kind::Request
        && matches!(event.method, "GET" | "HEAD")
        && !matches!(event.status, 0 | 400 | 401 | 405)
        && event.path.starts_with("/repository/")
        && event.path.len() < Event::TEXT_MAX
}

impl Sink for PathSink {
    fn name(&self) -> &'static str {
        "asked"
    }

    fn wants_all(&self) -> bool {
        false
    }

    fn write(&mut self, events: &[Event]) -> io::Result<()> {
        self.0.count(events);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::{Layer, Tick};

    fn event(path: &str, layer: Layer) -> Event {
        let mut event = *Event::request(Millis(1), Tick(0));
        (event.method, event.path, event.status, event.layer) = ("GET", path.to_owned(), 200, layer);
        event
    }

    fn counts(recent: &RecentPaths) -> Vec<(String, u64)> {
        recent.counts().paths
    }

    #[test]
    fn paths_are_counted_for_a_day_and_the_most_requested_come_first() {
        let clock = Clock::at(Millis(5));
        let recent = RecentPaths::new(clock.clone());
        let (a, b) = ("/repository/all/a".to_owned(), "/repository/all/b".to_owned());
        recent.count(&[
            event(&a, Layer::Group),
            event(&b, Layer::Group),
            event(&b, Layer::Open),
            event("/metrics", Layer::Admin),
        ]);
        assert_eq!(counts(&recent), [(b.clone(), 2), (a.clone(), 1)]);
        clock.set(Some(Millis(5 + HALF)));
        recent.count(&[event(&a, Layer::Hosted), event(&a, Layer::Hosted)]);
        assert_eq!(counts(&recent), [(a.clone(), 3), (b, 2)]);
        assert_eq!(recent.counts().since, Millis(5));
        clock.set(Some(Millis(5 + DAY)));
        assert_eq!((counts(&recent), recent.counts().since), (vec![(a, 2)], Millis(5 + HALF)));
        clock.set(Some(Millis(5 + 3 * DAY)));
        assert_eq!(counts(&recent), []);
    }

    #[test]
    fn an_event_counts_for_all_that_it_stands_for_and_refused_requests_do_not_count() {
        let recent = RecentPaths::new(Clock::at(Millis(5)));
        let (page, mut sampled) = (event("/repository/all/a", Layer::Page), event("/repository/all/a", Layer::Page));
        sampled.weight = 31;
        recent.count(&[page, sampled]);
        assert_eq!(counts(&recent), [("/repository/all/a".to_owned(), 32)]);
        let mut refused = event("/repository/all/b", Layer::None);
        refused.status = 401;
        recent.count(&[refused, event(&format!("/repository/{}", "a".repeat(600)), Layer::Group)]);
        assert_eq!(counts(&recent).len(), 1);
    }

    #[test]
    fn paths_that_do_not_fit_into_the_bound_are_rejected() {
        let recent = RecentPaths::new(Clock::at(Millis(5)));
        let paths = BYTES_MAX / ENTRY_BYTES;
        (0..paths).for_each(|number| recent.count(&[event(&format!("/repository/all/{number}"), Layer::Group)]));
        assert!(recent.bound().used() <= BYTES_MAX && recent.bound().rejected() > 0);
    }
}
