//! The events that wait to be sent: a bounded queue, which the sink fills and the job empties.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use telemetry::{Bound, BoundName, Event, Sink, lock};
use tokio::sync::Notify;

/// The most events that wait.
const EVENTS_MAX: u64 = 8192;

/// Events of one batch.
pub(super) type Part = (Arc<Vec<Event>>, Range<usize>);

/// The events that wait. When it is full, new ones are dropped and counted by its bound.
#[derive(Debug)]
pub(super) struct Queue {
    parts: Mutex<VecDeque<Part>>,
    bound: Arc<Bound>,
    /// Wakes the job.
    filled: Notify,
}

impl Queue {
    pub(super) fn new() -> Arc<Self> {
        let bound = Bound::new(BoundName::OtlpEvents, "", EVENTS_MAX);
        Arc::new(Self { parts: Mutex::default(), bound, filled: Notify::new() })
    }

    pub(super) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The events that wait.
    pub(super) fn len(&self) -> u64 {
        self.bound.used()
    }

    /// Waits until events were added.
    pub(super) async fn filled(&self) {
        self.filled.notified().await;
    }

    /// Takes at most `most` events, the oldest first.
    pub(super) fn take(&self, most: usize) -> Vec<Part> {
        let (mut taken, mut room, mut parts) = (Vec::new(), most, lock(&self.parts));
        while room > 0
            && let Some((batch, mut range)) = parts.pop_front()
        {
            let end = range.end.min(range.start + room);
            room -= end - range.start;
            taken.push((batch.clone(), range.start..end));
            range.start = end;
            if !range.is_empty() {
                parts.push_front((batch, range));
            }
        }
        drop(parts);
        self.bound.give((most - room) as u64);
        taken
    }

    fn add(&self, batch: &Arc<Vec<Event>>) {
        // A batch that fits in part is dropped in part.
        let free = usize::try_from(self.bound.capacity().saturating_sub(self.bound.used())).unwrap_or(usize::MAX);
        let fits = batch.len().min(free);
        if fits < batch.len() {
            self.bound.reject_many((batch.len() - fits) as u64);
        }
        // Only the thread of the sink adds, so the place is still free.
        let mut parts = lock(&self.parts);
        if fits > 0 && self.bound.take(fits as u64).is_ok() {
            parts.push_back((batch.clone(), 0..fits));
            self.filled.notify_one();
        }
    }
}

/// The sink of stored events, with their weights.
pub(super) struct Spans(pub(super) Arc<Queue>);

impl Sink for Spans {
    fn name(&self) -> &'static str {
        "otlp"
    }

    fn wants_all(&self) -> bool {
        false
    }

    /// Is not called: all sinks share a batch.
    fn write(&mut self, events: &[Event]) -> io::Result<()> {
        self.0.add(&Arc::new(events.to_vec()));
        Ok(())
    }

    fn share(&mut self, batch: &Arc<Vec<Event>>) -> io::Result<()> {
        self.0.add(batch);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(events: usize) -> Arc<Vec<Event>> {
        Arc::new(vec![Event::default(); events])
    }

    fn lengths(parts: &[Part]) -> Vec<usize> {
        parts.iter().map(|(_, range)| range.len()).collect()
    }

    #[test]
    fn events_leave_in_order_and_a_large_batch_leaves_in_parts() {
        let (queue, mut sink) = (Queue::new(), None);
        let sink = sink.get_or_insert_with(|| Spans(queue.clone()));
        for events in [3, 700, 2] {
            sink.share(&batch(events)).unwrap();
        }
        assert_eq!(queue.len(), 705);
        let first = queue.take(500);
        assert_eq!((lengths(&first), first[1].1.clone()), (vec![3, 497], 0..497));
        let second = queue.take(500);
        assert_eq!((lengths(&second), second[0].1.clone()), (vec![203, 2], 497..700));
        assert!(queue.take(500).is_empty() && queue.len() == 0);
    }

    #[test]
    fn a_full_queue_drops_new_events_and_counts_each() {
        let queue = Queue::new();
        let mut sink = Spans(queue.clone());
        sink.share(&batch(8000)).unwrap();
        sink.share(&batch(500)).unwrap();
        sink.share(&batch(10)).unwrap();
        assert_eq!((queue.len(), queue.bound().rejected()), (EVENTS_MAX, 8510 - EVENTS_MAX));
        assert_eq!(lengths(&queue.take(10_000)), [8000, 192]);
        sink.share(&batch(10)).unwrap();
        assert_eq!(queue.len(), 10);
    }
}
