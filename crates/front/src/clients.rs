//! How many connections each client has open, so that no single one takes all there are.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use telemetry::{Bound, BoundName, Full};

/// Of an IPv6 address, the part that a provider gives to one customer: who has it can use any address that begins so.
const NETWORK: u128 = u128::MAX << 64;

/// Counts connections by client. The bound shows the client that has most.
#[derive(Debug)]
pub(crate) struct Clients {
    bound: Arc<Bound>,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    by_client: HashMap<IpAddr, usize>,
    /// At n: how many clients have n connections. Its last entry is never 0, so that its length tells the most.
    having: Vec<usize>,
}

impl Clients {
    /// Every client may have `each` connections open.
    pub(crate) fn new(each: u64) -> Arc<Self> {
        Arc::new(Self { bound: Bound::new(BoundName::ClientConnections, "", each), open: Mutex::default() })
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// One more connection of `address`, until the place is dropped.
    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr) -> Result<Place, Full> {
        let client = client(address);
        let mut open = self.lock();
        let before = open.by_client.get(&client).copied().unwrap_or(0);
        if before as u64 >= self.bound.capacity() {
            self.bound.reject();
            return Err(Full(BoundName::ClientConnections));
        }
        open.change(client, before, before + 1);
        self.bound.observe(open.most());
        Ok(Place { clients: self.clone(), client })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn change(&mut self, client: IpAddr, before: usize, after: usize) {
        match self.by_client.entry(client) {
            Entry::Occupied(entry) if after == 0 => drop(entry.remove()),
            entry => drop(entry.insert_entry(after)),
        }
        self.having.resize(self.having.len().max(after + 1), 0);
        self.having[after] += 1;
        // Nobody counts those that have none.
        self.having[0] = 0;
        if before > 0 {
            self.having[before] -= 1;
        }
        while self.having.last() == Some(&0) {
            self.having.pop();
        }
    }

    fn most(&self) -> u64 {
        self.having.len().saturating_sub(1) as u64
    }
}

/// A client's connection, counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    clients: Arc<Clients>,
    client: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.clients.lock();
        if let Some(before) = open.by_client.get(&self.client).copied() {
            open.change(self.client, before, before - 1);
            self.clients.bound.observe(open.most());
        }
    }
}

/// Who counts as one.
fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & NETWORK)),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn addresses_of_one_ipv6_network_are_one_client_and_a_mapped_address_is_its_ipv4() {
        let client = |text: &str| client(text.parse().unwrap());
        assert_eq!(client("2001:db8::1"), client("2001:db8::ffff:1"));
        assert_ne!(client("2001:db8::1"), client("2001:db8:0:1::1"));
        assert_eq!(client("::ffff:192.0.2.1"), client("192.0.2.1"));
        assert_ne!(client("192.0.2.1"), client("192.0.2.2"));
    }

    proptest! {
        #[test]
        fn each_has_at_most_its_own_and_the_bound_shows_the_most(steps in prop::collection::vec((0u8..4, any::<bool>()), 0..200)) {
            let clients = Clients::new(3);
            let mut held: HashMap<u8, Vec<Place>> = HashMap::new();
            for (number, comes) in steps {
                let mine = held.entry(number).or_default();
                if comes {
                    let place = clients.enter(IpAddr::from([192, 0, 2, number]));
                    prop_assert_eq!(place.is_ok(), mine.len() < 3);
                    mine.extend(place);
                } else {
                    mine.pop();
                }
                let most = held.values().map(Vec::len).max().unwrap_or(0);
                prop_assert_eq!(clients.bound().used(), most as u64);
            }
            drop(held);
            prop_assert!(clients.lock().by_client.is_empty());
        }
    }
}
