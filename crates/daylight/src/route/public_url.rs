//! The URL by which a client reaches the server, for everything that shows a URL of ours: [`PublicUrls::of`].
//!
//! `server.public_url` comes first. Without it, the URL is that in the headers of a trusted proxy (`Forwarded` or
//! `X-Forwarded-*`, whichever `server.client_from` names). Without a proxy it is made from the `Host` that the client
//! sent. A client can send any `Host`, so an answer with such a URL is for this client alone: it becomes no page and no
//! cache may store it.

use crate::config::{Server, Settings};
use front::{ClientFrom, ForwardedUrl, Proxies, Reply, Request};
use http::{HeaderName, HeaderValue, header};
use repository::ServerUrl;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use telemetry::{ClientAddresses, Log};

/// Maximum length of a host name (RFC 1035), in bytes.
const HOST_MAX: usize = 253;
/// Maximum length of the path prefix that a proxy adds, in bytes.
const PREFIX_MAX: usize = 256;
/// The headers in which proxies send a URL.
static TELLING: [HeaderName; 4] = [
    header::FORWARDED,
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-prefix"),
];

/// The proxies that the settings trust.
pub(crate) fn proxies(server: &Server) -> Proxies {
    Proxies { trusted: server.trusted_proxies.0.clone(), client_from: server.client_from }
}

/// Warns at the start if URLs in answers will be wrong.
pub(crate) fn warn(settings: &Settings, address: SocketAddr, log: &Log) {
    let server = &settings.server;
    let tls = settings.speaks_tls();
    let told = matches!(server.client_from, ClientFrom::XForwardedFor | ClientFrom::Forwarded);
    match &server.public_url.0 {
        Some(url) if tls && url.starts_with("http:") => {
            let hint = "begin `server.public_url` with `https`, unless a proxy in front serves plain HTTP";
            log.warn("`server.public_url` is plain HTTP, and this server speaks TLS", &[("url", url), ("hint", &hint)]);
        }
        None if !tls && !told && !address.ip().is_loopback() => {
            let message = "`server.public_url` is not set: URLs in answers have the host of each request, and begin with `http`, \
                           also behind a proxy that serves TLS";
            let hint = "set `server.public_url`; or set `server.trusted_proxies` and `server.client_from`, if your proxy \
                        sets forwarding headers";
            log.warn(message, &[("listening", &address), ("hint", &hint)]);
        }
        _ => {}
    }
}

/// Computes the public URL for each request.
pub struct PublicUrls {
    configured: Option<String>,
    /// The URL of the listening socket.
    listening: String,
    proxies: Proxies,
    client_addresses: ClientAddresses,
    log: Log,
    /// Whether the log has named an untrusted proxy.
    named: AtomicBool,
}

impl PublicUrls {
    /// `listening` is the URL of the socket, without a slash at the end.
    pub fn new(server: &Server, listening: String, client_addresses: ClientAddresses, log: Log) -> Self {
        let (configured, proxies) = (server.public_url.0.clone(), proxies(server));
        Self { configured, listening, proxies, client_addresses, log, named: AtomicBool::new(false) }
    }

    /// The URL without a request.
    pub fn configured(&self) -> &str {
        self.configured.as_deref().unwrap_or(&self.listening)
    }

    /// Whether the settings have the URL, so that it is the same for all clients.
    pub(crate) fn is_configured(&self) -> bool {
        self.configured.is_some()
    }

    /// Whether clients reach the server as it is, as far as the settings say: no proxy is trusted, and no other URL is public.
    pub(crate) fn is_reached_directly(&self) -> bool {
        self.configured.is_none()
            && (self.proxies.trusted.is_empty() || self.proxies.client_from == ClientFrom::Connection)
    }

    /// The URL by which the client of `request` reaches the server.
    pub(crate) fn of(&self, request: &Request) -> RequestUrl<'_> {
        let asked = self.configured.is_none().then(|| self.asked(request));
        RequestUrl { urls: self, asked, shown: AtomicBool::new(false) }
    }

    fn asked(&self, request: &Request) -> Asked {
        let told = self.proxies.forwarded_url(request.peer, &request.headers);
        if told.is_none() && TELLING.iter().any(|name| request.headers.contains_key(name)) {
            self.name(request.peer);
        }
        Asked { told, host: request.host().map(str::to_owned), tls: request.tls }
    }

    /// Logs, once, that an untrusted peer sends forwarding headers.
    fn name(&self, peer: IpAddr) {
        if !self.named.swap(true, Relaxed) {
            let message = "forwarding headers of an untrusted address are ignored, so URLs in answers may be wrong";
            let hint =
                "if this is your proxy, set `server.public_url`, or `server.trusted_proxies` and `server.client_from`";
            self.log.warn(message, &[("from", &self.client_addresses.text(peer)), ("hint", &hint)]);
        }
    }
}

