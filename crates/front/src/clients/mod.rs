//! Limits how many connections each client has open, so that no client takes all of them.

pub(crate) mod forwarded;
pub(crate) mod forwarded_url;
pub(crate) mod network;
pub(crate) mod proxies;
pub(crate) mod proxy_protocol;
pub(crate) mod request_start;

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use telemetry::{Bound, BoundName, Full, KeyedBound, KeyedSlot};

/// The prefix of an IPv6 address that a provider gives to one customer. The customer can use any address below it.
const NETWORK: u128 = u128::MAX << 64;

/// Counts connections by client. Its bound shows the client that has the most.
#[derive(Debug)]
pub(crate) struct ClientConnections(Arc<KeyedBound<IpAddr>>);

/// One connection of a client, counted until it is dropped.
pub(crate) type ClientSlot = KeyedSlot<IpAddr>;

impl ClientConnections {
    /// Every client may have `each` connections open.
    pub(crate) fn new(each: u64) -> Arc<Self> {
        Arc::new(Self(KeyedBound::new(BoundName::ClientConnections, each)))
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        self.0.bound()
    }

    /// Counts one more connection of `address`.
    pub(crate) fn enter(&self, address: IpAddr) -> Result<ClientSlot, Full> {
        self.0.enter(client(address))
    }
}

/// The unit that counts as one client: an IPv4 address, or an IPv6 network of 64 bits.
pub fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & NETWORK)),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_ipv6_network_are_one_client_and_a_mapped_address_is_its_ipv4() {
        let client = |text: &str| client(text.parse().unwrap());
        assert_eq!(client("2001:db8::1"), client("2001:db8::ffff:1"));
        assert_ne!(client("2001:db8::1"), client("2001:db8:0:1::1"));
        assert_eq!(client("::ffff:192.0.2.1"), client("192.0.2.1"));
        assert_ne!(client("192.0.2.1"), client("192.0.2.2"));
    }
}
