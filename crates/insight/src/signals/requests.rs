//! Figures of all requests, in sum and by cost class.

use telemetry::{Class, EventId, Glance, Kind, Outcome};

/// Figures of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RequestCounts {
    /// Requests that ended.
    pub(crate) requests: u64,
    /// Their durations, in nanoseconds.
    pub(crate) nanos: u64,
    /// The failed ones among them: 5xx that are not a refusal for lack of room.
    pub(crate) failed: u64,
    /// The ones that were refused for lack of room (503).
    pub(crate) shed: u64,
    /// The first of these.
    pub(crate) first_shed: Option<EventId>,
    /// The ones that were answered from memory.
    pub(crate) hits: u64,
    /// The ones that were answered with 403, 404 or 410.
    pub(crate) missing: u64,
}

impl RequestCounts {
    /// Counts a request. Returns whether it is the first that was refused for lack of room.
    pub(crate) fn see(&mut self, event: &Glance<'_>) -> bool {
        self.requests += 1;
        self.nanos += event.figures.duration;
        self.failed += u64::from(event.figures.outcome == Some(Outcome::Failed));
        self.shed += u64::from(event.figures.outcome == Some(Outcome::Shed));
        self.hits += u64::from(event.is_hit());
        self.missing += u64::from(matches!(event.figures.status, 403 | 404 | 410));
        let first = event.figures.outcome == Some(Outcome::Shed) && self.first_shed.is_none();
        if first {
            self.first_shed = Some(event.figures.id);
        }
        first
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.nanos += other.nanos;
        self.failed += other.failed;
        self.shed += other.shed;
        self.hits += other.hits;
        self.missing += other.missing;
        self.first_shed = self.first_shed.or(other.first_shed);
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

    /// Counts a request. Returns whether it is the first of its class that was refused for lack of room.
    pub(crate) fn see(&mut self, event: &Glance<'_>) -> bool {
        if event.figures.kind != Kind::Request {
            return false;
        }
        let first = self.all.see(event);
        match event.figures.class {
            Some(class) => self.of_mut(class).see(event),
            None => first,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.all.add(&other.all);
        self.classes.iter_mut().zip(&other.classes).for_each(|(mine, theirs)| mine.add(theirs));
    }
}
