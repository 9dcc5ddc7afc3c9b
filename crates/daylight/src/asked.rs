//! Which paths clients asked repositories for within the last day, and how often, so that a change of settings can be held
//! against it. Noted behind the reply.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use telemetry::{Bound, BoundName, Clock, Event, Kind, Layer, Millis, Sink};

/// Memory for them, in bytes: some 30,000 paths.
const ROOM: u64 = 4 << 20;
/// What a path takes besides its text.
const EACH: u64 = 64;
/// A day is kept in two halves, the older of which goes as a whole: 12 hours, in milliseconds.
const HALF: i64 = 12 * 3_600_000;
const DAY: i64 = 2 * HALF;
/// Of so many answers that are complete in memory one is noted, for all of them: the first of a path never is.
const PAGES: u64 = 16;

/// Paths that were asked for.
#[derive(Debug)]
pub struct Asked {
    clock: Clock,
    table: Mutex<Table>,
    bound: Arc<Bound>,
}

/// What was asked for since a moment.
#[derive(Debug)]
pub struct Lately {
    /// Since then.
    pub since: Millis,
    /// Paths, as they stand in URLs, and how often; the most asked first.
    pub paths: Vec<(String, u64)>,
}

/// Two halves: the older one, and the one that is filled.
#[derive(Debug)]
struct Table {
    halves: [Half; 2],
    pages: u64,
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

/// The sink that notes them.
struct Noting(Arc<Asked>);

impl Asked {
    /// None yet.
    pub fn new(clock: Clock) -> Arc<Self> {
        let now = clock.now();
        let table = Mutex::new(Table { halves: [Half::new(now), Half::new(now)], pages: 0 });
        Arc::new(Self { clock, table, bound: Bound::new(BoundName::AskedPaths, "", ROOM) })
    }

    /// What has them noted.
    pub fn sink(self: &Arc<Self>) -> Box<dyn Sink> {
        Box::new(Noting(self.clone()))
    }

    /// What they take, to be registered. A path that found no room counts as rejected.
    pub fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// What was asked for within the last day, or what is known of that.
    pub fn lately(&self) -> Lately {
        let table = self.turned();
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for (path, count) in table.halves.iter().flat_map(|half| &half.counts) {
            *counts.entry(path).or_default() += count;
        }
        let mut paths: Vec<(String, u64)> = counts.into_iter().map(|(path, count)| (path.to_owned(), count)).collect();
        paths.sort_unstable_by(|(a, often), (b, oftener)| oftener.cmp(often).then_with(|| a.cmp(b)));
        Lately { since: table.halves[0].began, paths }
    }

    /// The table, without what is older than a day.
    fn turned(&self) -> MutexGuard<'_, Table> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, began) = (self.clock.now(), table.halves[1].began);
        match now.0.saturating_sub(began.0) {
            0..HALF => {}
            HALF..DAY => {
                table.halves.swap(0, 1);
                table.halves[1] = Half::new(Millis(began.0 + HALF));
            }
            // Too old; or the clock was set back, and nobody knows how old.
            _ => table.halves = [Half::new(now), Half::new(now)],
        }
        table
    }

    fn note(&self, events: &[Event]) {
        let mut table = self.turned();
        for event in events.iter().filter(|event| is_of_content(event)) {
            let mut count = 1;
            if event.layer == Layer::Page {
                table.pages += 1;
                if !table.pages.is_multiple_of(PAGES) {
                    continue;
                }
                count = PAGES;
            }
            self.add(&mut table, &event.path, count);
        }
        self.bound.observe(table.halves.iter().map(|half| half.bytes).sum());
    }

    fn add(&self, table: &mut Table, path: &str, count: u64) {
        let taken: u64 = table.halves.iter().map(|half| half.bytes).sum();
        let half = &mut table.halves[1];
        if let Some(counted) = half.counts.get_mut(path) {
            *counted += count;
            return;
        }
        let weight = EACH + path.len() as u64;
        if taken + weight > ROOM {
            return self.bound.reject();
        }
        half.bytes += weight;
        half.counts.insert(path.into(), count);
    }
}

/// Whether somebody who may was answered something of a repository. A path that was cut names nothing.
fn is_of_content(event: &Event) -> bool {
    event.kind == Kind::Request
        && matches!(event.method, "GET" | "HEAD")
        && !matches!(event.status, 0 | 400 | 401 | 405)
        && event.path.starts_with("/repository/")
        && event.path.len() < Event::TEXT_MAX
}

impl Sink for Noting {
    fn name(&self) -> &'static str {
        "asked"
    }

    fn write(&mut self, events: &[Event]) -> io::Result<()> {
        self.0.note(events);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::Tick;

    fn event(path: &str, layer: Layer) -> Event {
        let mut event = *Event::request(Millis(1), Tick(0));
        (event.method, event.path, event.status, event.layer) = ("GET", path.to_owned(), 200, layer);
        event
    }

    fn told(asked: &Asked) -> Vec<(String, u64)> {
        asked.lately().paths
    }

    #[test]
    fn paths_are_counted_for_a_day_and_those_most_asked_come_first() {
        let clock = Clock::at(Millis(5));
        let asked = Asked::new(clock.clone());
        let (a, b) = ("/repository/all/a".to_owned(), "/repository/all/b".to_owned());
        asked.note(&[
            event(&a, Layer::Group),
            event(&b, Layer::Group),
            event(&b, Layer::Open),
            event("/metrics", Layer::Admin),
        ]);
        assert_eq!(told(&asked), [(b.clone(), 2), (a.clone(), 1)]);
        clock.set(Some(Millis(5 + HALF)));
        asked.note(&[event(&a, Layer::Hosted), event(&a, Layer::Hosted)]);
        assert_eq!(told(&asked), [(a.clone(), 3), (b, 2)]);
        assert_eq!(asked.lately().since, Millis(5));
        clock.set(Some(Millis(5 + DAY)));
        assert_eq!((told(&asked), asked.lately().since), (vec![(a, 2)], Millis(5 + HALF)));
        clock.set(Some(Millis(5 + 3 * DAY)));
        assert_eq!(told(&asked), []);
    }

    #[test]
    fn answers_from_memory_count_for_others_of_their_kind_and_refusals_of_strangers_do_not_count() {
        let asked = Asked::new(Clock::at(Millis(5)));
        let page = event("/repository/all/a", Layer::Page);
        (0..2 * PAGES).for_each(|_| asked.note(std::slice::from_ref(&page)));
        assert_eq!(told(&asked), [("/repository/all/a".to_owned(), 2 * PAGES)]);
        let mut refused = event("/repository/all/b", Layer::None);
        refused.status = 401;
        asked.note(&[refused, event(&format!("/repository/{}", "a".repeat(600)), Layer::Group)]);
        assert_eq!(told(&asked).len(), 1);
    }

    #[test]
    fn there_is_room_for_so_many_and_no_more() {
        let asked = Asked::new(Clock::at(Millis(5)));
        let paths = ROOM / EACH;
        (0..paths).for_each(|number| asked.note(&[event(&format!("/repository/all/{number}"), Layer::Group)]));
        assert!(asked.bound().used() <= ROOM && asked.bound().rejected() > 0);
    }
}
