//! From a name to a connection: the one place that dials.

use crate::Error;
use crate::proxy::Proxy;
use crate::stream::Stream;
use crate::target::Origin;
use crate::tls::{Tls, is_tls};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Addresses of a name that are tried.
const ADDRESSES_MAX: usize = 8;
/// How long one is tried before the next is tried beside it (RFC 8305 5: a network that swallows IPv6 costs no more).
const HEAD_START: Duration = Duration::from_millis(250);

/// How a server is reached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Road<'a> {
    pub(crate) tls: &'a Tls,
    /// Whether what is ours may be shown there.
    pub(crate) own: bool,
    pub(crate) proxy: Option<&'a Proxy>,
}

/// Straight there, as the machine does.
pub(crate) const STRAIGHT: Road<'_> = Road { tls: &Tls::MACHINE, own: false, proxy: None };

/// Connects, through the proxy where there is one, and agrees on TLS where the URL asks for it.
pub(crate) async fn dial(origin: &Origin, road: Road<'_>) -> Result<Stream, Error> {
    let next = road.proxy.map_or(origin, |proxy| &proxy.origin);
    let mut stream = Stream::Plain(connect(next).await?);
    if !origin.tls {
        return Ok(stream);
    }
    if let Some(proxy) = road.proxy {
        stream = proxy.tunnel(stream, origin).await?;
    }
    let Stream::Plain(tcp) = stream else { return Ok(stream) };
    let tls = road.tls.connect(&origin.name, road.own, tcp).await.map_err(|source| {
        let host = origin.to_string();
        if is_tls(&source) { Error::Tls { host, source } } else { Error::Unreachable { host, source } }
    })?;
    Ok(Stream::Tls(Box::new(tls)))
}

async fn connect(origin: &Origin) -> Result<TcpStream, Error> {
    let host = || origin.to_string();
    let addresses = tokio::net::lookup_host((origin.name.as_str(), origin.port)).await;
    let addresses = addresses.map_err(|source| Error::Unresolved { host: host(), source })?;
    let stream = first_of(addresses.take(ADDRESSES_MAX)).await.map_err(|source| match source.kind() {
        io::ErrorKind::ConnectionRefused => Error::NotListening { host: host() },
        _ => Error::Unreachable { host: host(), source },
    })?;
    // Only a delay would be lost if this failed.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

/// The first connection that is made; else how the last failed.
async fn first_of(mut addresses: impl Iterator<Item = SocketAddr>) -> io::Result<TcpStream> {
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

#[expect(clippy::disallowed_methods, reason = "the one place that dials")]
async fn connect_to(address: SocketAddr) -> io::Result<TcpStream> {
    TcpStream::connect(address).await
}
