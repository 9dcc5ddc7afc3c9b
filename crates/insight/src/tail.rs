//! Live events: each finished event that fits a listener's filter is sent to it, as a message of Server-Sent Events.
//!
//! Without a listener the sink is switched off, and no event is unpacked for it. With one it gets every event, whatever is stored. A listener
//! that gets too many events gets a sample with weights ([`throttle`]), and one that reads too slowly loses events; it is told about both.

mod line;
mod listener;
mod message;
mod throttle;

pub use listener::Listener;

use crate::ask::Filter;
use crate::options::FactsOf;
use crate::row::Row;
use line::Line;
use listener::Queue;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Release};
use std::sync::{Arc, Mutex, OnceLock};
use telemetry::{Bound, BoundName, Event, Sink, background, give_way, lock};

/// The listeners to live events.
pub struct Tail {
    /// On while somebody listens.
    switch: Arc<AtomicBool>,
    /// How many may listen.
    places: Arc<Bound>,
    /// How many of them may be of one caller.
    each: u64,
    /// The queue of the listener that has the most in it.
    queued: Arc<Bound>,
    open: Mutex<Open>,
    facts: OnceLock<FactsOf>,
}

/// Why nobody more can listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPlace {
    /// As many as possible listen.
    Full,
    /// The caller listens as often as one may.
    OfCaller,
}

/// The listeners.
#[derive(Debug, Default)]
struct Open {
    queues: Vec<Arc<Queue>>,
    /// No listener is admitted any more.
    closed: bool,
}

impl Tail {
    /// The most bytes of messages that wait for one listener.
    pub const QUEUE_BYTES: u64 = 512 << 10;
    /// About the most bytes of messages that a listener gets at once, which it may have to hold until a slow client reads them.
    pub const PIECE_BYTES: usize = 32 << 10;

    /// A tail for at most so many listeners at once, and so many of one caller.
    pub fn new(listeners: u64, each: u64) -> Arc<Self> {
        Arc::new(Self {
            each,
            switch: Arc::default(),
            places: Bound::new(BoundName::TailListeners, "", listeners),
            queued: Bound::new(BoundName::TailQueue, "", Self::QUEUE_BYTES),
            open: Mutex::default(),
            facts: OnceLock::new(),
        })
    }

    /// Sets how the facts about a repository are found by its name. It must not wait. Only the first call has an effect.
    pub fn set_facts(&self, facts: FactsOf) {
        let _ = self.facts.set(facts);
    }

    /// Its bounds. Register both.
    pub fn bounds(&self) -> [Arc<Bound>; 2] {
        [self.places.clone(), self.queued.clone()]
    }

    /// The sink that passes events to the listeners.
    pub fn sink(self: &Arc<Self>) -> Box<dyn Sink> {
        Box::new(TailSink { tail: self.clone(), is_background: false })
    }

    /// Begins to listen for events that `filter` chooses. It gets every event that ends from now on. `all`: also where these are so many
    /// that others get a sample of them. `caller`: a number that is the caller's own. Fails if too many listen.
    pub fn listen(self: &Arc<Self>, filter: Filter, all: bool, caller: u64) -> Result<Listener, NoPlace> {
        let queue = Arc::new(Queue::new(filter, all, caller));
        let mut open = lock(&self.open);
        let own = open.queues.iter().filter(|queue| queue.caller() == caller).count() as u64;
        if self.each < self.places.capacity() && own >= self.each {
            self.places.reject();
            return Err(NoPlace::OfCaller);
        }
        let place = self.places.enter().map_err(|_| NoPlace::Full)?;
        if open.closed {
            queue.close();
        } else {
            open.queues.push(queue.clone());
            self.switch.store(true, Release);
        }
        drop(open);
        Ok(Listener::new(self.clone(), queue, place))
    }

    /// Ends all listeners, and every later one at once: the server stops.
    pub fn close(&self) {
        let mut open = lock(&self.open);
        open.closed = true;
        self.switch.store(false, Release);
        let queues = std::mem::take(&mut open.queues);
        drop(open);
        queues.iter().for_each(|queue| queue.close());
    }

    /// A listener has gone.
    fn leave(&self, queue: &Arc<Queue>) {
        let mut open = lock(&self.open);
        open.queues.retain(|other| !Arc::ptr_eq(other, queue));
        if open.queues.is_empty() {
            self.switch.store(false, Release);
        }
        drop(open);
        self.measure();
    }

    /// Notes how full the fullest queue is.
    fn measure(&self) {
        self.queued.observe(lock(&self.open).queues.iter().map(|queue| queue.bytes()).max().unwrap_or(0));
    }

    fn pass(&self, events: &[Event]) {
        let queues = lock(&self.open).queues.clone();
        if queues.is_empty() {
            return;
        }
        for event in events {
            give_way();
            let facts = self.facts.get().map(|facts| facts(&event.subject.repository)).unwrap_or_default();
            let row = Row::of(event, facts);
            let mut line = Line::new(&row);
            let lost = queues.iter().map(|queue| queue.offer(&row, &mut line)).sum();
            if lost > 0 {
                self.queued.reject_many(lost);
            }
        }
        queues.iter().for_each(|queue| queue.wake());
        self.measure();
    }
}

impl fmt::Debug for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tail").field("open", &self.open).finish_non_exhaustive()
    }
}

struct TailSink {
    tail: Arc<Tail>,
    is_background: bool,
}

impl Sink for TailSink {
    fn name(&self) -> &'static str {
        "tail"
    }

    fn switch(&self) -> Option<Arc<AtomicBool>> {
        Some(self.tail.switch.clone())
    }

    fn write(&mut self, events: &[Event]) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_background, true) {
            background();
        }
        self.tail.pass(events);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
