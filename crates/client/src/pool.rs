//! Idle connections to one host, kept for the next call.

use crate::http_connection::HttpConnection;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use telemetry::{Bound, BoundName, ClosedBy, Slot, Tick, lock};
use tokio::time::sleep;

/// How connections were made: through which proxy and with which certificate. Connections with the same key are
/// interchangeable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PoolKey(u64);

impl PoolKey {
    /// Directly, with the certificates that the machine trusts.
    pub(crate) const MACHINE: PoolKey = PoolKey(0);

    /// A new key.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Relaxed))
    }
}

/// The most keys of which it is remembered who closed a connection.
const CLOSED_MAX: usize = 16;

/// The idle connections of a host, the last used one at the end.
#[derive(Debug)]
pub(crate) struct Pool {
    idle: Arc<Mutex<IdleList>>,
    bound: Arc<Bound>,
    /// Servers close idle connections, most of them after a minute or less.
    keep_for: Duration,
}

#[derive(Debug, Default)]
struct IdleList {
    connections: Vec<IdleConnection>,
    /// Who closed the last one of each key, until a call has opened another one because of that.
    closed: Vec<(PoolKey, ClosedBy)>,
    /// A task is watching for connections that were idle for too long.
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
    pub(crate) fn new(which: &str, room: u64, keep_for: Duration) -> Self {
        Self { idle: Arc::default(), bound: Bound::new(BoundName::UpstreamKept, which, room), keep_for }
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// The last used connection, as the server most likely still has it.
    pub(crate) fn take(&self, key: PoolKey) -> Option<HttpConnection> {
        let mut idle = lock(&self.idle);
        idle.clear();
        let at = idle.connections.iter().rposition(|one| one.key == key)?;
        Some(idle.connections.remove(at).connection)
    }

    /// Who closed the last connection, for the call that opens another one.
    pub(crate) fn take_closed(&self, key: PoolKey) -> Option<ClosedBy> {
        let mut idle = lock(&self.idle);
        let at = idle.closed.iter().position(|(closed, _)| *closed == key)?;
        Some(idle.closed.swap_remove(at).1)
    }

    /// Records that a connection was closed that could have served another call.
    pub(crate) fn lost(&self, key: PoolKey, by: ClosedBy) {
        lock(&self.idle).lost(key, by);
    }

    /// Keeps a connection, if it can be used again. If the list is full, the one that was idle longest is closed.
    pub(crate) fn put(&self, key: PoolKey, connection: HttpConnection) {
        let mut idle = lock(&self.idle);
        if !connection.keeps() {
            return idle.lost(key, connection.closed_by());
        }
        if self.bound.used() >= self.bound.capacity() && !idle.connections.is_empty() {
            let key = idle.connections.remove(0).key;
            idle.lost(key, ClosedBy::Us);
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
    /// Closes connections that were idle for too long, or that the server has closed.
    fn clear(&mut self) {
        let now = Tick::now();
        let closed = &mut self.closed;
        self.connections.retain_mut(|one| {
            let by = if now >= one.until {
                ClosedBy::Us
            } else if one.connection.look() {
                return true;
            } else {
                one.connection.closed_by()
            };
            remember(closed, one.key, by);
            false
        });
    }

    fn lost(&mut self, key: PoolKey, by: ClosedBy) {
        remember(&mut self.closed, key, by);
    }
}

/// Keeps the newest entry of each key. Changed settings leave keys behind that no call uses any more.
fn remember(closed: &mut Vec<(PoolKey, ClosedBy)>, key: PoolKey, by: ClosedBy) {
    closed.retain(|(other, _)| *other != key);
    if closed.len() == CLOSED_MAX {
        closed.remove(0);
    }
    closed.push((key, by));
}

/// Checks again and again until the list is empty, so that idle connections are closed even if there are no calls.
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
