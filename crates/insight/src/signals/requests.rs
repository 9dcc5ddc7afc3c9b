//! Figures of all requests, in sum and by cost class.

use telemetry::{Class, Glance, Kind, Outcome};

/// Figures of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RequestCounts {
    /// Requests that ended.
    pub(crate) requests: u64,
    /// Their durations, in nanoseconds.
    pub(crate) nanos: u64,
    /// Those that failed: 5xx that are not a refusal for lack of room.
    pub(crate) failed: u64,
    /// Those that were refused for lack of room (503).
    pub(crate) shed: u64,
    /// Those that were answered from memory.
    pub(crate) hits: u64,
}

impl RequestCounts {
    pub(crate) fn see(&mut self, event: &Glance<'_>) {
        self.requests += 1;
        self.nanos += event.figures.duration;
        self.failed += u64::from(event.figures.outcome == Some(Outcome::Failed));
        self.shed += u64::from(event.figures.outcome == Some(Outcome::Shed));
        self.hits += u64::from(event.is_hit());
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.nanos += other.nanos;
        self.failed += other.failed;
        self.shed += other.shed;
        self.hits += other.hits;
    }
}

/// Figures of all requests, in sum and by cost class.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestsSeen {
    /// All of them.
    pub(crate) all: RequestCounts,
    classes: [RequestCounts; Class::COUNT],
}

impl RequestsSeen {
    /// Those of a cost class.
    pub(crate) fn of(&self, class: Class) -> &RequestCounts {
        &self.classes[class as usize]
    }

    pub(crate) fn of_mut(&mut self, class: Class) -> &mut RequestCounts {
        &mut self.classes[class as usize]
    }

    pub(crate) fn see(&mut self, event: &Glance<'_>) {
        if event.figures.kind != Kind::Request {
            return;
        }
        self.all.see(event);
        if let Some(class) = event.figures.class {
            self.of_mut(class).see(event);
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.all.add(&other.all);
        self.classes.iter_mut().zip(&other.classes).for_each(|(mine, theirs)| mine.add(theirs));
    }
}
