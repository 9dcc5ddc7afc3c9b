//! Recent events in memory, to be found by their ids.
//!
//! Answers from memory are frequent and of little interest, so they evict no other events. The last events of both kinds are kept whole,
//! stored or not: a census copies them as they are packed. Of the earlier ones the stored sample is left. Failed and slow
//! events have a ring of their own, because somebody may have to explain them. The threads of the collector and the sink make the copies,
//! after the reply.

use crate::lock;
use crate::recorder::glance::trouble;
use crate::recorder::packed_events::PackedEvents;
use crate::{Bound, BoundName, Census, Event, EventId, Glance, SamplingDecision, Sink};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

/// Recent events, within a bound of bytes.
#[derive(Debug)]
pub struct RecentEvents {
    rings: Mutex<Rings>,
    bound: Arc<Bound>,
}

/// The rings, each with a part of the bytes.
#[derive(Debug)]
struct Rings {
    /// The last answers from memory.
    hits: Ring<PackedEvents>,
    /// The last events with more work than a lookup in memory.
    worked: Ring<PackedEvents>,
    /// The stored events.
    sampled: Ring<Vec<Event>>,
    /// Failed and slow events.
    troubled: Ring<Vec<Event>>,
}

/// The census that fills the rings of the last events.
struct LastEvents {
    recent: Arc<RecentEvents>,
    /// Answers from memory since the last pause.
    hits: PackedEvents,
    worked: PackedEvents,
    /// The bytes of the latter.
    worked_bytes: u64,
    /// They go into their ring in pieces of about this many bytes.
    piece_bytes: u64,
}

/// The sink that fills the other rings.
struct RecentSink(Arc<RecentEvents>);

/// Batches in the order of their arrival. New ones evict the oldest.
#[derive(Debug)]
struct Ring<T> {
    batches: VecDeque<(Arc<T>, u64)>,
    bytes: u64,
    max_bytes: u64,
}

impl RecentEvents {
    /// Keeps `max_bytes` of events: an eighth for the last answers from memory, a half for the last events with more work, an eighth for
    /// stored events, a quarter for failed and slow events.
    pub fn new(max_bytes: u64) -> Arc<Self> {
        let rings = Mutex::new(Rings {
            hits: Ring::new(max_bytes / 8),
            worked: Ring::new(max_bytes / 2),
            sampled: Ring::new(max_bytes / 8),
            troubled: Ring::new(max_bytes / 4),
        });
        Arc::new(Self { rings, bound: Bound::new(BoundName::RecentEvents, "", max_bytes) })
    }

    /// The census that fills this with the last events.
    pub fn census(self: &Arc<Self>) -> Box<dyn Census> {
        Box::new(LastEvents {
            recent: self.clone(),
            hits: PackedEvents::default(),
            worked: PackedEvents::default(),
            worked_bytes: 0,
            piece_bytes: self.bound.capacity() / 16,
        })
    }

    /// The sink that fills this with the events that are stored.
    pub fn sink(self: &Arc<Self>) -> Box<dyn Sink> {
        Box::new(RecentSink(self.clone()))
    }

    /// The bound of the bytes, to be registered.
    pub fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The event with this id, if it is still kept. Searches all events.
    pub fn find(&self, id: EventId) -> Option<Event> {
        // Copies the lists of batches, so that neither the collector nor the sink waits for the search.
        let (last, stored) = {
            let rings = lock(&self.rings);
            let last = [&rings.worked, &rings.hits].map(Ring::newest_first);
            (last, [&rings.troubled, &rings.sampled].map(Ring::newest_first))
        };
        let mut stored = stored.iter().flatten().flat_map(|batch| batch.iter());
        // A stored event is among the last ones as well, and only the stored one tells how many it stands for.
        let found = stored.find(|event| event.id == id).cloned();
        found.or_else(|| last.iter().flatten().find_map(|batch| batch.find(id)))
    }

    fn keep(&self, batch: &Arc<Vec<Event>>) {
        let of = |which: fn(&Event) -> bool| {
            // A batch for one ring alone is shared with it.
            match batch.iter().all(which) {
                true => batch.clone(),
                false => Arc::new(batch.iter().filter(|event| which(event)).cloned().collect()),
            }
        };
        let (sampled, troubled) = (of(|event| !is_trouble(event)), of(is_trouble));
        let mut rings = lock(&self.rings);
        rings.sampled.push_in_pieces(sampled);
        rings.troubled.push_in_pieces(troubled);
        self.bound.observe(rings.bytes());
    }
}

