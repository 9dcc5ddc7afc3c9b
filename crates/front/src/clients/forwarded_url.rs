//! Reads the headers in which proxies tell the URL that the client used. A proxy may replace the value of the one before
//! it, or add its own value at the end, so a value counts from the end.

use super::forwarded::{parameter, split};
use http::{HeaderMap, HeaderName, header};

const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PORT: HeaderName = HeaderName::from_static("x-forwarded-port");
const X_FORWARDED_PREFIX: HeaderName = HeaderName::from_static("x-forwarded-prefix");

/// The parts of a URL as a proxy tells them. They are not checked: a proxy may pass on what a client made up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForwardedUrl {
    /// `http` or `https`.
    pub scheme: Option<String>,
    /// The host, perhaps with a port.
    pub host: Option<String>,
    /// The port.
    pub port: Option<String>,
    /// The path below which the proxy has the server.
    pub prefix: Option<String>,
}

/// Reads `X-Forwarded-Proto`, `-Host`, `-Port` and `-Prefix`. `nearer` is the number of trusted proxies between the one
/// that the client reached and this server.
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

/// The value with so many others behind it; the first one, where there are fewer.
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
