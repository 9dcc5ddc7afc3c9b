//! Connections to one host that are kept for the next call.

use crate::link::Link;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use telemetry::{Bound, BoundName, Slot, Tick};
use tokio::time::sleep;

/// Which way connections were made: by what proxy and with what certificate. Those of one way are as good as each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Way(u64);

impl Way {
    /// Straight, trusting what the machine trusts.
    pub(crate) const MACHINE: Way = Way(0);

    /// Another one.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Relaxed))
    }
}

/// The kept connections of a host, the one used last at the end.
#[derive(Debug)]
pub(crate) struct Pool {
    shelf: Arc<Mutex<Shelf>>,
    bound: Arc<Bound>,
    /// Servers end connections that rest, most of them after a minute or less.
    keep_for: Duration,
}

#[derive(Debug, Default)]
struct Shelf {
    kept: Vec<Kept>,
    /// Somebody will look for what has rested too long.
    watched: bool,
}

#[derive(Debug)]
struct Kept {
    way: Way,
    link: Link,
    until: Tick,
    _slot: Slot,
}

impl Pool {
    pub(crate) fn new(host: &str, room: u64, keep_for: Duration) -> Self {
        Self { shelf: Arc::default(), bound: Bound::new(BoundName::UpstreamKept, host, room), keep_for }
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The one that was used last, as the server most likely still has it.
    pub(crate) fn take(&self, way: Way) -> Option<Link> {
        let mut shelf = lock(&self.shelf);
        shelf.clear();
        let at = shelf.kept.iter().rposition(|kept| kept.way == way)?;
        Some(shelf.kept.remove(at).link)
    }

    /// Keeps it, if it is good for another call. Where there is no room, one that has rested longest makes some.
    pub(crate) fn put(&self, way: Way, link: Link) {
        if !link.keeps() {
            return;
        }
        let mut shelf = lock(&self.shelf);
        if self.bound.used() >= self.bound.capacity() && !shelf.kept.is_empty() {
            shelf.kept.remove(0);
        }
        if let Ok(slot) = self.bound.enter() {
            shelf.kept.push(Kept { way, link, until: Tick::now().plus(self.keep_for), _slot: slot });
        }
        if !std::mem::replace(&mut shelf.watched, true) {
            tokio::spawn(watch(Arc::downgrade(&self.shelf), self.keep_for));
        }
    }
}

impl Shelf {
    /// Lets go of what has rested too long, or was ended by its server.
    fn clear(&mut self) {
        let now = Tick::now();
        self.kept.retain_mut(|kept| now < kept.until && kept.link.look());
    }
}

/// Looks again and again until nothing is kept, so that no connection rests for ever when nobody calls.
async fn watch(shelf: Weak<Mutex<Shelf>>, every: Duration) {
    loop {
        sleep(every).await;
        let Some(shelf) = shelf.upgrade() else { return };
        let mut shelf = lock(&shelf);
        shelf.clear();
        if shelf.kept.is_empty() {
            shelf.watched = false;
            return;
        }
    }
}

fn lock(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}
