//! Datagrams to one address (UDP), for figures whose loss does not matter: nothing waits for the receiver.

use crate::error::Error;
use crate::target::{Origin, Target};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use telemetry::Tick;
use tokio::net::{UdpSocket, lookup_host};
use tokio::time::timeout;

/// How long the resolver may take.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);
/// The name is resolved again after this time, because its address may change, in nanoseconds.
const RESOLVE_EVERY: u64 = 60_000_000_000;
/// The same after a failure, in nanoseconds: a resolver may come up after the server.
const RESOLVE_AGAIN: u64 = 5_000_000_000;

/// Sends datagrams to one address.
#[derive(Debug)]
pub struct Datagrams {
    to: Origin,
    open: Option<(SocketAddr, UdpSocket)>,
    /// When the name was last resolved, or could not be.
    resolved: Option<Tick>,
    /// How long after that it is resolved again, in nanoseconds.
    again: u64,
}

impl Datagrams {
    /// Datagrams to `name:port`.
    ///
    /// # Errors
    /// If this is no name with a port.
    pub fn new(address: &str) -> Result<Self, Error> {
        let refused = || Error::NotAUrl { url: address.to_owned() };
        let named = address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0));
        let target =
            Target::of(&format!("http://{address}")).ok().filter(|target| named && target.authority == address);
        Ok(Self { to: target.ok_or_else(refused)?.origin, open: None, resolved: None, again: RESOLVE_AGAIN })
    }

    /// Resolves the name, at most once a minute and after a failure each five seconds, and returns whether datagrams can be sent. It waits for the resolver for some seconds.
    pub async fn ready(&mut self) -> bool {
        if self.resolved.is_none_or(|at| Tick::now().since(at) >= self.again) {
            self.resolved = Some(Tick::now());
            let found = timeout(RESOLVE_TIMEOUT, lookup_host((self.to.name.as_str(), self.to.port))).await;
            // Nobody answers a datagram, so it must be the right address: most servers of this kind listen on IPv4 alone.
            let address = found.ok().and_then(Result::ok).and_then(|found| found.min_by_key(SocketAddr::is_ipv6));
            self.again = if address.is_some() { RESOLVE_EVERY } else { RESOLVE_AGAIN };
            // A resolver that is away leaves the address of before.
            if let Some(address) = address.filter(|address| self.open.as_ref().is_none_or(|(open, _)| open != address))
            {
                self.open = connect(address).await.map(|socket| (address, socket));
            }
        }
        self.open.is_some()
    }

    /// Sends a datagram. `false`: it is lost, because nobody listens there or the buffer of the kernel is full. Never waits.
    pub fn send(&self, datagram: &[u8]) -> bool {
        self.open.as_ref().is_some_and(|(_, socket)| socket.try_send(datagram).is_ok())
    }
}

async fn connect(address: SocketAddr) -> Option<UdpSocket> {
    let any = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0)).await.ok()?;
    socket.connect(address).await.ok()?;
    // A socket can be written to from the first turn of its loop on.
    socket.writable().await.ok()?;
    Some(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_datagram_arrives_and_one_to_nobody_is_lost_without_waiting() {
        let server = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut datagrams = Datagrams::new(&server.local_addr().unwrap().to_string()).unwrap();
        assert!(!datagrams.send(b"before the name is resolved"));
        assert!(datagrams.ready().await && datagrams.send(b"a:1|c"));
        let mut heard = [0; 100];
        let length = server.recv(&mut heard).unwrap();
        assert_eq!(&heard[..length], b"a:1|c");
        drop(server);
        // The kernel reports a closed port at a later datagram, on loopback at the next one.
        assert!((0..3).any(|_| !datagrams.send(b"a:1|c")));
    }

    #[tokio::test]
    async fn a_name_with_addresses_of_both_kinds_means_the_older_kind() {
        let server = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut datagrams = Datagrams::new(&format!("localhost:{}", server.local_addr().unwrap().port())).unwrap();
        assert!(datagrams.ready().await && datagrams.send(b"a:1|c"));
        assert_eq!(server.recv(&mut [0; 100]).unwrap(), 5);
    }

    #[test]
    fn an_address_is_a_name_and_a_port() {
        for good in ["localhost:8125", "127.0.0.1:8125", "[::1]:8125", "stats.example:1"] {
            assert!(Datagrams::new(good).is_ok(), "{good}");
        }
        for bad in ["", "localhost", "localhost:", "localhost:0", ":8125", "http://a:1", "a:1/b", "me@a:1", "a:99999"] {
            assert!(Datagrams::new(bad).is_err(), "{bad}");
        }
    }
}
