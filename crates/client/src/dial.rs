//! From a name to a connection. Nothing else connects.

use crate::error::Error;
use crate::proxy::Proxy;
use crate::resolve::Resolver;
use crate::set_up::SetUp;
use crate::ssrf::{AddressPolicy, Networks};
use crate::stream::{Dialled, Stream};
use crate::target::Origin;
use crate::tls::Tls;
use crate::tls_error::is_tls;
use crate::zone::Zone;
use socket2::SockRef;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;
use telemetry::Op;
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// The most addresses of a name that are tried.
const ADDRESSES_MAX: usize = 8;
/// How long one address is tried before the next one is tried in parallel (RFC 8305 5). A network that drops IPv6
/// then costs no more than this.
const HEAD_START: Duration = Duration::from_millis(250);
/// When a unix socket with a full backlog is tried again. Over TCP the kernel waits; here it refuses at once (unix(7): `EAGAIN`).
const BACKLOG_PAUSE: Duration = Duration::from_millis(5);

/// [`DialOptions::lost_after`] for calls without a body. Firewalls drop idle connections without telling either side.
/// The call is then repeated over a new connection, long before its timeout (RFC 5482).
pub(crate) const LOST_AFTER: Duration = Duration::from_secs(5);

/// How a server is reached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DialOptions<'a> {
    pub(crate) tls: &'a Tls,
    /// Whether the client certificate may be sent to this server.
    pub(crate) own: bool,
    pub(crate) proxy: Option<&'a Proxy>,
    pub(crate) address_policy: AddressPolicy,
    /// Where the zone of the name is stored when it is first resolved, if it is to be pinned.
    pub(crate) pin: Option<&'a OnceLock<Zone>>,
    pub(crate) resolver: &'a Resolver,
    /// How long sent bytes may stay unacknowledged before the connection counts as lost.
    pub(crate) lost_after: Option<Duration>,
}

/// Directly, with the settings of the machine. A large upload may take longer than [`LOST_AFTER`] to be acknowledged.
pub(crate) const DIRECT: DialOptions<'_> = DialOptions {
    tls: &Tls::MACHINE,
    own: false,
    proxy: None,
    address_policy: AddressPolicy::Anywhere,
    pin: None,
    resolver: &Resolver::Machine,
    lost_after: None,
};

/// A proxy may be in a private network even if upstreams may not: it then connects to upstreams outside.
const PROXIES: AddressPolicy =
    AddressPolicy::Named { networks: Networks { private: true, link_local: false }, pinned: None };

/// Connects, through a proxy where there is one, and performs the TLS handshake for an `https` URL. `set_up` times the parts.
pub(crate) async fn dial(origin: &Origin, options: DialOptions<'_>, set_up: &mut SetUp<'_>) -> Result<Dialled, Error> {
    // Only the proxy resolves the name, so only the name itself can be checked.
    if options.proxy.is_some() {
        options.address_policy.check_name(origin)?;
    }
    let next = match options.proxy {
        None => connect(origin, options, set_up).await,
        Some(proxy) => {
            let options = DialOptions { address_policy: PROXIES, pin: None, ..options };
            connect(&proxy.origin, options, set_up).await
        }
    };
    let tcp = next?;
    // If these fail, only time is lost.
    let _ = tcp.set_nodelay(true);
    if options.lost_after.is_some() {
        let _ = SockRef::from(&tcp).set_tcp_user_timeout(options.lost_after);
    }
    let peer = tcp.peer_addr().ok().filter(|_| options.proxy.is_none()).map(|peer| peer.ip());
    let mut stream = Stream::Plain(tcp);
    if !origin.tls {
        return Ok(Dialled { stream, peer });
    }
    if let Some(proxy) = options.proxy {
        set_up.begin(Op::UpstreamProxy);
        stream = proxy.tunnel(stream, origin).await?;
    }
    let Stream::Plain(tcp) = stream else { return Ok(Dialled { stream, peer }) };
    set_up.begin(Op::UpstreamTls);
    let tls = options.tls.connect(&origin.name, options.own, tcp).await.map_err(|source| {
        let host = origin.to_string();
        if is_tls(&source) { Error::Tls { host, source } } else { Error::Unreachable { host, source } }
    })?;
    Ok(Dialled { stream: Stream::Tls(Box::new(tls)), peer })
}

/// Connects to the unix socket of a path. Waits as long as its backlog is full.
pub(crate) async fn dial_socket(path: &Path) -> Result<UnixStream, Error> {
    let host = || path.display().to_string();
    loop {
        let failed = match UnixStream::connect(path).await {
            Ok(stream) => return Ok(stream),
            Err(error) => error,
        };
        match failed.kind() {
            io::ErrorKind::WouldBlock => sleep(BACKLOG_PAUSE).await,
            io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => {
                return Err(Error::NotListening { host: host() });
            }
            _ => return Err(Error::Unreachable { host: host(), source: failed }),
        }
    }
}

