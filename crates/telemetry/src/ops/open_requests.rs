//! The requests that are in progress: a bounded table that other threads can read while the core of a request is stuck.
//!
//! Only requests that outlast their turn are in it. Nearly all requests are answered within their turn and pay nothing.

use crate::lock;
use crate::log::scrub::scrub;
use crate::{Bound, BoundName, Event, EventId, Millis, Op, OpsUnderWay, Tick};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

/// Parts of the table, each with a lock of its own, so that cores rarely wait for each other.
const PARTS: usize = 16;
/// Requests in the table until [`OpenRequests::limit`] sets another number.
const CAPACITY: u64 = 4096;

/// The requests in progress that outlasted their turn.
#[derive(Debug)]
pub struct OpenRequests {
    bound: Arc<Bound>,
    parts: [Mutex<BTreeMap<u64, Arc<Entry>>>; PARTS],
}

/// A request in the table, while its core works on it. Dropping it takes the request out.
#[derive(Debug)]
pub struct OpenRequest(Arc<Entry>);

#[derive(Debug)]
struct Entry {
    table: Arc<OpenRequests>,
    /// Whether there was room in the table.
    listed: bool,
    id: EventId,
    at: Millis,
    began: Tick,
    method: &'static str,
    path: String,
    ops: AtomicU64,
    received: AtomicU64,
    sent: AtomicU64,
}

/// A request in the table, as it is at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRequestView {
    /// The id of its event.
    pub id: EventId,
    /// When it began, by the time of day.
    pub at: Millis,
    /// Nanoseconds since it began.
    pub age: u64,
    /// Its method.
    pub method: &'static str,
    /// Its path, cleaned as in events.
    pub path: String,
    /// The operations that it waits for, the latest first.
    pub ops: Vec<Op>,
    /// Bytes of its body that were received.
    pub bytes_in: u64,
    /// Bytes of the reply's body that were passed to the kernel.
    pub bytes_out: u64,
}

/// A request in the table, for readers that copy nothing.
#[derive(Debug, Clone, Copy)]
pub struct OpenRequestGlance<'a> {
    /// The id of its event.
    pub id: EventId,
    /// When it began.
    pub began: Tick,
    /// Its path, cleaned as in events.
    pub path: &'a str,
    /// The operations that it waits for.
    pub ops: OpsUnderWay,
    /// Bytes of its body that were received, and bytes of the reply that were passed to the kernel.
    pub bytes: u64,
}

/// What the table shows of a request.
#[derive(Debug, Clone, Copy)]
pub struct OpenRequestFacts<'a> {
    /// The id of its event.
    pub id: EventId,
    /// When it began, by the time of day.
    pub at: Millis,
    /// When it began.
    pub began: Tick,
    /// Its method.
    pub method: &'static str,
    /// Its path.
    pub path: &'a str,
}

impl<'a> OpenRequestFacts<'a> {
    /// The facts that an event has.
    pub fn of(event: &'a Event) -> Self {
        let Event { id, at, began, method, path, .. } = event;
        Self { id: *id, at: *at, began: *began, method, path }
    }

    /// The same with this path.
    pub fn with_path(self, path: &str) -> OpenRequestFacts<'_> {
        let Self { id, at, began, method, .. } = self;
        OpenRequestFacts { id, at, began, method, path }
    }
}

/// The oldest requests of the table.
#[derive(Debug)]
pub struct OldestRequests {
    /// The oldest first.
    pub requests: Vec<OpenRequestView>,
    /// The number of younger ones.
    pub left_out: usize,
}

