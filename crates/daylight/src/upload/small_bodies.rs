//! Small bodies that are still arriving: forms, hooks, and the JSON of calls of the API.
//!
//! Their requests hold no place in another class meanwhile. If there are too many, a further one is not refused: it ends the one that has
//! taken longest, of the client or token with most of them. An ordinary body arrives within a moment of its head, so only a slow one is
//! ended, and a client that sends many slow ones ends its own.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use telemetry::{Bound, Slot, lock};
use tokio::sync::Notify;

/// The holder of places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    /// A client, by the address or network that counts as one.
    Client(IpAddr),
    /// A token, by the class of its pages, which is unique.
    Token(u64),
}

/// The small bodies that are arriving.
#[derive(Debug)]
pub(crate) struct SmallBodies {
    bound: Arc<Bound>,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    /// By their numbers, which grow.
    bodies: BTreeMap<u64, Body>,
}

#[derive(Debug)]
struct Body {
    /// The client, and the token if it has a valid one.
    holders: [Option<Holder>; 2],
    ended: Arc<Notify>,
    slot: Option<Slot>,
}

/// A small body that is arriving. Dropping it returns its place.
#[derive(Debug)]
pub(crate) struct SmallBody {
    all: Arc<SmallBodies>,
    number: u64,
    ended: Arc<Notify>,
}

impl SmallBodies {
    /// No bodies, and at most as many as the bound allows.
    pub(crate) fn new(bound: Arc<Bound>) -> Arc<Self> {
        Arc::new(Self { bound, open: Mutex::default() })
    }

    /// A body begins to arrive. Each rejection of the bound ended another one.
    pub(crate) fn begin(self: &Arc<Self>, client: Holder, token: Option<Holder>) -> SmallBody {
        let mut open = lock(&self.open);
        let slot = self.bound.enter().ok().or_else(|| open.end_one());
        let (number, ended) = (open.next, Arc::new(Notify::new()));
        open.next += 1;
        open.bodies.insert(number, Body { holders: [Some(client), token], ended: ended.clone(), slot });
        SmallBody { all: self.clone(), number, ended }
    }
}

impl Open {
    /// Ends the oldest body of the client or token with most of them, and returns its place.
    fn end_one(&mut self) -> Option<Slot> {
        let mut counts: HashMap<Holder, usize> = HashMap::new();
        for holder in self.bodies.values().flat_map(|body| body.holders.iter().flatten()) {
            *counts.entry(*holder).or_default() += 1;
        }
        let most = |body: &Body| body.holders.iter().flatten().map(|holder| counts[holder]).max();
        let (number, _) = self.bodies.iter().max_by_key(|(number, body)| (most(body), Reverse(**number)))?;
        let number = *number;
        let body = self.bodies.remove(&number)?;
        body.ended.notify_one();
        body.slot
    }
}

impl SmallBody {
    /// Waits until a newer body needs the place.
    pub(crate) async fn ended(&self) {
        self.ended.notified().await;
    }
}

impl Drop for SmallBody {
    fn drop(&mut self) {
        // It is gone if it was ended.
        lock(&self.all.open).bodies.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use telemetry::BoundName;

    fn client(number: u8) -> Holder {
        Holder::Client(IpAddr::V4(Ipv4Addr::new(192, 0, 2, number)))
    }

    /// The numbers of the bodies that are still arriving.
    fn open(all: &SmallBodies) -> Vec<u64> {
        lock(&all.open).bodies.keys().copied().collect()
    }

    #[test]
    fn a_further_body_ends_the_oldest_of_who_has_most_and_is_never_refused() {
        let all = SmallBodies::new(Bound::new(BoundName::Requests, "forms", 4));
        let _honest = all.begin(client(1), None);
        let slow: Vec<SmallBody> = (0..3).map(|_| all.begin(client(2), None)).collect();
        let _next = all.begin(client(3), None);
        assert_eq!(open(&all), [0, 2, 3, 4], "the oldest of client 2 has ended");
        assert_eq!((all.bound.used(), all.bound.rejected()), (4, 1));
        drop(slow);
        assert_eq!((open(&all), all.bound.used()), (vec![0, 4], 2));
    }

    #[test]
    fn the_bodies_of_one_token_count_together_wherever_it_is_shown() {
        let all = SmallBodies::new(Bound::new(BoundName::Requests, "forms", 5));
        let _two = [0, 1].map(|_| all.begin(client(1), None));
        let _leaked = [7, 8, 9].map(|number| all.begin(client(number), Some(Holder::Token(1))));
        let _next = all.begin(client(3), None);
        assert_eq!(open(&all), [0, 1, 3, 4, 5]);
    }
}
