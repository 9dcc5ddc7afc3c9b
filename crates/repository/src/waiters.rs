//! Requests that wait for an upstream.
//!
//! A request takes a place of its cost class before any work. While it waits for an upstream it does no work, so it
//! returns that place and is counted here instead: in total, by repository and by client. So neither a hanging upstream
//! nor one client can occupy the whole server.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use store::RepositoryId;
use telemetry::{Bound, BoundName, Event, EventId, Full, KeyedBound, KeyedSlot, Millis, Recorder, Slot, lock};

/// Limits of the requests that wait for upstreams.
#[derive(Debug, Clone, Copy)]
pub struct WaitersLimits {
    /// In total.
    pub all: u64,
    /// For one repository.
    pub each_repository: u64,
    /// For one client.
    pub each_client: u64,
}

/// The requests that wait for upstreams.
#[derive(Debug)]
pub struct Waiters {
    all: Arc<Bound>,
    repositories: Arc<KeyedBound<RepositoryId>>,
    clients: Arc<KeyedBound<IpAddr>>,
}

impl Waiters {
    /// The table without requests. `recorder` shows their number.
    pub fn new(limits: WaitersLimits, recorder: &Recorder) -> Self {
        let all = Bound::new(BoundName::UpstreamWaiters, "", limits.all);
        let repositories = KeyedBound::new(BoundName::RepositoryWaiters, limits.each_repository);
        let clients = KeyedBound::new(BoundName::ClientWaiters, limits.each_client);
        [&all, repositories.bound(), clients.bound()].into_iter().for_each(|bound| recorder.register(bound.clone()));
        Self { all, repositories, clients }
    }
}

/// The places that a request holds until it is answered: a place of its cost class, or, once it has waited for an
/// upstream, a place among the waiting requests. It does not return to its cost class. Little work remains then, and
/// the queues of the store can take it.
#[derive(Debug, Default)]
pub struct Place {
    client: Option<IpAddr>,
    /// The event of the request.
    request: Option<EventId>,
    held: Mutex<Held>,
}

/// A place of a cost class. Dropping it returns the place.
pub trait ClassPlace: fmt::Debug + Send + 'static {}

impl ClassPlace for Slot {}

#[derive(Debug, Default)]
struct Held {
    class: Option<Box<dyn ClassPlace>>,
    waits: Option<(Slot, KeyedSlot<IpAddr>)>,
    /// A request to a group may wait for several repositories.
    repositories: Vec<(RepositoryId, KeyedSlot<RepositoryId>)>,
}

impl Place {
    /// The place of a request of `client` with this event, which holds the place `class`.
    pub fn new(client: IpAddr, request: EventId, class: impl ClassPlace) -> Arc<Self> {
        let held = Held { class: Some(Box::new(class)), ..Held::default() };
        Arc::new(Self { client: Some(client), request: Some(request), held: Mutex::new(held) })
    }

    /// The event of a part of the request that runs beside others. It has the id of the request's event, so whatever
    /// records the id names the request.
    pub(crate) fn part(&self, now: Millis) -> Box<Event> {
        let mut event = Event::job("member", now);
        event.id = self.request.unwrap_or(event.id);
        event
    }

    /// Takes a place for waiting for the upstream of a repository. This fails if too many requests wait.
    pub(crate) fn wait(&self, waiters: &Waiters, id: RepositoryId) -> Result<(), Full> {
        let Some(client) = self.client else { return Ok(()) };
        let mut held = lock(&self.held);
        if held.repositories.iter().any(|(waits, _)| *waits == id) {
            return Ok(());
        }
        let of_repository = waiters.repositories.enter(id)?;
        if held.waits.is_none() {
            held.waits = Some((waiters.all.enter()?, waiters.clients.enter(client)?));
        }
        held.repositories.push((id, of_repository));
        held.class = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::Clock;

    const LIMITS: WaitersLimits = WaitersLimits { all: 3, each_repository: 2, each_client: 2 };

    fn client(number: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, number])
    }

    fn waiters() -> (Arc<Recorder>, Waiters) {
        let recorder = Recorder::silent(Clock::default());
        let waiters = Waiters::new(LIMITS, &recorder);
        (recorder, waiters)
    }

    #[test]
    fn who_waits_gives_its_place_to_others_and_counts_once_for_each_repository() {
        let (_recorder, waiters) = waiters();
        let class = Bound::new(BoundName::Requests, "", 1);
        let place = Place::new(client(1), EventId(1), class.enter().unwrap());
        for id in [1, 1, 2] {
            place.wait(&waiters, RepositoryId(id)).unwrap();
            assert_eq!((class.used(), waiters.all.used(), waiters.clients.bound().used()), (0, 1, 1));
        }
        assert_eq!(waiters.repositories.bound().used(), 1);
        drop(place);
        assert_eq!(
            (waiters.all.used(), waiters.repositories.bound().used(), waiters.clients.bound().used()),
            (0, 0, 0)
        );
    }

    #[test]
    fn neither_one_repository_nor_one_client_takes_all_there_is() {
        let (_recorder, waiters) = waiters();
        let (class, mut held) = (Bound::new(BoundName::Requests, "", 9), Vec::new());
        let mut wait = |of: u8, id| {
            let place = Place::new(client(of), EventId(1), class.enter().unwrap());
            let may = place.wait(&waiters, RepositoryId(id)).map_err(|full| full.0);
            held.push(place);
            may
        };
        assert_eq!([wait(1, 1), wait(1, 1)], [Ok(()), Ok(())]);
        assert_eq!(wait(2, 1), Err(BoundName::RepositoryWaiters));
        assert_eq!(wait(1, 2), Err(BoundName::ClientWaiters));
        assert_eq!(wait(2, 2), Ok(()));
        assert_eq!(wait(3, 3), Err(BoundName::UpstreamWaiters));
    }
}
