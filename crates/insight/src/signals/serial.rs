//! Requests that wait for many downloads one after another.

use super::worst::Worst;
use std::collections::HashMap;
use telemetry::{Glance, Kind, Op};

/// The fewest downloads of one request that count as many.
pub(crate) const DOWNLOADS_MIN: u32 = 8;
/// The share of its time that such a request waits for them.
const SHARE: f64 = 0.8;
/// The most repositories and kinds of files with figures.
const KEYS_MAX: usize = 256;

/// Such requests of one repository for files of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SerialSeen {
    /// The requests.
    pub(crate) requests: u64,
    /// Their downloads.
    pub(crate) downloads: u64,
    /// How long they waited for them, in nanoseconds.
    pub(crate) nanos: u64,
    /// The one that waited longest.
    pub(crate) worst: Worst,
}

/// Such requests by repository and kind of file.
#[derive(Debug, Clone, Default)]
pub(crate) struct SerialsSeen(pub(crate) HashMap<(Box<str>, &'static str), SerialSeen>);

impl SerialsSeen {
    /// Counts a request. Returns whether it is worth storing.
    pub(crate) fn see(&mut self, event: &Glance<'_>) -> bool {
        let Some((_, tally)) = event.ops.iter().find(|(op, _)| *op == Op::FlightWait) else { return false };
        let long = tally.nanos as f64 >= SHARE * event.figures.duration as f64;
        if event.figures.kind != Kind::Request || tally.count < DOWNLOADS_MIN || !long {
            return false;
        }
        let key = (Box::from(event.repository), event.figures.file);
        let seen = SerialSeen {
            requests: 1,
            downloads: tally.count.into(),
            nanos: tally.nanos,
            worst: Worst { nanos: tally.nanos, event: Some(event.figures.id) },
        };
        let mine = self.0.get(&key).is_none_or(|mine| mine.worst.nanos < tally.nanos);
        self.join(key, &seen);
        mine
    }

    fn join(&mut self, key: (Box<str>, &'static str), theirs: &SerialSeen) {
        if self.0.len() >= KEYS_MAX && !self.0.contains_key(&key) {
            return;
        }
        let mine = self.0.entry(key).or_default();
        mine.requests += theirs.requests;
        mine.downloads += theirs.downloads;
        mine.nanos += theirs.nanos;
        mine.worst.add(&theirs.worst);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        other.0.iter().for_each(|(key, theirs)| self.join(key.clone(), theirs));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::{Event, Figures, Millis, Tick};

    #[test]
    fn requests_that_mostly_wait_for_many_downloads_count_and_others_do_not() {
        let mut seen = SerialsSeen::default();
        let mut see = |downloads: u32, nanos: u64| {
            let mut event = *Event::request(Millis(1), Tick(0));
            event.duration = 1000;
            (0..downloads).for_each(|_| event.add(Op::FlightWait, nanos / u64::from(downloads)));
            let figures = Figures::of(&event);
            seen.see(&Glance::of(&event, &figures))
        };
        assert!(see(10, 900) && !see(10, 900) && !see(7, 900) && !see(10, 700));
        let (_, of) = seen.0.iter().next().unwrap();
        assert_eq!((of.requests, of.downloads, of.nanos), (2, 20, 1800));
    }
}
