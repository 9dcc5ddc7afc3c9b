//! Reads the PROXY protocol: the header in which a load balancer that does not read HTTP names its client, before the
//! client's first byte. Versions 1 (a line) and 2 (binary), after the specification that HAProxy publishes.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Both versions have at least this many bytes, so reading them never reads into the request.
const FIRST: usize = 12;
const SIGNATURE: [u8; FIRST] = *b"\r\n\r\n\0\r\nQUIT\n";
/// The longest line of version 1, with its end.
const LINE: usize = 107;
/// The fixed part behind the signature of version 2.
const FIXED: usize = 4;
/// The longest variable part of version 2: the longest addresses, and what cloud providers add. The length field allows
/// 65,535.
const REST: usize = 2048;

/// Why a connection is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProxyHeaderError {
    /// It ended before its first byte, as a port check does.
    #[error("no bytes arrived")]
    Silent,
    /// It ended within the header.
    #[error("the connection ended within the PROXY header")]
    Broken(#[source] io::Error),
    /// The bytes are not a header.
    #[error("no valid PROXY header: {0}")]
    Invalid(&'static str),
}

impl From<io::Error> for ProxyHeaderError {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

/// Reads the header and nothing beyond it. `None`: the proxy checks the server's health, and names no client.
pub(crate) async fn read(from: &mut (impl AsyncRead + Unpin)) -> Result<Option<IpAddr>, ProxyHeaderError> {
    let mut first = [0; FIRST];
    if from.read(&mut first[..1]).await? == 0 {
        return Err(ProxyHeaderError::Silent);
    }
    from.read_exact(&mut first[1..]).await?;
    if first == SIGNATURE { binary(from).await } else { line(first, from).await }
}

/// Reads a header that has arrived completely, and returns the bytes behind it. `None`: it is not a header, or not a
/// complete one.
pub fn announced(bytes: &[u8]) -> Option<(Option<IpAddr>, &[u8])> {
    let mut rest = bytes;
    // Bytes in memory never have to be waited for.
    let read = pin!(read(&mut rest)).poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready(Ok(client)) = read else { return None };
    Some((client, rest))
}

async fn line(first: [u8; FIRST], from: &mut (impl AsyncRead + Unpin)) -> Result<Option<IpAddr>, ProxyHeaderError> {
    if !first.starts_with(b"PROXY ") {
        return Err(ProxyHeaderError::Invalid("it does not begin with `PROXY` or the signature"));
    }
    let mut line = first.to_vec();
    // Byte by byte, once per connection, so that the request that follows stays in the socket.
    while !line.ends_with(b"\r\n") {
        if line.len() == LINE {
            return Err(ProxyHeaderError::Invalid("the line is too long"));
        }
        line.push(from.read_u8().await?);
    }
    line.truncate(line.len() - 2);
    let line = std::str::from_utf8(&line).map_err(|_| ProxyHeaderError::Invalid("the line is not text"))?;
    read_line(line).ok_or(ProxyHeaderError::Invalid("the line is malformed"))
}

/// `PROXY TCP4 SOURCE DESTINATION PORT PORT`, or `PROXY UNKNOWN` with anything behind it.
fn read_line(line: &str) -> Option<Option<IpAddr>> {
    let mut words = line.split(' ');
    let (_, family) = (words.next(), words.next()?);
    if family == "UNKNOWN" {
        return Some(None);
    }
    let (source, destination) = (words.next()?, words.next()?);
    let client = match family {
        "TCP4" => source.parse::<Ipv4Addr>().ok().zip(destination.parse::<Ipv4Addr>().ok())?.0.into(),
        "TCP6" => source.parse::<Ipv6Addr>().ok().zip(destination.parse::<Ipv6Addr>().ok())?.0.into(),
        _ => return None,
    };
    let ports = (words.next()?.parse::<u16>().ok(), words.next()?.parse::<u16>().ok());
    (words.next().is_none() && matches!(ports, (Some(_), Some(_)))).then_some(Some(client))
}

async fn binary(from: &mut (impl AsyncRead + Unpin)) -> Result<Option<IpAddr>, ProxyHeaderError> {
    let mut fixed = [0; FIXED];
    from.read_exact(&mut fixed).await?;
    let [command, family, length @ ..] = fixed;
    let length = usize::from(u16::from_be_bytes(length));
    if length > REST {
        return Err(ProxyHeaderError::Invalid("it is too long"));
    }
    let mut rest = vec![0; length];
    from.read_exact(&mut rest).await?;
    match (command, family) {
        // LOCAL: the proxy opened the connection itself and names no client.
        (0x20, _) => Ok(None),
        (0x21, 0x11) => source(&rest, 12, |address: [u8; 4]| address.into()),
        (0x21, 0x21) => source(&rest, 36, |address: [u8; 16]| address.into()),
        // Another kind of socket, or an unknown one: an address cannot name the client.
        (0x21, 0x00 | 0x12 | 0x22 | 0x31 | 0x32) => Ok(None),
        _ => Err(ProxyHeaderError::Invalid("unknown version, command or family")),
    }
}

/// The source address. Both addresses and ports take `least` bytes.
fn source<const N: usize>(
    rest: &[u8],
    least: usize,
    address: impl Fn([u8; N]) -> IpAddr,
) -> Result<Option<IpAddr>, ProxyHeaderError> {
    match rest.first_chunk() {
        Some(bytes) if rest.len() >= least => Ok(Some(address(*bytes))),
        _ => Err(ProxyHeaderError::Invalid("it is too short for its addresses")),
    }
}

#[cfg(test)]
mod tests;
