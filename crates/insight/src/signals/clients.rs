//! Figures of clients: how much each asks, how often for the same, and how much of the server's time it takes.
//!
//! A client is an address with the name of a token. At most [`CLIENTS_MAX`] have figures of their own, the busiest; the others are in the
//! sums. Of the paths of a client only the most frequent ones and a sample are known.

pub(crate) mod client;
pub(crate) mod loops;
pub(crate) mod path_sample;

use crate::hash::{HashedMap, hash_of, same};
use client::{ClientSeen, ClientTime, works};
use telemetry::{Glance, Kind, Layer};

/// The most clients with figures of their own.
const CLIENTS_MAX: usize = 1024;
/// The clients that stay when there are more.
const CLIENTS_KEPT: usize = 768;

/// The clients that sent requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientsSeen {
    clients: Vec<ClientSeen>,
    /// Places in `clients`, by the hash of address and token.
    places: HashedMap<u32>,
    /// The client of the last event, and the agent of the last one for a repository.
    last: usize,
    last_agent: String,
    /// All clients together, those without figures of their own included.
    pub(crate) all: ClientTime,
}

impl ClientsSeen {
    /// The clients, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ClientSeen> {
        self.clients.iter()
    }

    /// The figures of a client, which are made if there are none yet.
    #[cfg(test)]
    pub(crate) fn client(&mut self, address: &str, token: &str) -> &mut ClientSeen {
        let place = self.place(address, token);
        &mut self.clients[place]
    }

    /// Counts a request. `path`: the hash of its path. Returns whether it shows a fault best.
    pub(crate) fn see(&mut self, event: &Glance<'_>, path: u64) -> bool {
        if event.figures.kind != Kind::Request || (event.client.is_empty() && event.token.is_empty()) {
            return false;
        }
        // Most requests are those of the client before.
        let is_last = |client: &&ClientSeen| same(&client.address, event.client) && same(&client.token, event.token);
        let is_known = self.clients.get(self.last).filter(is_last).is_some();
        if !is_known {
            self.last = self.place(event.client, event.token);
        }
        let time = works(event);
        self.all.add(&time);
        let client = &mut self.clients[self.last];
        client.time.add(&time);
        if event.repository.is_empty() || matches!(event.figures.layer, Layer::App | Layer::AppCache | Layer::AppPages)
        {
            return false;
        }
        if !is_known || !same(&self.last_agent, event.agent) {
            self.last_agent.clear();
            self.last_agent.push_str(event.agent);
            client.see_agent(event.agent);
        }
        client.see(event, path)
    }

    /// Says that others waited for the client that took at least half of the server's work, if there is one. It is called once for some
    /// seconds of events, which is short enough to say who kept whom waiting.
    pub(crate) fn blame(&mut self) {
        let all = self.all;
        if let Some(most) = self.clients.iter_mut().max_by_key(|client| client.time.work)
            && most.time.work * 2 >= all.work
        {
            most.blamed = (all.waited - most.time.waited, all.shed - most.time.shed);
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.all.add(&other.all);
        for theirs in &other.clients {
            match self.places.get(&theirs.key) {
                Some(place) => self.clients[*place as usize].add(theirs),
                None => {
                    self.insert(theirs.clone());
                }
            }
        }
    }

    fn place(&mut self, address: &str, token: &str) -> usize {
        let key = hash_of(&[address, token]);
        match self.places.get(&key) {
            Some(place) => *place as usize,
            None => {
                let (address, token) = (address.into(), Box::from(token));
                self.insert(ClientSeen { key, address, token, ..ClientSeen::default() })
            }
        }
    }

    fn insert(&mut self, client: ClientSeen) -> usize {
        if self.clients.len() >= CLIENTS_MAX {
            self.forget_the_lightest();
        }
        self.places.insert(client.key, self.clients.len() as u32);
        self.clients.push(client);
        self.clients.len() - 1
    }

    /// Leaves the clients that took most of the server's time or sent most requests.
    fn forget_the_lightest(&mut self) {
        self.clients.sort_by_cached_key(|client| std::cmp::Reverse(client.weight()));
        self.clients.truncate(CLIENTS_KEPT);
        self.places = self.clients.iter().enumerate().map(|(place, client)| (client.key, place as u32)).collect();
        self.last = 0;
    }
}

#[cfg(test)]
mod tests;
