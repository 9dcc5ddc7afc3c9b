//! The headers in which proxies name their clients, farthest first: each proxy adds the one it was asked by at the end.

use http::{HeaderMap, HeaderName, header};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// Proxies in a row. Only the nearest are looked at.
const HOPS: usize = 16;

/// Who passed a request on, farthest first; `None` for whoever is not named by an address.
type Chain = Vec<Option<IpAddr>>;

pub(super) fn x_forwarded_for(headers: &HeaderMap) -> Chain {
    nearest(headers.get_all(X_FORWARDED_FOR).iter().flat_map(|line| match line.to_str() {
        Ok(line) => line.split(',').map(|hop| address(hop.trim())).collect(),
        Err(_) => vec![None],
    }))
}

pub(super) fn forwarded(headers: &HeaderMap) -> Chain {
    nearest(headers.get_all(header::FORWARDED).iter().flat_map(|line| match line.to_str() {
        Ok(line) => split(line, ',').into_iter().map(node).collect(),
        Err(_) => vec![None],
    }))
}

fn nearest(hops: impl Iterator<Item = Option<IpAddr>>) -> Chain {
    let mut hops: Chain = hops.collect();
    hops.drain(..hops.len().saturating_sub(HOPS));
    hops
}

/// Who `for` names in one element of `Forwarded`: pairs with `;` between them (RFC 7239, 4).
fn node(element: &str) -> Option<IpAddr> {
    let mut named = split(element, ';').into_iter().filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        name.trim().eq_ignore_ascii_case("for").then_some(value.trim())
    });
    let value = named.next().filter(|_| named.next().is_none())?;
    // No address needs an escape, so a value with one is no address.
    address(value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value))
}

/// The parts between separators that are not inside of quotes. A quote that does not end takes in the rest, so that the
/// element is not readable.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |letter: char| {
        let separates = letter == separator && !quoted;
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        separates
    })
    .collect()
}

/// An address as proxies write it: alone, in brackets, or with a port.
fn address(text: &str) -> Option<IpAddr> {
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    text.parse().ok().or_else(bracketed).or_else(with_port).map(|address: IpAddr| address.to_canonical())
}