impl OpenRequests {
    pub(crate) fn new() -> Arc<Self> {
        let bound = Bound::new(BoundName::OpenRequests, "", CAPACITY);
        Arc::new(Self { bound, parts: std::array::from_fn(|_| Mutex::default()) })
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// Sets how many requests the table may have.
    pub fn limit(&self, requests: u64) {
        self.bound.set_capacity(requests);
    }

    /// Puts a request into the table. If the table is full, the request is counted as rejected and is not listed.
    pub fn open(self: &Arc<Self>, facts: &OpenRequestFacts<'_>) -> OpenRequest {
        let OpenRequestFacts { id, at, began, method, path } = *facts;
        let entry = Arc::new(Entry {
            table: self.clone(),
            listed: self.bound.take(1).is_ok(),
            id,
            at,
            began,
            method,
            path: scrub(path, Event::TEXT_MAX),
            ops: AtomicU64::new(0),
            received: AtomicU64::new(0),
            sent: AtomicU64::new(0),
        });
        if entry.listed {
            self.part(id).insert(id.0, entry.clone());
        }
        OpenRequest(entry)
    }

    /// Shows each request in the table to `see`, without waiting: a part of the table that is in use is left out. Returns whether none was.
    pub fn glance(&self, mut see: impl FnMut(OpenRequestGlance<'_>)) -> bool {
        let mut whole = true;
        for part in &self.parts {
            let Ok(part) = part.try_lock() else {
                whole = false;
                continue;
            };
            for entry in part.values() {
                see(OpenRequestGlance {
                    id: entry.id,
                    began: entry.began,
                    path: &entry.path,
                    ops: entry.ops(),
                    bytes: entry.received.load(Relaxed).wrapping_add(entry.sent.load(Relaxed)),
                });
            }
        }
        whole
    }

    /// The `most` oldest requests, the oldest first, without waiting: a part of the table that is in use is left out.
    pub fn oldest_without_waiting(&self, now: Tick, most: usize) -> OldestRequests {
        let mut all: Vec<Arc<Entry>> = Vec::new();
        for part in self.parts.iter().filter_map(|part| part.try_lock().ok()) {
            all.extend(part.values().cloned());
        }
        oldest(all, now, most)
    }

    /// All requests in the table at `now`, the oldest first.
    pub fn list(&self, now: Tick) -> Vec<OpenRequestView> {
        self.list_oldest(now, usize::MAX).requests
    }

    /// The `most` oldest requests in the table at `now`, the oldest first.
    pub fn list_oldest(&self, now: Tick, most: usize) -> OldestRequests {
        let mut all: Vec<Arc<Entry>> = Vec::new();
        for part in &self.parts {
            all.extend(lock(part).values().cloned());
        }
        oldest(all, now, most)
    }

    /// The age in nanoseconds of the oldest request for each operation that a request waits for. `none`: it waits for no operation that is
    /// known.
    pub fn oldest(&self, now: Tick) -> BTreeMap<&'static str, u64> {
        let mut oldest = BTreeMap::new();
        for part in &self.parts {
            for entry in lock(part).values() {
                let age = oldest.entry(entry.ops().all().next().map_or("none", Op::as_str)).or_default();
                *age = now.since(entry.began).max(*age);
            }
        }
        oldest
    }

    fn part(&self, id: EventId) -> MutexGuard<'_, BTreeMap<u64, Arc<Entry>>> {
        // The low bits of ids count.
        lock(&self.parts[id.0 as usize % PARTS])
    }
}

fn oldest(mut all: Vec<Arc<Entry>>, now: Tick, most: usize) -> OldestRequests {
    let left_out = all.len().saturating_sub(most);
    all.sort_by_key(|entry| (entry.began, entry.id.0));
    OldestRequests { requests: all.iter().take(most).map(|entry| entry.view(now)).collect(), left_out }
}

impl Entry {
    fn ops(&self) -> OpsUnderWay {
        OpsUnderWay::from_bits(self.ops.load(Relaxed))
    }

    fn view(&self, now: Tick) -> OpenRequestView {
        OpenRequestView {
            id: self.id,
            at: self.at,
            age: now.since(self.began),
            method: self.method,
            path: self.path.clone(),
            ops: self.ops().all().collect(),
            bytes_in: self.received.load(Relaxed),
            bytes_out: self.sent.load(Relaxed),
        }
    }
}

