//! The user to whom the other end of a connection belongs, on this machine, from the kernel's socket diagnostics (`sock_diag(7)`).
//!
//! The tables `/proc/net/tcp*` tell the same, but to write them the kernel walks through all places that sockets may have: 7 ms of a core
//! on a machine with three sockets.

use front::SocketEnds;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with};
use std::net::IpAddr;

/// The size of the head of a netlink message, and of the description of a socket without it.
const HEAD: usize = 16;
const SOCKET: usize = 72;
/// The size of a request for one socket, with its head.
const REQUEST: usize = HEAD + 56;

/// Types of messages.
const ERROR: u16 = 2;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// A request for the one socket with this id (`NLM_F_REQUEST`).
const ONE: u16 = 1;
const TCP: u8 = 6;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
/// The state of an open connection.
const ESTABLISHED: u8 = 1;
/// The kernel's error for a socket that it does not have.
const ENOENT: i32 = -2;

/// What the kernel says of the peer's end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SocketOwner {
    /// It is an open connection of this user.
    User(u32),
    /// There is no such open connection on this machine.
    Nobody,
    /// The kernel, or a sandbox, does not answer such requests.
    NotTold,
}

/// The owner of the peer's end, as an open connection.
pub(super) fn of(ends: &SocketEnds) -> SocketOwner {
    let Some(request) = request(ends) else { return SocketOwner::Nobody };
    ask(&request).map_or(SocketOwner::NotTold, |answer| parse(&answer))
}

fn ask(request: &[u8; REQUEST]) -> Option<Vec<u8>> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let kernel = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(netlink::SOCK_DIAG)).ok()?;
    send(&kernel, request, SendFlags::empty()).ok()?;
    let mut answer = vec![0; 4 << 10];
    // The kernel has answered before `send` returns.
    let (_, length) = recv(&kernel, answer.as_mut_slice(), RecvFlags::empty()).ok()?;
    answer.truncate(length);
    Some(answer)
}

/// A request for the peer's end: `nlmsghdr` and `inet_diag_req_v2`. `None`: its ends are of two families, as no connection has them.
fn request(ends: &SocketEnds) -> Option<[u8; REQUEST]> {
    let mut bytes = [0; REQUEST];
    bytes[..4].copy_from_slice(&(REQUEST as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes[6..8].copy_from_slice(&ONE.to_ne_bytes());
    let what = &mut bytes[HEAD..];
    what[1] = TCP;
    what[4..8].copy_from_slice(&u32::MAX.to_ne_bytes());
    what[8..10].copy_from_slice(&ends.peer.port().to_be_bytes());
    what[10..12].copy_from_slice(&ends.ours.port().to_be_bytes());
    // A connection of IPv4 is found as such also if its socket is one of IPv6.
    match (ends.peer.ip().to_canonical(), ends.ours.ip().to_canonical()) {
        (IpAddr::V4(peer), IpAddr::V4(ours)) => {
            what[0] = AF_INET;
            what[12..16].copy_from_slice(&peer.octets());
            what[28..32].copy_from_slice(&ours.octets());
        }
        (IpAddr::V6(peer), IpAddr::V6(ours)) => {
            what[0] = AF_INET6;
            what[12..28].copy_from_slice(&peer.octets());
            what[28..44].copy_from_slice(&ours.octets());
        }
        _ => return None,
    }
    // Any cookie.
    what[48..56].copy_from_slice(&[0xff; 8]);
    Some(bytes)
}

/// Reads an answer: one message, or an error.
fn parse(answer: &[u8]) -> SocketOwner {
    let four = |at: usize| answer.get(at..at + 4).and_then(|four| <[u8; 4]>::try_from(four).ok());
    let Some(kind) = four(4).map(|[low, high, ..]| u16::from_ne_bytes([low, high])) else {
        return SocketOwner::NotTold;
    };
    match kind {
        ERROR if four(HEAD).map(i32::from_ne_bytes) == Some(ENOENT) => SocketOwner::Nobody,
        SOCK_DIAG_BY_FAMILY if answer.len() >= HEAD + SOCKET => match (answer[HEAD + 1], four(HEAD + 64)) {
            (ESTABLISHED, Some(user)) => SocketOwner::User(u32::from_ne_bytes(user)),
            // The kernel names a listening socket if there is no connection, and one that was closed has no owner.
            _ => SocketOwner::Nobody,
        },
        _ => SocketOwner::NotTold,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answer(kind: u16, state: u8, user: u32) -> Vec<u8> {
        let mut bytes = vec![0; HEAD + SOCKET];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[HEAD + 1] = state;
        bytes[HEAD + 64..HEAD + 68].copy_from_slice(&user.to_ne_bytes());
        bytes
    }

    #[test]
    fn only_an_open_connection_has_an_owner() {
        assert_eq!(parse(&answer(SOCK_DIAG_BY_FAMILY, ESTABLISHED, 1000)), SocketOwner::User(1000));
        for state in [6, 10] {
            assert_eq!(parse(&answer(SOCK_DIAG_BY_FAMILY, state, 0)), SocketOwner::Nobody, "waiting, listening");
        }
        let refused = |error: i32| [&answer(ERROR, 0, 0)[..HEAD], &error.to_ne_bytes()].concat();
        assert_eq!((parse(&refused(-2)), parse(&refused(-1))), (SocketOwner::Nobody, SocketOwner::NotTold));
        assert_eq!(parse(&answer(SOCK_DIAG_BY_FAMILY, ESTABLISHED, 0)[..HEAD + SOCKET - 1]), SocketOwner::NotTold);
    }

    #[test]
    fn the_kernel_tells_the_owner_of_the_other_end_until_it_is_closed() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            #[expect(clippy::disallowed_methods, reason = "a test needs a socket")]
            let Ok(listener) = std::net::TcpListener::bind(address) else { continue };
            let ours = listener.local_addr().unwrap();
            #[expect(clippy::disallowed_methods, reason = "a test needs a socket")]
            let client = std::net::TcpStream::connect(ours).unwrap();
            let ends = SocketEnds { peer: client.local_addr().unwrap(), ours };
            assert_eq!(of(&ends), SocketOwner::User(rustix::process::geteuid().as_raw()), "{address}");
            drop(client);
            assert_eq!(of(&ends), SocketOwner::Nobody, "{address}");
        }
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            parse(&bytes);
        }
    }
}
