//! Whether a request comes from a user of this machine who may see what an observer sees, without a token.
//!
//! All of this must hold: clients reach the server directly, as far as the settings say; the request names a loopback host, so it is not
//! from a page that bound its own name to this address (DNS rebinding); it shows no token; no page of another site sent it; no proxy passed it on; and the
//! other end of the socket belongs to root or to the user of this process, as the kernel says; if it answers no requests for a socket, by
//! its tables.

use super::socket_owner::{self, SocketOwner};
use crate::access;
use crate::app::App;
use front::{Request, SocketEnds};
use http::{HeaderMap, header};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, SocketAddr};

/// The most that is read of a table of sockets, in bytes: some 100,000 sockets. Beyond it nobody is local.
const TABLE_MAX: u64 = 16 << 20;
/// How often the tables are read. The kernel writes them in parts, and may skip a socket while others come and go.
const READS: usize = 3;
/// Headers that a proxy adds, besides the names that begin with [`FORWARDED`].
const PASSED_ON: [&str; 7] =
    ["forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip", "x-request-start"];
/// The first characters of the names of other such headers.
const FORWARDED: &str = "x-forwarded-";
/// The state of an open connection in the tables.
const ESTABLISHED: &str = "01";

/// Whether the request is local.
pub(crate) fn is_local(app: &App, request: &Request) -> bool {
    app.urls.is_reached_directly() && may_be_local(request) && request.ends.is_some_and(|ends| is_own(&ends))
}

/// Whether the request says nothing to the contrary.
fn may_be_local(request: &Request) -> bool {
    let hosts = request.headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or("?"));
    let mut hosts = hosts.chain(request.host()).peekable();
    hosts.peek().is_some()
        && hosts.all(is_loopback_name)
        && !is_passed_on(&request.headers)
        && !request.headers.contains_key(header::AUTHORIZATION)
        && !access::is_cross_site(&request.headers)
        && request.peer.is_loopback()
        && request.client.is_loopback()
}

/// Whether a host, with or without a port, is a name of the loopback interface.
fn is_loopback_name(host: &str) -> bool {
    let port = |rest: &str| {
        rest.is_empty() || rest.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let names = ["localhost", "127.0.0.1", "[::1]"];
    names.iter().any(|name| {
        host.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name) && port(&host[name.len()..]))
    })
}

fn is_passed_on(headers: &HeaderMap) -> bool {
    let passes = |name: &str| name.starts_with(FORWARDED) || PASSED_ON.contains(&name);
    headers.keys().any(|name| passes(name.as_str()))
}

/// Whether the peer's end belongs to root or to the user of this process. In a user namespace root may be anyone outside of it, and the
/// end of a proxy that serves the network; there, nobody is local.
fn is_own(ends: &SocketEnds) -> bool {
    if !std::fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| is_first_namespace(&map)) {
        return false;
    }
    let own = rustix::process::geteuid().as_raw();
    match socket_owner::of(ends) {
        SocketOwner::User(owner) => return are_own(&[Some(owner)], own),
        SocketOwner::Nobody => return false,
        SocketOwner::NotTold => {}
    }
    let tables = || {
        let [v4, v6] = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| owners(File::open(path).ok()?, ends));
        Some([v4?, v6?].concat())
    };
    let mut reads = (0..READS).map(|_| tables());
    let found = reads.find(|owners| owners.as_ref().is_none_or(|owners| !owners.is_empty()));
    found.flatten().is_some_and(|owners| are_own(&owners, own))
}

fn is_first_namespace(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// Whether there are owners, and each is root or the user `own`.
fn are_own(owners: &[Option<u32>], own: u32) -> bool {
    !owners.is_empty() && owners.iter().all(|owner| *owner == Some(0) || *owner == Some(own))
}

/// The owners of the peer's end, as an open connection, in a table of the kernel; of a line that cannot be read `None`. No list: the
/// table cannot be read, or is too long.
fn owners(table: impl Read, ends: &SocketEnds) -> Option<Vec<Option<u32>>> {
    let (peer, ours) = (forms(ends.peer), forms(ends.ours));
    let owner = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().take(8).collect();
        let [_, local, remote, state, _, _, _, uid] = fields[..] else { return None };
        let same = peer.iter().any(|form| form == local) && ours.iter().any(|form| form == remote);
        (same && state == ESTABLISHED).then(|| uid.parse().ok())
    };
    let (mut owners, mut read, mut line) = (Vec::new(), 0, String::new());
    let mut table = BufReader::new(table.take(TABLE_MAX + 1));
    loop {
        line.clear();
        read += table.read_line(&mut line).ok()? as u64;
        match &*line {
            "" => return Some(owners),
            _ if read > TABLE_MAX => return None,
            line => owners.extend(owner(line)),
        }
    }
}