impl OpenRequest {
    /// The operations that it waits for.
    pub fn waits(&self, ops: OpsUnderWay) {
        self.0.ops.store(ops.bits(), Relaxed);
    }

    /// Bytes of its body that were received so far.
    pub fn received(&self, bytes: u64) {
        self.0.received.store(bytes, Relaxed);
    }

    /// Bytes of the reply's body that were passed to the kernel so far.
    pub fn sent(&self, bytes: u64) {
        self.0.sent.store(bytes, Relaxed);
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let Entry { table, id, listed, .. } = &*self.0;
        if *listed {
            table.part(*id).remove(&id.0);
            table.bound.give(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(table: &Arc<OpenRequests>, id: u64, path: &str) -> OpenRequest {
        table.open(&OpenRequestFacts { id: EventId(id), at: Millis(1), began: Tick(100 - id), method: "GET", path })
    }

    #[test]
    fn requests_are_listed_oldest_first_until_they_end() {
        let table = OpenRequests::new();
        let requests: Vec<OpenRequest> = (1..=40).map(|id| open(&table, id, "/a")).collect();
        requests[2].waits(OpsUnderWay::only(Op::TruthRead));
        requests[2].received(7);
        requests[2].sent(8);
        let listed = table.list(Tick(200));
        let ids: Vec<u64> = listed.iter().map(|one| one.id.0).collect();
        assert_eq!(ids, (1..=40).rev().collect::<Vec<u64>>());
        let third = OpenRequestView {
            id: EventId(3),
            at: Millis(1),
            age: 103,
            method: "GET",
            path: "/a".into(),
            ops: vec![Op::TruthRead],
            bytes_in: 7,
            bytes_out: 8,
        };
        assert_eq!(listed[37], third);
        let mut bytes = 0;
        assert!(table.glance(|one| bytes += one.bytes));
        assert_eq!((bytes, table.oldest_without_waiting(Tick(200), 3).requests), (15, listed[..3].to_vec()));
        let oldest = table.list_oldest(Tick(200), 3);
        assert_eq!((&*oldest.requests, oldest.left_out), (&listed[..3], 37));
        drop(requests);
        assert_eq!((table.list(Tick(200)), table.bound().used()), (Vec::new(), 0));
    }

    #[test]
    fn the_oldest_request_counts_for_the_operation_that_it_waits_for() {
        let table = OpenRequests::new();
        let requests = [1, 5, 9, 20].map(|id| open(&table, id, "/a"));
        requests[0].waits(OpsUnderWay::only(Op::FlightWait));
        requests[1].waits(OpsUnderWay::only(Op::BodySend));
        requests[2].waits(OpsUnderWay::only(Op::BodySend));
        let oldest = [("body.send", 9), ("flight.wait", 1), ("none", 20)];
        assert_eq!(table.oldest(Tick(100)), oldest.into());
    }

    #[test]
    fn a_full_table_rejects_new_requests_and_keeps_the_old_ones() {
        let table = OpenRequests::new();
        table.limit(1);
        let first = open(&table, 1, "/a");
        let second = open(&table, 2, "/b");
        assert_eq!((table.list(Tick(200)).len(), table.bound().used(), table.bound().rejected()), (1, 1, 1));
        drop(second);
        assert_eq!(table.list(Tick(200))[0].id, EventId(1));
        drop(first);
        assert_eq!(table.bound().used(), 0);
    }

    #[test]
    fn paths_are_scrubbed_and_cut() {
        let table = OpenRequests::new();
        let secret = "daylight_0123456789abcdefghijklmnop";
        let _one = open(&table, 1, &format!("/{secret}/{}", "x".repeat(9999)));
        let path = table.list(Tick(200)).remove(0).path;
        assert!(!path.contains(secret) && path.len() <= Event::TEXT_MAX, "{path}");
    }
}
