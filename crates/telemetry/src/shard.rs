//! Where threads count and leave their events: one shard for each, so that they rarely meet.

use crate::packed::{Events, Packed};
use crate::totals::{Counter, Counts, Figures, Totals};
use crate::{Bound, Event};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// All shards, and the bound over what is buffered in them.
#[derive(Debug)]
pub(crate) struct Shards {
    all: Box<[Shard]>,
    /// Events that one shard buffers at most; 0 when nobody wants them.
    room: usize,
    bound: Arc<Bound>,
    /// Of the events that were collected. Held while they are taken out of a shard: each event counts here or there.
    collected: Mutex<Counts>,
}

/// Aligned so that two threads never write to the same cache line (two lines, as they are prefetched in pairs).
#[derive(Debug)]
#[repr(align(128))]
struct Shard {
    counters: [AtomicU64; Counter::COUNT],
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Of the events that nobody collects.
    counts: Counts,
    /// Those that wait for the collector, who counts them too: it costs as much as packing them.
    events: Packed,
}

impl Shards {
    /// So many are handed on at once: waking the collector costs little for each of them, and what the sinks read is still
    /// in the processor's caches.
    const BATCH: usize = 512;

    /// `count` shards that together buffer as many events as fit into `bound`.
    pub(crate) fn new(count: usize, bound: Arc<Bound>) -> Self {
        let count = count.max(1).next_power_of_two();
        let room = usize::try_from(bound.capacity()).unwrap_or(usize::MAX).div_ceil(count);
        let shard = |_| Shard {
            counters: [const { AtomicU64::new(0) }; Counter::COUNT],
            state: Mutex::new(State { counts: Counts::default(), events: Packed::default() }),
        };
        Self { all: (0..count).map(shard).collect(), room, bound, collected: Mutex::default() }
    }

    pub(crate) fn count(&self, counter: Counter) {
        self.all[self.mine()].counters[counter as usize].fetch_add(1, Relaxed);
    }

    /// Keeps the event for the collector, or counts it where there is no room. True when it is time to collect.
    pub(crate) fn release(&self, event: &mut Event) -> bool {
        let mut state = self.lock();
        if state.events.len() >= self.room {
            state.counts.add(&Figures::from(&*event));
            if self.room > 0 {
                self.bound.reject();
            }
            return false;
        }
        state.events.push(event);
        state.events.len() == self.room.div_ceil(2).min(Self::BATCH)
    }

    /// Takes what is buffered and counts it, a batch for each shard that has any. `room` is the collector's: it is given to a shard,
    /// and another comes back.
    pub(crate) fn collect(&self, room: &mut Packed) -> Vec<Events> {
        self.observe();
        let mut batches = Vec::new();
        for shard in &self.all {
            if shard.lock().events.len() > 0 {
                let mut counts = lock(&self.collected);
                std::mem::swap(&mut shard.lock().events, room);
                room.count(&mut counts);
                drop(counts);
                batches.push(room.unpack());
            }
        }
        batches
    }

    /// Sums up. Outcomes are read before attempts: an attempt begins before it ends, so they never exceed them.
    pub(crate) fn sum(&self, totals: &mut Totals) {
        let collected = lock(&self.collected);
        totals.counts.merge(&collected);
        for shard in &self.all {
            let state = shard.lock();
            totals.counts.merge(&state.counts);
            state.events.count(&mut totals.counts);
        }
        drop(collected);
        for counter in Counter::ALL {
            let of = |shard: &Shard| shard.counters[*counter as usize].load(Relaxed);
            totals.counters[*counter as usize] = self.all.iter().map(of).sum();
        }
        totals.unbuffered = self.bound.rejected();
    }

    /// Tells the bound how much is buffered now.
    pub(crate) fn observe(&self) {
        let used: usize = self.all.iter().map(|shard| shard.lock().events.len()).sum();
        self.bound.observe(used as u64);
    }

    /// This thread's shard, or another while somebody reads or empties this one.
    fn lock(&self) -> MutexGuard<'_, State> {
        let (before, from) = self.all.split_at(self.mine());
        let free = from.iter().chain(before).find_map(|shard| shard.state.try_lock().ok());
        free.unwrap_or_else(|| from[0].lock())
    }

    fn mine(&self) -> usize {
        // Their number is a power of two.
        thread_number() & (self.all.len() - 1)
    }
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Threads are numbered in the order in which they first count something.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static NUMBER: Cell<Option<usize>> = const { Cell::new(None) });
    NUMBER.get().unwrap_or_else(|| {
        let number = NEXT.fetch_add(1, Relaxed);
        NUMBER.set(Some(number));
        number
    })
}
