//! Reads the headers in which proxies name their clients, farthest first. Each proxy appends the client that it got the
//! request from.

use http::{HeaderMap, HeaderName, header};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// The longest chain of proxies. Only the nearest ones are read.
const HOPS: usize = 16;

/// The hops of a request, farthest first; `None` for a hop that is not named by an address.
pub(super) type Chain = Vec<Option<IpAddr>>;

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

/// The client that one element of `Forwarded` names.
fn node(element: &str) -> Option<IpAddr> {
    address(parameter(element, "for")?)
}

/// The value of a parameter in one element of `Forwarded`: pairs separated by `;` (RFC 7239, 4). `None` where it is there twice.
pub(super) fn parameter<'a>(element: &'a str, wanted: &str) -> Option<&'a str> {
    let mut named = split(element, ';').into_iter().filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        name.trim().eq_ignore_ascii_case(wanted).then_some(value.trim())
    });
    let value = named.next().filter(|_| named.next().is_none())?;
    // Neither an address nor a host needs an escape, so a value with one is neither.
    Some(value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value))
}

/// The parts between separators outside of quotes. An unclosed quote takes in the rest, so that the element is not
/// readable.
pub(super) fn split(text: &str, separator: char) -> Vec<&str> {
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