/// The public URL for one request. It records whether it was used.
pub(crate) struct RequestUrl<'a> {
    urls: &'a PublicUrls,
    /// What the URL follows from, where no setting has it.
    asked: Option<Asked>,
    shown: AtomicBool,
}

impl RequestUrl<'_> {
    /// Keeps a reply that contains this URL out of every cache, including ours, unless all clients get the same URL.
    pub(crate) fn protect(&self, reply: &mut Reply) {
        if self.shown.load(Relaxed) {
            reply.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        }
    }
}

impl ServerUrl for RequestUrl<'_> {
    fn url(&self) -> String {
        match self.asked.as_ref().and_then(Asked::origin) {
            None => {
                // Without the setting, a request without a valid host must not decide what other clients get.
                self.shown.store(self.urls.configured.is_none(), Relaxed);
                self.urls.configured().to_owned()
            }
            Some(origin) => {
                self.shown.store(true, Relaxed);
                origin.to_string()
            }
        }
    }
}

impl ServerUrl for PublicUrls {
    fn url(&self) -> String {
        self.configured().to_owned()
    }
}

/// What a request tells of the URL by which its client reaches the server. Most answers show no URL, and do not check it.
#[derive(Debug)]
struct Asked {
    /// By a trusted proxy.
    told: Option<ForwardedUrl>,
    host: Option<String>,
    tls: bool,
}

impl Asked {
    fn origin(&self) -> Option<Origin> {
        match &self.told {
            Some(told) => Origin::of(told, self.host.as_deref(), self.tls),
            None => Origin::of(&ForwardedUrl::default(), self.host.as_deref(), self.tls),
        }
    }
}

/// A checked URL of this server.
#[derive(Debug, PartialEq, Eq)]
struct Origin {
    tls: bool,
    /// In lower case; an IPv6 address in brackets.
    host: String,
    port: Option<u16>,
    /// Empty, or a path that begins with a slash and does not end in one.
    prefix: String,
}

impl Origin {
    /// The URL from a proxy's headers, the host of the request, and whether the connection uses TLS. `None`: there is
    /// no valid host.
    fn of(told: &ForwardedUrl, host: Option<&str>, tls: bool) -> Option<Self> {
        let tls = match told.scheme.as_deref() {
            Some(scheme) if scheme.eq_ignore_ascii_case("https") => true,
            Some(scheme) if scheme.eq_ignore_ascii_case("http") => false,
            _ => tls,
        };
        let (host, port) = told.host.as_deref().and_then(host_and_port).or_else(|| host_and_port(host?))?;
        let port = port.or_else(|| told.port.as_deref().and_then(read_port));
        let prefix = told.prefix.as_deref().and_then(read_prefix).unwrap_or_default();
        Some(Self { tls, host, port: port.filter(|port| *port != if tls { 443 } else { 80 }), prefix })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tls, host, port, prefix } = self;
        write!(f, "{}://{host}", if *tls { "https" } else { "http" })?;
        port.iter().try_for_each(|port| write!(f, ":{port}"))?;
        f.write_str(prefix)
    }
}

/// Parses a name or an address with an optional port. Credentials, spaces, control characters and escapes are invalid.
pub(super) fn host_and_port(text: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            let address: Ipv6Addr = address.parse().ok()?;
            (format!("[{address}]"), port)
        }
        None => {
            let (name, port) = text.split_at(text.find(':').unwrap_or(text.len()));
            // A fully qualified name ends with a dot (RFC 3986 3.2.2).
            let name = name.strip_suffix('.').unwrap_or(name);
            let label = |label: &str| {
                let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
                !label.is_empty() && label.bytes().all(known)
            };
            let valid = name.len() <= HOST_MAX && name.split('.').all(label);
            (valid.then(|| name.to_ascii_lowercase())?, port)
        }
    };
    match port.strip_prefix(':') {
        None if port.is_empty() => Some((host, None)),
        None => None,
        // RFC 3986 3.2.3: a port may be empty.
        Some("") => Some((host, None)),
        Some(digits) => Some((host, Some(read_port(digits)?))),
    }
}

fn read_port(text: &str) -> Option<u16> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| digits && *port != 0)
}

/// Parses a path of plain characters. A second slash would begin a host.
fn read_prefix(text: &str) -> Option<String> {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    let segment =
        |segment: &str| !segment.is_empty() && segment.bytes().all(known) && !segment.trim_matches('.').is_empty();
    let path = text.strip_suffix('/').unwrap_or(text);
    let valid = path.len() <= PREFIX_MAX && path.strip_prefix('/')?.split('/').all(segment);
    valid.then(|| path.to_owned())
}

impl fmt::Debug for PublicUrls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PublicUrls").field(&self.configured()).finish()
    }
}

impl fmt::Debug for RequestUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RequestUrl").field(&self.asked).finish()
    }
}

#[cfg(test)]
mod tests;