impl Rings {
    fn bytes(&self) -> u64 {
        self.hits.bytes + self.sampled.bytes + self.worked.bytes + self.troubled.bytes
    }
}

impl<T> Ring<T> {
    fn new(max_bytes: u64) -> Self {
        Self { batches: VecDeque::new(), bytes: 0, max_bytes }
    }

    /// Adds a batch of this many bytes, unless it is empty, and evicts old ones.
    fn push(&mut self, batch: Arc<T>, bytes: u64) {
        if bytes > 0 {
            self.bytes += bytes;
            self.batches.push_back((batch, bytes));
        }
        while self.bytes > self.max_bytes
            && let Some((_, bytes)) = self.batches.pop_front()
        {
            self.bytes -= bytes;
        }
    }

    fn newest_first(&self) -> Vec<Arc<T>> {
        self.batches.iter().rev().map(|(batch, _)| batch.clone()).collect()
    }
}

impl Ring<Vec<Event>> {
    /// Adds a batch. A batch evicts whole batches, so one that fills a good part of the ring is added in pieces. Otherwise a single new event
    /// could evict nearly all others.
    fn push_in_pieces(&mut self, batch: Arc<Vec<Event>>) {
        let (bytes, piece_max) = (batch.iter().map(weight).sum(), self.max_bytes / 8);
        if bytes <= piece_max {
            return self.push(batch, bytes);
        }
        let (mut piece, mut bytes) = (Vec::new(), 0);
        for event in &*batch {
            let more = weight(event);
            if bytes + more > piece_max {
                self.push(Arc::new(std::mem::take(&mut piece)), std::mem::take(&mut bytes));
            }
            bytes += more;
            piece.push(event.clone());
        }
        self.push(Arc::new(piece), bytes);
    }
}

/// Whether somebody may ask for an explanation.
fn is_trouble(event: &Event) -> bool {
    trouble(event.outcome, event.first_byte, &event.members).is_some()
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

/// About the bytes of an event in a buffer of packed events.
fn packed_weight(event: &Glance<'_>) -> u64 {
    const FIXED: usize = 256;
    let texts = [event.path, event.token, event.detail, event.repository, event.package, event.version, event.agent];
    let texts: usize = texts.iter().map(|text| text.len()).sum();
    let members = event.members.iter();
    let members = members
        .map(|one| size_of_val(one) + one.member.len() + one.detail.len() + size_of_val(one.ops.as_slice()))
        .sum::<usize>();
    // Lanes and backends are shared by all events.
    let app = event.more.and_then(|more| more.app.as_deref());
    let app = app.map_or(0, |used| size_of_val(used) + used.server_timing.len());
    (FIXED + texts + members + size_of_val(event.ops) + event.more.map_or(0, size_of_val) + app) as u64
}

impl LastEvents {
    /// Moves the events with more work into their ring.
    fn push_worked(&mut self) {
        if self.worked.len() > 0 {
            let worked = std::mem::take(&mut self.worked).shrunk();
            let mut rings = lock(&self.recent.rings);
            rings.worked.push(Arc::new(worked), std::mem::take(&mut self.worked_bytes));
            self.recent.bound.observe(rings.bytes());
        }
    }
}

impl Census for LastEvents {
    fn name(&self) -> &'static str {
        "last_events"
    }

    fn see(&mut self, event: &Glance<'_>) -> SamplingDecision {
        if event.is_hit() && !event.is_trouble() {
            self.hits.copy(event);
        } else {
            self.worked.copy(event);
            self.worked_bytes += packed_weight(event);
            if self.worked_bytes > self.piece_bytes {
                self.push_worked();
            }
        }
        SamplingDecision::DROP
    }

    fn pause(&mut self) {
        self.push_worked();
        if self.hits.len() > 0 {
            let hits = std::mem::take(&mut self.hits).shrunk();
            let bytes = hits.bytes();
            let mut rings = lock(&self.recent.rings);
            rings.hits.push(Arc::new(hits), bytes);
            self.recent.bound.observe(rings.bytes());
        }
    }
}

