//! Reads the headers in which proxies send the URL that the client used. A proxy may replace an earlier proxy's value, or
//! append its own, so values are counted from the end.

use super::forwarded::{parameter, split};
use http::{HeaderMap, HeaderName, header};

const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PORT: HeaderName = HeaderName::from_static("x-forwarded-port");
const X_FORWARDED_PREFIX: HeaderName = HeaderName::from_static("x-forwarded-prefix");

/// The parts of a URL in a proxy's headers. They are not checked: a proxy may forward values that a client forged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForwardedUrl {
    /// `http` or `https`.
    pub scheme: Option<String>,
    /// The host, perhaps with a port.
    pub host: Option<String>,
    /// The port.
    pub port: Option<String>,
    /// The path on the proxy that leads to the server.
    pub prefix: Option<String>,
}

/// Reads `X-Forwarded-Proto`, `-Host`, `-Port` and `-Prefix`. `nearer` is the number of trusted proxies between the first one
/// and this server.
pub(super) fn x_forwarded(headers: &HeaderMap, nearer: usize) -> ForwardedUrl {
    let value = |name: HeaderName| from_the_end(headers, &name, nearer).map(str::to_owned);
    ForwardedUrl {
        scheme: value(X_FORWARDED_PROTO),
        host: value(X_FORWARDED_HOST),
        port: value(X_FORWARDED_PORT),
        prefix: value(X_FORWARDED_PREFIX),
    }
}

/// Reads `proto` and `host` of `Forwarded` (RFC 7239).
pub(super) fn forwarded(headers: &HeaderMap, nearer: usize) -> ForwardedUrl {
    let element = from_the_end(headers, &header::FORWARDED, nearer);
    let value = |name| element.and_then(|element| parameter(element, name)).map(str::to_owned);
    ForwardedUrl { scheme: value("proto"), host: value("host"), ..ForwardedUrl::default() }
}

/// The value that is followed by `behind` others; the first value if there are fewer.
fn from_the_end<'a>(headers: &'a HeaderMap, name: &HeaderName, behind: usize) -> Option<&'a str> {
    let mut found = None;
    let lines: Vec<&str> = headers.get_all(name).iter().filter_map(|line| line.to_str().ok()).collect();
    let mut values = lines.iter().rev().flat_map(|line| split(line, ',').into_iter().rev());
    for _ in 0..=behind {
        let Some(value) = values.next() else { break };
        found = Some(value.trim());
    }
    found
}
