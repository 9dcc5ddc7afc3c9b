//! Requests that wait for an upstream. A request takes a place of its cost class before any work; while it waits it works on
//! nothing, so it gives that place to others and is counted here: in all, for its repository and for its client. One upstream
//! that hangs, or one client, cannot take all there is.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use store::RepositoryId;
use telemetry::{Bound, BoundName, Full, KeyedBound, KeyedSlot, Recorder, Slot};

/// How many requests may wait for upstreams at a time.
#[derive(Debug, Clone, Copy)]
pub struct WaitersLimits {
    /// All together.
    pub all: u64,
    /// For the upstream of one repository.
    pub each_repository: u64,
    /// Of one client.
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
    /// None yet; `recorder` shows how many there are.
    pub fn new(limits: WaitersLimits, recorder: &Recorder) -> Self {
        let all = Bound::new(BoundName::UpstreamWaiters, "", limits.all);
        let repositories = KeyedBound::new(BoundName::RepositoryWaiters, limits.each_repository);
        let clients = KeyedBound::new(BoundName::ClientWaiters, limits.each_client);
        [&all, repositories.bound(), clients.bound()].into_iter().for_each(|bound| recorder.register(bound.clone()));
        Self { all, repositories, clients }
    }
}

/// What a request takes of the server until it is answered: a place of its cost class, and once it has waited for an upstream
/// one of those who wait. It never goes back: what is left to do then is little, and the store's queues have room for it.
#[derive(Debug, Default)]
pub struct Place {
    client: Option<IpAddr>,
    held: Mutex<Held>,
}

/// A place of a cost class, given back when it is dropped.
pub trait ClassPlace: fmt::Debug + Send + 'static {}

impl ClassPlace for Slot {}

#[derive(Debug, Default)]
struct Held {
    class: Option<Box<dyn ClassPlace>>,
    waits: Option<(Slot, KeyedSlot<IpAddr>)>,
    /// A request to a group may wait for several.
    repositories: Vec<(RepositoryId, KeyedSlot<RepositoryId>)>,
}

impl Place {
    /// That of a request of `client`, which has taken `class` so far.
    pub fn new(client: IpAddr, class: impl ClassPlace) -> Arc<Self> {
        let held = Held { class: Some(Box::new(class)), ..Held::default() };
        Arc::new(Self { client: Some(client), held: Mutex::new(held) })
    }

    /// Says that the request will wait for the upstream of a repository. Where too many do, it may not.
    pub(crate) fn wait(&self, waiters: &Waiters, id: RepositoryId) -> Result<(), Full> {
        let Some(client) = self.client else { return Ok(()) };
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
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
        let place = Place::new(client(1), class.enter().unwrap());
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
            let place = Place::new(client(of), class.enter().unwrap());
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
