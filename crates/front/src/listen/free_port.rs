//! A port for a program that this one starts, which is told the port and binds it itself.

use super::listener::Listener;
use crate::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The ports that are tried. The kernel gives ports from 32768 on to connections, so it takes none of these before the program binds it
/// (ip_local_port_range, ip-sysctl of Linux).
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;
/// How many ports are tried: on any machine few are in use.
const TRIES: u16 = 1_000;

/// A port on which nothing listens. It is free when this returns; nothing reserves it.
pub fn free_port() -> Result<u16, Error> {
    // Two servers that start at the same time begin at different ports.
    let begin = (RandomState::new().hash_one(()) % u64::from(COUNT)) as u16;
    let port = |step: u16| FIRST + (begin + step) % COUNT;
    let free = (0..TRIES).map(port).find(|port| is_free(*port).is_ok());
    match free {
        Some(port) => Ok(port),
        None => is_free(port(0)).map(|()| port(0)),
    }
}

/// Whether the port can be bound on the loopback interface and, as other programs do, on all of them.
fn is_free(port: u16) -> Result<(), Error> {
    let bind = |ip: Ipv4Addr| Listener::bind(SocketAddr::new(IpAddr::V4(ip), port)).map(drop);
    bind(Ipv4Addr::UNSPECIFIED).and_then(|()| bind(Ipv4Addr::LOCALHOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_port_can_be_bound_and_is_none_of_those_that_the_kernel_gives_to_connections() {
        let port = free_port().unwrap();
        assert!((FIRST..FIRST + COUNT).contains(&port));
        let taken = Listener::bind((Ipv4Addr::LOCALHOST, port).into()).unwrap();
        assert!(is_free(port).is_err());
        drop(taken);
    }
}
