//! Shards: each thread counts and buffers its events in one of its own, so that threads rarely wait for each other.

use crate::counts::repository_counts::FormatOf;
use crate::counts::{Counter, Counts, Totals};
use crate::lock;
use crate::recorder::packed_events::PackedEvents;
use crate::{Bound, Class, Event, Kind, Layer};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// All shards, with the bound of the events that are buffered in them.
pub(crate) struct Shards {
    all: Box<[Shard]>,
    /// Most events that one shard buffers; 0 if there are no sinks.
    capacity: usize,
    bound: Arc<Bound>,
    /// The counts of collected events. The lock is held while events are taken out of a shard, so each event counts either here
    /// or in its shard.
    collected: Mutex<Counts>,
    format_of: OnceLock<Box<FormatOf>>,
}

/// Aligned to two cache lines, which are prefetched together, so that two threads never write to the same ones.
#[derive(Debug)]
#[repr(align(128))]
struct Shard {
    counters: [AtomicU64; Counter::COUNT],
    /// Requests for content that have ended. Written under the lock, and read without it.
    served: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The counts of events that were not buffered.
    counts: Counts,
    /// The events that wait for the collector, which counts them. Counting costs as much as packing.
    events: PackedEvents,
}

impl Shards {
    /// Events that are passed on at once. With this many, waking the collector costs little for each, and they are still in the
    /// processor's caches when the sinks read them.
    const BATCH: usize = 512;

    /// `count` shards that together buffer as many events as the capacity of `bound`.
    pub(crate) fn new(count: usize, bound: Arc<Bound>) -> Self {
        let count = count.max(1).next_power_of_two();
        let capacity = usize::try_from(bound.capacity()).unwrap_or(usize::MAX).div_ceil(count);
        let shard = |_| Shard {
            counters: [const { AtomicU64::new(0) }; Counter::COUNT],
            served: AtomicU64::new(0),
            state: Mutex::new(State { counts: Counts::default(), events: PackedEvents::default() }),
        };
        Self {
            all: (0..count).map(shard).collect(),
            capacity,
            bound,
            collected: Mutex::default(),
            format_of: OnceLock::new(),
        }
    }

    /// Sets how the format of a repository is found. Only the first call has an effect.
    pub(crate) fn set_format_of(&self, format_of: Box<FormatOf>) {
        let _ = self.format_of.set(format_of);
    }

    fn format_of(&self) -> Option<&FormatOf> {
        self.format_of.get().map(|format_of| &**format_of)
    }

    pub(crate) fn count(&self, counter: Counter) {
        self.all[self.mine()].counters[counter as usize].fetch_add(1, Relaxed);
    }

    /// Buffers the event for the collector, or only counts it if the buffer is full. `true`: it is time to collect.
    pub(crate) fn release(&self, event: &mut Event) -> bool {
        let (shard, mut state) = self.lock();
        if is_content(event) {
            shard.served.store(shard.served.load(Relaxed) + 1, Relaxed);
        }
        if state.events.len() >= self.capacity {
            state.counts.add_event(event, self.format_of());
            if self.capacity > 0 {
                self.bound.reject();
            }
            return false;
        }
        state.events.push(event);
        state.events.len() == self.capacity.div_ceil(2).min(Self::BATCH)
    }

    /// Takes and counts the buffered events, and calls `each` for those of each shard that has any. `spare` is an empty buffer of the
    /// collector: it is swapped with that of a shard.
    pub(crate) fn collect(&self, spare: &mut PackedEvents, mut each: impl FnMut(&mut PackedEvents)) {
        self.observe();
        for shard in &self.all {
            if shard.lock().events.len() > 0 {
                let mut counts = lock(&self.collected);
                std::mem::swap(&mut shard.lock().events, spare);
                spare.count(&mut counts, self.format_of());
                drop(counts);
                each(spare);
                spare.clear();
            }
        }
    }

    /// Sums the counts of all shards. Outcomes are read before attempts, so they never exceed them: an attempt begins before it ends.
    pub(crate) fn sum(&self, totals: &mut Totals) {
        let collected = lock(&self.collected);
        totals.counts.merge(&collected);
        for shard in &self.all {
            let state = shard.lock();
            totals.counts.merge(&state.counts);
            state.events.count(&mut totals.counts, self.format_of());
        }
        drop(collected);
        for counter in Counter::ALL {
            let of = |shard: &Shard| shard.counters[*counter as usize].load(Relaxed);
            totals.counters[*counter as usize] = self.all.iter().map(of).sum();
        }
        totals.unbuffered = self.unbuffered();
    }

    /// Events that were counted and not buffered.
    pub(crate) fn unbuffered(&self) -> u64 {
        self.bound.rejected()
    }

    /// Sets the used amount of the bound to the number of buffered events.
    pub(crate) fn observe(&self) {
        let used: usize = self.all.iter().map(|shard| shard.lock().events.len()).sum();
        self.bound.observe(used as u64);
    }

    /// Requests for content that have ended. It waits for no lock.
    pub(crate) fn served(&self) -> u64 {
        self.all.iter().map(|shard| shard.served.load(Relaxed)).sum()
    }

    /// Locks this thread's shard, or another one while this one is being read or emptied.
    fn lock(&self) -> (&Shard, MutexGuard<'_, State>) {
        let (before, from) = self.all.split_at(self.mine());
        let free = from.iter().chain(before).find_map(|shard| Some((shard, shard.state.try_lock().ok()?)));
        free.unwrap_or_else(|| (&from[0], from[0].lock()))
    }

    fn mine(&self) -> usize {
        // The number of shards is a power of two.
        thread_number() & (self.all.len() - 1)
    }
}

impl std::fmt::Debug for Shards {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shards").field("shards", &self.all.len()).finish_non_exhaustive()
    }
}

/// Whether the event is of a request for content, whatever became of it. Web pages, probes and scrapes do not count.
fn is_content(event: &Event) -> bool {
    let for_people = matches!(event.class, Some(Class::Admin | Class::Web | Class::Ask | Class::Health));
    // Probes of liveness and scrapes have neither a class nor a layer that answers content.
    let is_known = event.class.is_some() || !matches!(event.layer, Layer::None | Layer::Admin);
    event.kind == Kind::Request && is_known && !for_people
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// Threads get numbers in the order of their first count.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static NUMBER: Cell<Option<usize>> = const { Cell::new(None) });
    NUMBER.get().unwrap_or_else(|| {
        let number = NEXT.fetch_add(1, Relaxed);
        NUMBER.set(Some(number));
        number
    })
}