/// An address as the kernel's tables write it: groups of four bytes in the order of the machine. An IPv4 address has two forms.
fn forms(address: SocketAddr) -> Vec<String> {
    let group = |bytes: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(bytes));
    let groups = |octets: [u8; 16]| {
        let (chunks, _) = octets.as_chunks::<4>();
        chunks.iter().map(|chunk| group(*chunk)).collect::<String>()
    };
    let hosts = match address.ip().to_canonical() {
        IpAddr::V4(ip) => vec![group(ip.octets()), groups(ip.to_ipv6_mapped().octets())],
        IpAddr::V6(ip) => vec![groups(ip.octets())],
    };
    hosts.into_iter().map(|host| format!("{host}:{:04X}", address.port())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{Method, Uri};
    use std::net::Ipv4Addr;

    const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
        0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0\n   \
        1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0\n   \
        2: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 3 1 0\n   \
        3: 0100007F:C351 0100007F:1F90 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0\n   \
        4: 0100007F:C352 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 4 1 0\n";

    fn ends(peer: &str, ours: &str) -> SocketEnds {
        SocketEnds { peer: peer.parse().unwrap(), ours: ours.parse().unwrap() }
    }

    #[test]
    fn the_owner_is_that_of_the_other_end_and_not_of_ours() {
        let owned = |peer, own| are_own(&owners(TABLE.as_bytes(), &ends(peer, "127.0.0.1:8080")).unwrap(), own);
        assert!(owned("127.0.0.1:50000", 1001), "the user of this process");
        assert!(!owned("127.0.0.1:50000", 1000), "another user, though our own end is of this one");
        assert!(owned("127.0.0.1:50002", 1000), "root");
        assert!(!owned("127.0.0.1:50001", 1000), "a closed socket has no owner, which the table writes as root");
        assert!(!owned("127.0.0.1:50003", 1000), "it is in no table");
        assert!(owned("[::ffff:127.0.0.1]:50000", 1001));
        let ends = ends("127.0.0.1:50000", "127.0.0.1:8080");
        assert_eq!(owners(std::io::repeat(b'x'), &ends), None, "a table without end");
        assert!(!are_own(&[Some(0), Some(1000)], 1) && !are_own(&[None], 0) && !are_own(&[], 0));
    }

    #[test]
    fn an_address_is_written_as_the_kernel_writes_it() {
        if cfg!(target_endian = "little") {
            assert_eq!(
                forms("127.0.0.1:8080".parse().unwrap()),
                ["0100007F:1F90", "0000000000000000FFFF00000100007F:1F90"]
            );
            assert_eq!(forms("[::1]:80".parse().unwrap()), ["00000000000000000000000001000000:0050"]);
        }
    }

    #[test]
    fn this_process_owns_the_ends_of_its_sockets() {
        #[expect(clippy::disallowed_methods, reason = "a test needs a socket")]
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = listener.local_addr().unwrap();
        #[expect(clippy::disallowed_methods, reason = "a test needs a socket")]
        let client = std::net::TcpStream::connect(ours).unwrap();
        let ends = SocketEnds { peer: client.local_addr().unwrap(), ours };
        let first = is_first_namespace(&std::fs::read_to_string("/proc/self/uid_map").unwrap());
        assert_eq!(is_own(&ends), first, "in another namespace nobody is local");
        drop(client);
        assert!(!is_own(&ends), "a closed connection is of nobody");
    }

    fn request(host: &'static str, headers: &[(&'static str, &'static str)], peer: IpAddr) -> Request {
        let pairs = [("host", host)].into_iter().chain(headers.iter().copied());
        let headers = pairs.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        Request::new(Method::GET, Uri::from_static("/"), headers, peer)
    }

    #[test]
    fn another_host_name_a_proxy_and_another_site_are_not_local() {
        let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let local = |host, headers: &[(&'static str, &'static str)]| may_be_local(&request(host, headers, here));
        for host in ["localhost", "localhost:8080", "LOCALHOST", "127.0.0.1:1", "[::1]", "[::1]:8080"] {
            assert!(local(host, &[]), "{host}");
        }
        for host in [
            "evil.test",
            "evil.test:8080",
            "localhost.evil.test",
            "127.0.0.1.evil.test",
            "127.0.0.1:80.evil.test",
            "localhost:x",
            "localhost@evil.test",
            "evil.test#localhost",
            "0.0.0.0",
            "127.0.0.2",
            "[::1].evil.test",
            "",
            "localhos",
        ] {
            assert!(!local(host, &[]), "{host}");
        }
        for name in ["forwarded", "via", "x-forwarded-for", "x-forwarded-anything", "x-real-ip"] {
            assert!(!local("localhost", &[(name, "")]), "{name}");
        }
        assert!(!local("localhost", &[("sec-fetch-site", "cross-site")]));
        assert!(!local("localhost", &[("origin", "null")]));
        assert!(!local("localhost", &[("authorization", "Bearer x")]));
        assert!(!local("localhost", &[("host", "evil.test")]), "two hosts");
        assert!(!may_be_local(&request("localhost", &[], "192.0.2.1".parse().unwrap())));
        let mut absolute = request("localhost", &[], here);
        absolute = Request::new(Method::GET, Uri::from_static("http://evil.test/"), absolute.headers, here);
        assert!(!may_be_local(&absolute));
    }
}
