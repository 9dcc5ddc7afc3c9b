//! Figures of clients: how much each asks, how often for the same, and how much of the server's time it takes.
//!
//! A client is an address with the name of a token. At most [`CLIENTS_MAX`] have figures of their own, the busiest; the others are in the
//! sums. Of the paths of a client only the most frequent ones and a sample are known.

pub(crate) mod client;
pub(crate) mod loops;
pub(crate) mod path_sample;

use crate::hash::{FastMap, Seed};
use client::{ClientSeen, ClientTime, works};
use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;
use telemetry::{Glance, Kind, Layer};

/// The most clients with figures of their own.
const CLIENTS_MAX: usize = 1024;
/// The clients that stay when there are more.
const CLIENTS_KEPT: usize = 768;

/// One seed for all windows, so that their tables and samples can be added.
static SEED: LazyLock<Seed> = LazyLock::new(Seed::default);

/// The hash of texts, the same in all windows.
fn hash(texts: &[&str]) -> u64 {
    let mut hasher = SEED.build_hasher();
    texts.iter().for_each(|text| hasher.write(text.as_bytes()));
    hasher.finish()
}

/// The clients that sent requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientsSeen {
    clients: Vec<ClientSeen>,
    /// Places in `clients`, by the hash of address and token.
    places: FastMap<u64, u32>,
    /// The client of the last event.
    last: usize,
    /// All clients together, those without figures of their own included.
    pub(crate) all: ClientTime,
    /// Events were counted here: it is no sum.
    counted: bool,
}

impl ClientsSeen {
    /// The clients, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ClientSeen> {
        self.clients.iter()
    }

    /// The figures of a client, which are made if there are none yet.
    pub(crate) fn client(&mut self, address: &str, token: &str) -> &mut ClientSeen {
        let place = self.place(address, token);
        &mut self.clients[place]
    }

    /// Counts a request. Returns whether it shows a fault best.
    pub(crate) fn see(&mut self, event: &Glance<'_>) -> bool {
        if event.figures.kind != Kind::Request || (event.client.is_empty() && event.token.is_empty()) {
            return false;
        }
        // Most requests are those of the client before.
        let is_last = |client: &&ClientSeen| *client.address == *event.client && *client.token == *event.token;
        if self.clients.get(self.last).filter(is_last).is_none() {
            self.last = self.place(event.client, event.token);
        }
        self.counted = true;
        let time = works(event);
        self.all.add(&time);
        let client = &mut self.clients[self.last];
        client.time.add(&time);
        let for_app = matches!(event.figures.layer, Layer::App | Layer::AppCache | Layer::AppPages);
        !event.repository.is_empty() && !for_app && client.see(event, hash(&[event.path]))
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.all.add(&other.all);
        for theirs in &other.clients {
            self.client(&theirs.address, &theirs.token).add(theirs);
        }
        // In some seconds of events, which is short enough to say who kept whom waiting.
        if let Some(most) = other.clients.iter().max_by_key(|client| client.time.work).filter(|_| other.counted)
            && most.time.work * 2 >= other.all.work
        {
            let (waited, shed) = (other.all.waited - most.time.waited, other.all.shed - most.time.shed);
            let blamed = &mut self.client(&most.address, &most.token).blamed;
            *blamed = (blamed.0 + waited, blamed.1 + shed);
        }
    }

    fn place(&mut self, address: &str, token: &str) -> usize {
        let key = hash(&[address, token]);
        if let Some(place) = self.places.get(&key) {
            return *place as usize;
        }
        if self.clients.len() >= CLIENTS_MAX {
            self.forget_the_lightest();
        }
        self.places.insert(key, self.clients.len() as u32);
        self.clients.push(ClientSeen { address: address.into(), token: token.into(), ..ClientSeen::default() });
        self.clients.len() - 1
    }

    /// Leaves the clients that took most of the server's time or sent most requests.
    fn forget_the_lightest(&mut self) {
        self.clients.sort_by_cached_key(|client| std::cmp::Reverse(client.weight()));
        self.clients.truncate(CLIENTS_KEPT);
        let key = |client: &ClientSeen| hash(&[&client.address, &client.token]);
        self.places = self.clients.iter().enumerate().map(|(place, client)| (key(client), place as u32)).collect();
        self.last = 0;
    }
}

#[cfg(test)]
mod tests;
