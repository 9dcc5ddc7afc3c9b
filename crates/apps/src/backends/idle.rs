//! Idle connections of one core. A connection is driven by the runtime of the core that opened it, so it stays there.

use client::BackendConnection;
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;
use telemetry::{Slot, Tick};
use tokio::task::spawn_local;
use tokio::time::sleep;

/// How long a connection is kept idle. Puma closes it after 20 s.
const IDLE_MAX: Duration = Duration::from_secs(10);
/// A request that is sent while the server closes the connection is lost. So a connection is kept so much shorter than the server said
/// (`Keep-Alive: timeout=5` of Node and Apache).
const MARGIN: Duration = Duration::from_secs(1);

/// The idle connections of one backend on this core, the one that was used last at the end.
#[derive(Debug)]
struct Idle<T> {
    /// Each with the time at which it is closed.
    kept: Vec<(Tick, T)>,
    /// A task closes them in time.
    is_swept: bool,
}

impl<T> Idle<T> {
    /// Keeps a connection, where the server does so for `limit`.
    fn keep(&mut self, now: Tick, limit: Option<Duration>, connection: T) {
        let limit = limit.map_or(IDLE_MAX, |limit| limit.saturating_sub(MARGIN).min(IDLE_MAX));
        if !limit.is_zero() {
            self.kept.push((now.plus(limit), connection));
        }
    }

    /// The one that was used last: the server has had the least time to close it, and the others can expire.
    fn take(&mut self, now: Tick) -> Option<T> {
        while let Some((until, connection)) = self.kept.pop() {
            if now < until {
                return Some(connection);
            }
        }
        None
    }

    /// Closes those whose time is over. Returns the time until the next one is.
    fn expire(&mut self, now: Tick) -> Option<Duration> {
        self.kept.retain(|(until, _)| now < *until);
        let next = self.kept.iter().map(|(until, _)| until.since(now)).min();
        next.map(Duration::from_nanos)
    }
}

impl<T> Default for Idle<T> {
    fn default() -> Self {
        Self { kept: Vec::new(), is_swept: false }
    }
}

/// An open connection, and its place in the bound of its backend.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) connection: BackendConnection,
    /// `None`: it is counted as a stream, or beyond the bound.
    pub(super) place: Option<Slot>,
}

thread_local!(static HERE: RefCell<HashMap<u64, Idle<Open>>> = RefCell::default());

/// Keeps a connection of the backend with this number.
pub(super) fn keep(backend: u64, connection: Open) {
    let is_swept = HERE.try_with(|here| {
        let mut here = here.borrow_mut();
        let idle = here.entry(backend).or_default();
        idle.keep(Tick::now(), connection.connection.idle_limit(), connection);
        std::mem::replace(&mut idle.is_swept, true)
    });
    if is_swept == Ok(false) {
        spawn_local(sweep(backend));
    }
}

/// The connection of the backend with this number that was used last, if there is one.
pub(super) fn take(backend: u64) -> Option<Open> {
    HERE.try_with(|here| here.borrow_mut().get_mut(&backend)?.take(Tick::now())).ok().flatten()
}

/// Closes connections in time, also where no request comes any more.
async fn sweep(backend: u64) {
    let expire = || {
        HERE.try_with(|here| {
            let mut here = here.borrow_mut();
            let next = here.get_mut(&backend).and_then(|idle| idle.expire(Tick::now()));
            if next.is_none() {
                here.remove(&backend);
            }
            next
        })
    };
    while let Ok(Some(next)) = expire() {
        sleep(next).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Tick {
        Tick(seconds * 1_000_000_000)
    }

    #[test]
    fn the_connection_that_was_used_last_is_taken_and_an_old_one_is_not() {
        let mut idle = Idle::default();
        idle.keep(seconds(1), None, "first");
        idle.keep(seconds(2), None, "second");
        assert_eq!(idle.take(seconds(3)), Some("second"));
        assert_eq!(idle.take(seconds(11)), None);
        assert_eq!(idle.take(seconds(11)), None);
    }

    #[test]
    fn connections_are_closed_in_time_and_the_time_until_the_next_is_told() {
        let mut idle = Idle::default();
        assert_eq!(idle.expire(seconds(1)), None);
        idle.keep(seconds(1), None, 1);
        idle.keep(seconds(4), None, 4);
        assert_eq!((idle.expire(seconds(2)), idle.kept.len()), (Some(Duration::from_secs(9)), 2));
        assert_eq!((idle.expire(seconds(11)), idle.kept.len()), (Some(Duration::from_secs(3)), 1));
        assert_eq!((idle.expire(seconds(99)), idle.kept.len()), (None, 0));
    }

    #[test]
    fn a_connection_is_closed_before_the_server_does_it() {
        let mut idle = Idle::default();
        let limit = |seconds| Some(Duration::from_secs(seconds));
        idle.keep(seconds(0), limit(60), "long");
        idle.keep(seconds(0), limit(5), "node");
        idle.keep(seconds(0), limit(1), "too short");
        assert_eq!((idle.kept.len(), idle.expire(seconds(1))), (2, Some(Duration::from_secs(3))));
        assert_eq!((idle.take(seconds(4)), idle.take(seconds(4))), (Some("long"), None));
    }
}