async fn connect(origin: &Origin, options: DialOptions<'_>, set_up: &mut SetUp<'_>) -> Result<TcpStream, Error> {
    let host = || origin.to_string();
    set_up.begin(Op::UpstreamResolve);
    let addresses = options.resolver.addresses(origin).await;
    let addresses = addresses.map_err(|source| Error::Unresolved { host: host(), source })?;
    let held = allowed(origin, options, addresses)?;
    set_up.begin(Op::UpstreamTcp);
    first_of(held.into_iter().take(ADDRESSES_MAX)).await.map_err(|source| match source.kind() {
        io::ErrorKind::ConnectionRefused => Error::NotListening { host: host() },
        _ => Error::Unreachable { host: host(), source },
    })
}

/// The addresses of a host that may be called. The first addresses pin the zone of the host.
fn allowed(origin: &Origin, options: DialOptions<'_>, addresses: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, Error> {
    let zone = |address: &SocketAddr| Zone::of(address.ip());
    let outermost = addresses.iter().map(zone).max();
    let mut held: Vec<_> = addresses.into_iter().filter(|address| options.address_policy.holds(address.ip())).collect();
    let mut address_policy = options.address_policy;
    if let (Some(pin), Some(first)) = (options.pin, held.iter().map(zone).min()) {
        // Another call may have resolved the name at the same time, with other addresses.
        address_policy = address_policy.pinned(*pin.get_or_init(|| first));
        held.retain(|address| address_policy.holds(address.ip()));
    }
    match outermost.filter(|_| held.is_empty()) {
        Some(zone) => Err(address_policy.refusal(origin, zone)),
        None => Ok(held),
    }
}

/// The first connection that is made, or the last error.
async fn first_of(addresses: impl Iterator<Item = SocketAddr>) -> io::Result<TcpStream> {
    let mut addresses = addresses.peekable();
    let Some(first) = addresses.next() else { return Err(io::ErrorKind::AddrNotAvailable.into()) };
    // The only one needs no task of its own. A server that closes its connection after each response, as unicorn does, is dialled for
    // each request.
    if addresses.peek().is_none() {
        return connect_to(first).await;
    }
    let mut addresses = std::iter::once(first).chain(addresses);
    let mut tries = JoinSet::new();
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        let more = addresses.next().map(|address| tries.spawn(connect_to(address))).is_some();
        let done = match more {
            true => timeout(HEAD_START, tries.join_next()).await.ok(),
            false => Some(tries.join_next().await),
        };
        match done {
            Some(Some(Ok(Ok(stream)))) => return Ok(stream),
            Some(Some(Ok(Err(error)))) => failed = error,
            Some(None) if !more => return Err(failed),
            _ => {}
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the only code that dials")]
async fn connect_to(address: SocketAddr) -> io::Result<TcpStream> {
    TcpStream::connect(address).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[expect(clippy::disallowed_methods, reason = "a fake server, not Daylight's")]
    fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    #[test]
    fn the_addresses_of_a_name_are_tried_until_one_answers() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (down, up) = (listener().1, listener());
        let stream = runtime.block_on(first_of([down, up.1, down].into_iter())).unwrap();
        assert_eq!(stream.peer_addr().unwrap(), up.1);
        let error = runtime.block_on(first_of([down, down].into_iter())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        let error = runtime.block_on(first_of(std::iter::empty())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrNotAvailable);
    }

    #[test]
    fn of_two_first_calls_that_are_told_other_addresses_the_one_further_in_is_not_made() {
        let origin = Origin { tls: false, name: "files.test".to_owned(), port: 80 };
        let (pin, address_policy) =
            (OnceLock::new(), AddressPolicy::Named { networks: Networks::default(), pinned: None });
        let options = DialOptions { address_policy, pin: Some(&pin), ..DIRECT };
        let told = |address: &str| allowed(&origin, options, vec![SocketAddr::new(address.parse().unwrap(), 80)]);
        assert_eq!(told("192.0.2.1").unwrap().len(), 1);
        assert_eq!(told("127.0.0.1").unwrap_err().label(), "moved_inside");
        assert_eq!(pin.get(), Some(&Zone::Public));
        assert!(allowed(&origin, options, Vec::new()).unwrap().is_empty());
    }

    #[test]
    fn a_connection_whose_bytes_get_lost_ends_before_who_calls_gives_up() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (_listening, address) = listener();
        let origin = Origin { tls: false, name: address.ip().to_string(), port: address.port() };
        for lost_after in [None, Some(LOST_AFTER)] {
            let dialled = runtime.block_on(dial(&origin, DialOptions { lost_after, ..DIRECT }, &mut SetUp::default()));
            let Stream::Plain(tcp) = dialled.unwrap().stream else { panic!("the URL is not https") };
            assert_eq!(SockRef::from(&tcp).tcp_user_timeout().unwrap(), lost_after);
            assert!(tcp.nodelay().unwrap());
        }
        assert!(LOST_AFTER < crate::timeouts::Timeouts::default().head);
    }
}
