//! Connections to one host that are kept for the next call.

use crate::http_connection::HttpConnection;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use telemetry::{Bound, BoundName, Slot, Tick};
use tokio::time::sleep;

/// Which key connections were made: by what proxy and with what certificate. Those of one key are as good as each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PoolKey(u64);

impl PoolKey {
    /// Straight, trusting what the machine trusts.
    pub(crate) const MACHINE: PoolKey = PoolKey(0);

    /// Another one.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Relaxed))
    }
}

/// The kept connections of a host, the one used last at the end.
#[derive(Debug)]
pub(crate) struct Pool {
    idle: Arc<Mutex<IdleList>>,
    bound: Arc<Bound>,
    /// Servers end connections that rest, most of them after a minute or less.
    keep_for: Duration,
}

#[derive(Debug, Default)]
struct IdleList {
    connections: Vec<IdleConnection>,
    /// Somebody will look for what has rested too long.
    watched: bool,
}

#[derive(Debug)]
struct IdleConnection {
    key: PoolKey,
    connection: HttpConnection,
    until: Tick,
    _slot: Slot,
}

impl Pool {
    pub(crate) fn new(host: &str, room: u64, keep_for: Duration) -> Self {
        Self { idle: Arc::default(), bound: Bound::new(BoundName::UpstreamKept, host, room), keep_for }
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The one that was used last, as the server most likely still has it.
    pub(crate) fn take(&self, key: PoolKey) -> Option<HttpConnection> {
        let mut idle = lock(&self.idle);
        idle.clear();
        let at = idle.connections.iter().rposition(|one| one.key == key)?;
        Some(idle.connections.remove(at).connection)
    }

    /// Keeps it, if it is good for another call. Where there is no room, one that has rested longest makes some.
    pub(crate) fn put(&self, key: PoolKey, connection: HttpConnection) {
        if !connection.keeps() {
            return;
        }
        let mut idle = lock(&self.idle);
        if self.bound.used() >= self.bound.capacity() && !idle.connections.is_empty() {
            idle.connections.remove(0);
        }
        if let Ok(slot) = self.bound.enter() {
            idle.connections.push(IdleConnection {
                key,
                connection,
                until: Tick::now().plus(self.keep_for),
                _slot: slot,
            });
        }
        if !std::mem::replace(&mut idle.watched, true) {
            tokio::spawn(watch(Arc::downgrade(&self.idle), self.keep_for));
        }
    }
}

impl IdleList {
    /// Lets go of what has rested too long, or was ended by its server.
    fn clear(&mut self) {
        let now = Tick::now();
        self.connections.retain_mut(|one| now < one.until && one.connection.look());
    }
}

/// Looks again and again until nothing is kept, so that no connection rests for ever when nobody calls.
async fn watch(idle: Weak<Mutex<IdleList>>, every: Duration) {
    loop {
        sleep(every).await;
        let Some(idle) = idle.upgrade() else { return };
        let mut idle = lock(&idle);
        idle.clear();
        if idle.connections.is_empty() {
            idle.watched = false;
            return;
        }
    }
}

fn lock(idle: &Mutex<IdleList>) -> MutexGuard<'_, IdleList> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}