impl Sink for RecentSink {
    fn name(&self) -> &'static str {
        "recent"
    }

    fn wants_all(&self) -> bool {
        false
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
    use crate::recorder::glance::SLOW;
    use crate::{Figures, Layer, MemberRecord, MemberSaid, Millis, Outcome, Tick};

    fn event(layer: Layer) -> Event {
        let mut event = *Event::request(Millis(1), Tick(0));
        (event.layer, event.outcome) = (layer, Some(Outcome::Answered));
        event
    }

    fn keep(recent: &Arc<RecentEvents>, events: &[Event]) {
        recent.sink().write(events).unwrap();
    }

    fn see(recent: &Arc<RecentEvents>, events: &[Event]) {
        let mut census = recent.census();
        for event in events {
            let figures = Figures::of(event);
            assert_eq!(
                census.see(&Glance::of(event, &figures)),
                SamplingDecision::DROP,
                "it does not decide what others get"
            );
        }
        census.pause();
    }

    #[test]
    fn an_event_is_found_by_its_id_unchanged() {
        let recent = RecentEvents::new(1 << 20);
        let events: Vec<Event> = (0..9).map(|_| event(Layer::Hosted)).collect();
        keep(&recent, &events);
        for event in &events {
            assert_eq!(format!("{:?}", recent.find(event.id).unwrap()), format!("{event:?}"));
        }
        assert!(recent.find(EventId(7)).is_none());
        assert_eq!(recent.bound().used(), events.iter().map(weight).sum::<u64>());
    }

    #[test]
    fn the_last_answers_from_memory_are_found_whole_though_the_sink_gets_none_of_them() {
        let recent = RecentEvents::new(64 << 10);
        let mut last = Vec::new();
        for _ in 0..100 {
            last = (0..9).map(|_| event(Layer::Page)).collect();
            see(&recent, &last);
            assert!(recent.bound().used() <= 8 << 10);
        }
        for event in &last {
            assert_eq!(format!("{:?}", recent.find(event.id).unwrap()), format!("{event:?}"));
        }
        let sampled = Event { weight: 7, ..event(Layer::Page) };
        see(&recent, std::slice::from_ref(&sampled));
        assert_eq!(recent.find(sampled.id).unwrap().weight, 1);
        keep(&recent, std::slice::from_ref(&sampled));
        assert_eq!(recent.find(sampled.id).unwrap().weight, 7);
    }

    #[test]
    fn a_flood_of_hits_evicts_neither_events_that_took_work_nor_those_that_failed_or_were_slow() {
        let recent = RecentEvents::new(256 << 10);
        let (plain, worked) = (event(Layer::Page), event(Layer::Group));
        let (mut failed, mut slow, mut unsure) = (event(Layer::Page), event(Layer::Page), event(Layer::Group));
        failed.outcome = Some(Outcome::Failed);
        slow.first_byte = SLOW + 1;
        unsure.members = vec![MemberRecord::new("far", MemberSaid::Timeout, None)];
        let all = [plain, worked, failed, slow, unsure];
        keep(&recent, &all);
        see(&recent, &all);
        let flood: Vec<Event> = (0..100).map(|_| event(Layer::Page)).collect();
        for _ in 0..100 {
            keep(&recent, &flood);
            see(&recent, &flood);
            assert!(recent.bound().used() <= recent.bound().capacity());
        }
        let kept = all.each_ref().map(|event| recent.find(event.id).is_some());
        assert_eq!(kept, [false, true, true, true, true]);
        let work: Vec<Event> = (0..100).map(|_| event(Layer::Hosted)).collect();
        for _ in 0..100 {
            keep(&recent, &work);
            see(&recent, &work);
        }
        let kept = all.each_ref().map(|event| recent.find(event.id).is_some());
        assert_eq!(kept, [false, false, true, true, true]);
        assert!(recent.bound().highest() <= recent.bound().capacity());
    }

    #[test]
    fn of_a_batch_that_is_larger_than_its_ring_the_newest_events_are_kept_and_one_more_event_evicts_few_of_them() {
        let recent = RecentEvents::new(64 << 10);
        let events: Vec<Event> = (0..1000).map(|_| event(Layer::Hosted)).collect();
        see(&recent, &events);
        let kept = |event: &Event| recent.find(event.id).is_some();
        assert!(kept(&events[999]) && kept(&events[990]) && !kept(&events[0]));
        for _ in 0..3 {
            let used = recent.bound().used();
            assert!(used > recent.bound().capacity() / 3 && used <= recent.bound().capacity() / 2, "{used}");
            see(&recent, &[event(Layer::Hosted)]);
            assert!(kept(&events[999]));
        }
    }
}
