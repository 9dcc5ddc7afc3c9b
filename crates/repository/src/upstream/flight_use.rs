//! The calls of a fetch, for the events that wait for it, and the ids of these events. So a request names its fetch,
//! and a fetch names its requests.

use std::sync::{Arc, Mutex};
use telemetry::{Event, EventId, Op, RunningOp, Text, UpstreamUse, lock};

/// The calls of a fetch so far. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct FlightUse(Arc<Mutex<Shared>>);

#[derive(Debug, Default)]
struct Shared {
    used: UpstreamUse,
    /// The fetch has ended.
    is_over: bool,
}

/// The wait of an event for a fetch. When this is dropped, the event has the time and the calls.
#[derive(Debug)]
pub(crate) struct Following<'a> {
    running: RunningOp<'a>,
    used: FlightUse,
}

impl FlightUse {
    /// Those of the fetch whose event has this id. It has made no call yet.
    pub(crate) fn of(id: EventId) -> Self {
        let used = UpstreamUse { flight: Some(id), ..UpstreamUse::default() };
        Self(Arc::new(Mutex::new(Shared { used, is_over: false })))
    }

    /// The fetch is about to call this host.
    pub(crate) fn calls(&self, host: Text) {
        lock(&self.0).used.host = host;
    }

    /// Shows the calls that the event of the fetch has so far.
    pub(crate) fn show(&self, event: &Event) {
        let Some(used) = event.upstream() else { return };
        let mine = &mut lock(&self.0).used;
        let (flight, followed, followers) = (mine.flight, mine.followed, std::mem::take(&mut mine.followers));
        *mine = UpstreamUse { flight, followed, followers, ..used.clone() };
    }

    /// Shows the last calls, and adds the followers to the event of the fetch.
    pub(crate) fn end(&self, event: &mut Event) {
        self.show(event);
        let mut mine = lock(&self.0);
        mine.is_over = true;
        let mine = &mine.used;
        if mine.followed > 0 {
            let used = event.upstream_mut();
            (used.followed, used.followers) = (mine.followed, mine.followers.clone());
        }
    }

    /// Whether the fetch has ended.
    pub(crate) fn is_over(&self) -> bool {
        lock(&self.0).is_over
    }

    /// The event with this id waits for the fetch.
    pub(crate) fn followed_by(&self, id: EventId) {
        lock(&self.0).used.follow(id);
    }

    /// The event waits for the fetch from now on.
    pub(crate) fn follow<'a>(&self, event: &'a mut Event) -> Following<'a> {
        self.followed_by(event.id);
        Following { running: event.running(Op::FlightWait), used: self.clone() }
    }

    /// Adds the calls to an event that waited.
    pub(crate) fn add_to(&self, event: &mut Event) {
        event.upstream_mut().add(&lock(&self.0).used);
    }
}

impl Drop for Following<'_> {
    fn drop(&mut self) {
        self.used.add_to(&mut self.running);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::Millis;

    #[test]
    fn a_fetch_and_its_followers_name_each_other_also_if_one_of_them_gives_up() {
        let (mut fetch, mut request) = (Event::job("fetch", Millis(1)), Event::job("request", Millis(1)));
        let used = FlightUse::of(fetch.id);
        used.calls("a.test:443".into());
        drop(used.follow(&mut request));
        let told = request.upstream().unwrap();
        let host: &str = &told.host;
        assert_eq!((host, told.calls, told.flight), ("a.test:443", 0, Some(fetch.id)));
        assert_eq!(request.tally(Op::FlightWait).count, 1);
        fetch.upstream_mut().begin(Some(&"a.test:443".into()));
        used.end(&mut fetch);
        let told = fetch.upstream().unwrap();
        assert_eq!((told.calls, told.followed, &*told.followers, told.flight), (1, 1, &[request.id][..], None));
    }
}
