//! Recent events in memory, to be found by their ids.
//!
//! Answers from memory are frequent and of little interest. They have a ring of their own, so that they evict no other events.
//! Failed and slow events have another ring, because somebody may have to explain them. Only events that are kept longer are
//! copied, on the sink's thread after the reply.

use crate::{Bound, BoundName, Event, EventId, Layer, MemberSaid, Outcome, Sink};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// A batch of events, shared by all sinks.
type Batch = Arc<Vec<Event>>;

/// Recent events, within a bound of bytes.
#[derive(Debug)]
pub struct RecentEvents {
    rings: Mutex<[Ring; 3]>,
    bound: Arc<Bound>,
}

/// The sink that fills the rings.
struct RecentSink(Arc<RecentEvents>);

/// Batches in the order of their arrival. New ones evict the oldest.
#[derive(Debug, Default)]
struct Ring {
    batches: VecDeque<(Batch, u64)>,
    bytes: u64,
    max_bytes: u64,
}

impl RecentEvents {
    /// A request is slow if its first byte took longer than this, in nanoseconds: a second.
    const SLOW: u64 = 1_000_000_000;

    /// Keeps `max_bytes` of events: a quarter for all, a half for events with more work than a
    /// lookup in memory, a quarter for failed and slow events.
    pub fn new(max_bytes: u64) -> Arc<Self> {
        let ring = |max_bytes| Ring { max_bytes, ..Ring::default() };
        let rings = Mutex::new([ring(max_bytes / 4), ring(max_bytes / 2), ring(max_bytes / 4)]);
        Arc::new(Self { rings, bound: Bound::new(BoundName::RecentEvents, "", max_bytes) })
    }

    /// The sink that fills this.
    pub fn sink(self: &Arc<Self>) -> Box<dyn Sink> {
        Box::new(RecentSink(self.clone()))
    }

    /// The bound of the bytes, to be registered.
    pub fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The event with this id, if it is still kept. Searches all events.
    pub fn find(&self, id: EventId) -> Option<Event> {
        let newest_first = |ring: &Ring| ring.batches.iter().rev().map(|(batch, _)| batch.clone()).collect::<Vec<_>>();
        // Copies the list of batches, so that the sink does not wait for the search.
        let batches: Vec<Batch> = self.lock().iter().flat_map(newest_first).collect();
        batches.iter().flat_map(|batch| batch.iter()).find(|event| event.id == id).cloned()
    }

    fn keep(&self, batch: &Batch) {
        let of = |which: fn(&Event) -> bool| Batch::new(batch.iter().filter(|event| which(event)).cloned().collect());
        let (worked, troubled) = (of(|event| worked(event) && !is_trouble(event)), of(is_trouble));
        let mut rings = self.lock();
        let bytes = rings.iter_mut().zip([batch.clone(), worked, troubled]).map(|(ring, batch)| ring.push(batch));
        let bytes = bytes.sum();
        self.bound.observe(bytes);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, [Ring; 3]> {
        self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    /// Adds a batch and evicts old ones. Returns the bytes in the ring.
    fn push(&mut self, batch: Batch) -> u64 {
        if !batch.is_empty() {
            let bytes = batch.iter().map(weight).sum::<u64>();
            self.bytes += bytes;
            self.batches.push_back((batch, bytes));
        }
        while self.bytes > self.max_bytes
            && let Some((_, bytes)) = self.batches.pop_front()
        {
            self.bytes -= bytes;
        }
        self.bytes
    }
}

/// Whether the answer took more work than a lookup in memory.
fn worked(event: &Event) -> bool {
    !matches!(event.layer, Layer::Page | Layer::Open)
}

/// Whether somebody may ask for an explanation: the event failed or was slow, or a member did not answer reliably.
fn is_trouble(event: &Event) -> bool {
    let unsure = |said| matches!(said, MemberSaid::Failed | MemberSaid::Timeout | MemberSaid::Stale);
    matches!(event.outcome, Some(Outcome::Failed | Outcome::Shed))
        || event.first_byte > RecentEvents::SLOW
        || event.members.iter().any(|member| unsure(member.said))
}

/// The bytes of an event. A shared text counts for each event.
fn weight(event: &Event) -> u64 {
    let Event { subject, path, client, agent, token, detail, members, ops, .. } = event;
    let texts = [&*subject.repository, &subject.package, &subject.version, path, client, agent, token, detail];
    let texts: usize = texts.iter().map(|text| text.len()).sum();
    let ops = if ops.spilled() { size_of_val(ops.as_slice()) } else { 0 };
    let members = members
        .iter()
        .map(|one| size_of_val(one) + one.member.len() + one.detail.len() + size_of_val(one.ops.as_slice()));
    (size_of::<Event>() + texts + ops + members.sum::<usize>()) as u64
}

impl Sink for RecentSink {
    fn name(&self) -> &'static str {
        "recent"
    }

    fn write(&mut self, events: &[Event]) -> io::Result<()> {
        self.share(&Arc::new(events.to_vec()))
    }

    fn share(&mut self, batch: &Arc<Vec<Event>>) -> io::Result<()> {
        self.0.keep(batch);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemberRecord, Millis, Tick};

    fn event(layer: Layer) -> Event {
        let mut event = *Event::request(Millis(1), Tick(0));
        (event.layer, event.outcome) = (layer, Some(Outcome::Answered));
        event
    }

    fn keep(recent: &Arc<RecentEvents>, events: &[Event]) {
        recent.sink().write(events).unwrap();
    }

    #[test]
    fn an_event_is_found_by_its_id_unchanged() {
        let recent = RecentEvents::new(1 << 20);
        let events: Vec<Event> = (0..9).map(|_| event(Layer::Page)).collect();
        keep(&recent, &events);
        for event in &events {
            assert_eq!(format!("{:?}", recent.find(event.id).unwrap()), format!("{event:?}"));
        }
        assert!(recent.find(EventId(7)).is_none());
        assert_eq!(recent.bound().used(), events.iter().map(weight).sum::<u64>());
    }

    #[test]
    fn a_flood_of_hits_evicts_neither_events_that_took_work_nor_those_that_failed_or_were_slow() {
        let recent = RecentEvents::new(256 << 10);
        let (plain, worked) = (event(Layer::Page), event(Layer::Group));
        let (mut failed, mut slow, mut unsure) = (event(Layer::Page), event(Layer::Page), event(Layer::Group));
        failed.outcome = Some(Outcome::Failed);
        slow.first_byte = RecentEvents::SLOW + 1;
        unsure.members = vec![MemberRecord::new("far", MemberSaid::Timeout, None)];
        let all = [plain, worked, failed, slow, unsure];
        keep(&recent, &all);
        let flood: Vec<Event> = (0..100).map(|_| event(Layer::Page)).collect();
        for _ in 0..100 {
            keep(&recent, &flood);
            assert!(recent.bound().used() <= recent.bound().capacity());
        }
        let kept = all.each_ref().map(|event| recent.find(event.id).is_some());
        assert_eq!(kept, [false, true, true, true, true]);
        let work: Vec<Event> = (0..100).map(|_| event(Layer::Hosted)).collect();
        (0..100).for_each(|_| keep(&recent, &work));
        let kept = all.each_ref().map(|event| recent.find(event.id).is_some());
        assert_eq!(kept, [false, false, true, true, true]);
        assert!(recent.bound().highest() <= recent.bound().capacity());
    }
}
