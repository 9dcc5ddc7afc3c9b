//! Requests for one response at the same time, on all cores: the first one goes to the application, the others wait until it is known
//! whether its response can be shared, and then until it is stored. A response that cannot be shared lets all of them go at once.

use super::key::Key;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::lock;
use tokio::sync::watch;
use tokio::time::timeout;

/// The response for which requests wait: a URL, and the values of the headers that select among its responses, as far as they are known.
pub(crate) type FlightKey = (Key, Vec<u8>);

/// How far a flight is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It is not known whether its response can be shared.
    Asking,
    /// Its response can be shared, and its body is coming.
    Coming,
    Ended(End),
}

/// How a flight ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Its response is stored.
    Stored,
    /// Its response cannot be shared, or there is none: each request goes to the application.
    LetGo,
    /// The application failed, and the stored response hides that.
    Hidden,
    /// The client of the first request has gone: another one is the first now.
    Left,
}

/// The flights of one application.
#[derive(Debug, Default)]
pub(crate) struct Flights(Arc<Open>);

#[derive(Debug, Default)]
struct Open(Mutex<HashMap<FlightKey, watch::Receiver<Stage>>>);

/// The part of a request in a flight.
#[derive(Debug)]
pub(crate) enum Part {
    /// It is the first one, and goes to the application.
    First(Leading),
    /// It waits for the first one.
    Other(Following),
}

/// The first request. If it is dropped, it has left.
#[derive(Debug)]
pub(crate) struct Leading {
    open: Arc<Open>,
    key: FlightKey,
    end: watch::Sender<Stage>,
    ended: bool,
}

/// A request that waits.
#[derive(Debug)]
pub(crate) struct Following(watch::Receiver<Stage>);

impl Flights {
    /// Joins the flight for a response, or begins one.
    pub(crate) fn join(&self, key: FlightKey) -> Part {
        let mut open = lock(&self.0.0);
        if let Some(end) = open.get(&key) {
            return Part::Other(Following(end.clone()));
        }
        let (end, ending) = watch::channel(Stage::Asking);
        open.insert(key.clone(), ending);
        Part::First(Leading { open: self.0.clone(), key, end, ended: false })
    }

    /// Joins the flight for a response, if there is one.
    pub(crate) fn follow(&self, key: &FlightKey) -> Option<Part> {
        lock(&self.0.0).get(key).map(|end| Part::Other(Following(end.clone())))
    }

    /// Begins a flight, unless there is one.
    pub(crate) fn begin(&self, key: FlightKey) -> Option<Leading> {
        match self.join(key) {
            Part::First(leading) => Some(leading),
            Part::Other(_) => None,
        }
    }
}

impl Leading {
    /// The response can be shared, and its body is coming.
    pub(crate) fn coming(&self) {
        self.end.send_replace(Stage::Coming);
    }

    /// Ends the flight.
    pub(crate) fn end(mut self, end: End) {
        self.finish(end);
    }

    fn finish(&mut self, end: End) {
        if !self.ended {
            self.ended = true;
            // Requests that come from now on find the stored response, or begin a flight.
            lock(&self.open.0).remove(&self.key);
            self.end.send_replace(Stage::Ended(end));
        }
    }
}

impl Drop for Leading {
    fn drop(&mut self) {
        self.finish(End::Left);
    }
}

impl Following {
    /// Waits for the end of the flight, but for the body no longer than this: then it is let go.
    pub(crate) async fn end(mut self, body: Duration) -> End {
        let shared = self.0.wait_for(|stage| *stage != Stage::Asking).await.map(|stage| *stage);
        let stage = match shared {
            Ok(Stage::Asking | Stage::Coming) => {
                match timeout(body, self.0.wait_for(|stage| matches!(stage, Stage::Ended(_)))).await {
                    Ok(ended) => ended.map(|stage| *stage),
                    Err(_) => Ok(Stage::Ended(End::LetGo)),
                }
            }
            ended => ended,
        };
        match stage {
            Ok(Stage::Ended(end)) => end,
            _ => End::Left,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::key::KeyRef;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn key(target: &str) -> FlightKey {
        (KeyRef::new(false, "shop", target).unwrap().key(), Vec::new())
    }

    fn first(flights: &Flights) -> Leading {
        flights.begin(key("/")).unwrap()
    }

    fn other(flights: &Flights) -> Following {
        match flights.join(key("/")) {
            Part::Other(following) => following,
            Part::First(_) => panic!("there was no flight"),
        }
    }

    #[test]
    fn all_others_wait_and_go_together() {
        let (flights, mut cx) = (Flights::default(), Context::from_waker(Waker::noop()));
        for end in [End::Stored, End::LetGo, End::Hidden] {
            let leading = first(&flights);
            assert!(flights.begin(key("/other")).is_some());
            let others: Vec<_> = (0..1000).map(|_| other(&flights)).collect();
            let mut others: Vec<_> = others.into_iter().map(|other| Box::pin(other.end(Duration::MAX))).collect();
            assert!(others.iter_mut().all(|other| other.as_mut().poll(&mut cx).is_pending()));
            leading.end(end);
            assert!(others.iter_mut().all(|other| other.as_mut().poll(&mut cx) == Poll::Ready(end)));
        }
        assert!(lock(&flights.0.0).is_empty());
    }

    #[test]
    fn the_first_request_takes_no_other_with_it_when_its_client_goes() {
        let (flights, mut cx) = (Flights::default(), Context::from_waker(Waker::noop()));
        let leading = first(&flights);
        let others = [other(&flights), other(&flights)];
        drop(leading);
        for other in others {
            assert_eq!(pin!(other.end(Duration::MAX)).poll(&mut cx), Poll::Ready(End::Left));
        }
        first(&flights).end(End::Stored);
    }
}
