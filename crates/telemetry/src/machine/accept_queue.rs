//! How many connections wait to be accepted, by listening socket, from the kernel's socket diagnostics (`sock_diag(7)`).
//!
//! `/proc/net/tcp` has the length of a queue without its limit, and lists every connection.

use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with};

/// The size of the head of a netlink message.
const HEAD: usize = 16;
/// The size of a request of socket diagnostics, with its head.
const REQUEST: usize = HEAD + 56;
/// The size of the description of a socket, without its head.
const SOCKET: usize = 72;
/// The kernel writes at most this many bytes at once.
const BUFFER: usize = 32 << 10;
/// The most pieces of an answer that are read: some 25,000 sockets.
const PIECES: usize = 64;

/// Types of messages.
const ERROR: u16 = 2;
const DONE: u16 = 3;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// A request for all sockets that match it.
const REQUEST_DUMP: u16 = 0x301;
const TCP: u8 = 6;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
/// A set of states of sockets that has only `LISTEN`.
const LISTENING: u32 = 1 << 10;

/// A listening socket of this network namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListeningSocket {
    pub(super) inode: u64,
    /// Connections that wait to be accepted.
    pub(super) used: u64,
    /// The most that may wait.
    pub(super) limit: u64,
}

/// The connection to the kernel. It stays open, because a process without free descriptors has full queues.
#[derive(Debug)]
pub(super) struct Diagnostics(OwnedFd);

impl Diagnostics {
    /// `None`: the kernel or a sandbox refuses it.
    pub(super) fn open() -> Option<Self> {
        let kind = (AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK);
        socket_with(kind.0, kind.1, kind.2, Some(netlink::SOCK_DIAG)).ok().map(Self)
    }

    /// All listening sockets. `None`: the kernel refuses to list them.
    pub(super) fn listening(&self) -> Option<Vec<ListeningSocket>> {
        let mut found = Vec::new();
        for family in [AF_INET, AF_INET6] {
            send(&self.0, &request(family), SendFlags::empty()).ok()?;
            self.receive(&mut found)?;
        }
        Some(found)
    }

    /// The kernel has the next piece of its answer ready whenever it is read.
    fn receive(&self, found: &mut Vec<ListeningSocket>) -> Option<()> {
        let mut buffer = vec![0; BUFFER];
        for _ in 0..PIECES {
            let (_, length) = recv(&self.0, buffer.as_mut_slice(), RecvFlags::empty()).ok()?;
            match parse(buffer.get(..length)?, found) {
                Parsed::More => {}
                Parsed::Done => return Some(()),
                Parsed::Refused => return None,
            }
        }
        None
    }
}

/// A request for the listening TCP sockets of a family: `nlmsghdr` and `inet_diag_req_v2`.
fn request(family: u8) -> [u8; REQUEST] {
    let mut bytes = [0; REQUEST];
    bytes[..4].copy_from_slice(&(REQUEST as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes[6..8].copy_from_slice(&REQUEST_DUMP.to_ne_bytes());
    bytes[HEAD] = family;
    bytes[HEAD + 1] = TCP;
    bytes[HEAD + 4..HEAD + 8].copy_from_slice(&LISTENING.to_ne_bytes());
    bytes
}

/// Where an answer of the kernel is.
#[derive(Debug, PartialEq, Eq)]
enum Parsed {
    More,
    Done,
    Refused,
}

/// Adds the sockets of one piece: messages, each with its length, aligned to four bytes.
fn parse(mut bytes: &[u8], found: &mut Vec<ListeningSocket>) -> Parsed {
    while bytes.len() >= HEAD {
        let length = number(bytes, 0) as usize;
        let kind = u16::from_ne_bytes([bytes[4], bytes[5]]);
        let Some(message) = bytes.get(HEAD..length) else { return Parsed::Refused };
        match kind {
            DONE => return Parsed::Done,
            ERROR => return Parsed::Refused,
            SOCK_DIAG_BY_FAMILY if message.len() >= SOCKET => found.push(ListeningSocket {
                used: number(message, 56).into(),
                limit: number(message, 60).into(),
                inode: number(message, 68).into(),
            }),
            _ => {}
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Parsed::More
}

/// The number at `at`; 0 beyond the end.
fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::{TcpListener, TcpStream};

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let length = (HEAD + body.len()) as u32;
        let head = [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), &[0; 10]].concat();
        [&head, body].concat()
    }

    fn socket(used: u32, limit: u32, inode: u32) -> Vec<u8> {
        let mut body = vec![0; SOCKET];
        for (at, number) in [(56, used), (60, limit), (68, inode)] {
            body[at..at + 4].copy_from_slice(&number.to_ne_bytes());
        }
        message(SOCK_DIAG_BY_FAMILY, &body)
    }

    #[test]
    fn the_sockets_of_all_pieces_are_found_until_the_kernel_says_that_there_are_no_more() {
        let mut found = Vec::new();
        let piece = [socket(3, 4096, 77), message(9, b"x"), vec![0; 3], socket(0, 128, 78)].concat();
        assert_eq!(parse(&piece, &mut found), Parsed::More);
        assert_eq!(parse(&message(DONE, &[0; 4]), &mut found), Parsed::Done);
        let both = [(3, 4096, 77), (0, 128, 78)].map(|(used, limit, inode)| ListeningSocket { inode, used, limit });
        assert_eq!(found, both);
    }

    #[test]
    fn an_error_and_a_broken_message_are_a_refusal() {
        let mut found = Vec::new();
        assert_eq!(parse(&message(ERROR, &[0; 20]), &mut found), Parsed::Refused);
        let mut long = socket(1, 2, 3);
        long[0] = 200;
        assert_eq!(parse(&long, &mut found), Parsed::Refused);
        let mut short = socket(1, 2, 3);
        short[..4].copy_from_slice(&3u32.to_ne_bytes());
        assert_eq!(parse(&short, &mut found), Parsed::Refused);
        assert_eq!((found, parse(&[], &mut Vec::new())), (vec![], Parsed::More));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test's own sockets")]
    fn the_kernel_tells_of_connections_that_nobody_accepts() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let at = listener.local_addr().unwrap();
            let clients: Vec<_> = (0..3).map(|_| TcpStream::connect(at).unwrap()).collect();
            let inode = crate::machine::inode_of(&listener).unwrap();
            let own = |diagnostics: &Diagnostics| {
                diagnostics.listening().unwrap().into_iter().find(|socket| socket.inode == inode).unwrap()
            };
            let diagnostics = Diagnostics::open().unwrap();
            let before = own(&diagnostics);
            assert_eq!(before.used, 3);
            assert!(before.limit >= 128, "{before:?}");
            listener.accept().unwrap();
            assert_eq!(own(&diagnostics), ListeningSocket { used: 2, ..before });
            drop(clients);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), length in 0u32..200) {
            parse(&bytes, &mut Vec::new());
            let with_length = [&length.to_ne_bytes()[..], &SOCK_DIAG_BY_FAMILY.to_ne_bytes(), &bytes].concat();
            parse(&with_length, &mut Vec::new());
        }
    }
}
