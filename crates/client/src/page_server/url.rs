//! The URL of a server that keeps pages.

use super::command::PageProtocol;
use super::connection::PageConnection;
use crate::dial::{self, DIRECT};
use crate::error::Error;
use crate::secret::Secret;
use crate::set_up::SetUp;
use crate::target::Origin;
use std::sync::Arc;

/// The port of memcached, where the URL has none.
const MEMCACHED_PORT: u16 = 11211;
/// The port of Redis and Valkey, where the URL has none.
const REDIS_PORT: u16 = 6379;
/// The greatest weight of a server.
const WEIGHT_MAX: u32 = 1000;

/// A server that keeps pages: `memcached://HOST[:PORT][?weight=N]`, `redis://HOST[:PORT][/N]` or `rediss://HOST[:PORT][/N]`.
#[derive(Debug, Clone)]
pub struct PageServer {
    name: Arc<str>,
    authority: Box<str>,
    origin: Origin,
    protocol: PageProtocol,
    weight: u32,
}

impl PageServer {
    /// Reads the URL of a server. Fails where it has a path, credentials or parameters that are not known.
    pub fn new(url: &str) -> Result<Self, Error> {
        // The part before an `@` may be a password.
        let shown = || url.rsplit_once('@').map_or(url, |(_, host)| host).to_owned();
        read(url).map_err(|why| Error::NotAPageServer { url: shown(), why })
    }

    /// Its URL, without parameters.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Host and port, as Dalli writes them in its ring: `HOST:PORT`. The host is spelt as in the URL, and an IPv6 address has no brackets
    /// (`ServerConfigParser` of Dalli 3.0.6).
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Its protocol.
    pub fn protocol(&self) -> PageProtocol {
        self.protocol
    }

    /// Its share of the keys.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// Connects, performs the TLS handshake of `rediss`, proves who calls (`USER:PASSWORD`, or a password alone), and learns whether the
    /// server knows meta commands. Without a limit of time.
    pub async fn connect(&self, credentials: Option<&Secret>) -> Result<PageConnection, Error> {
        let stream = dial::dial(&self.origin, DIRECT, &mut SetUp::default()).await.map(|done| done.stream);
        let stream = stream.map_err(|error| error.of_host(&self.name))?;
        PageConnection::greet(self.name.clone(), Box::pin(stream), self.protocol, credentials).await
    }
}

fn read(url: &str) -> Result<PageServer, &'static str> {
    let (scheme, rest) = url.split_once("://").ok_or("it has no scheme")?;
    let (is_memcached, tls) = match scheme {
        "memcached" => (true, false),
        "redis" => (false, false),
        "rediss" => (false, true),
        _ => return Err("its scheme is none of `memcached`, `redis` and `rediss`"),
    };
    if rest.contains('@') {
        return Err("it has credentials");
    }
    if rest.contains('#') {
        return Err("it has a fragment");
    }
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (host, port) = split(authority, if is_memcached { MEMCACHED_PORT } else { REDIS_PORT })?;
    let protocol = match is_memcached {
        true if !path.is_empty() => return Err("it has a path"),
        true => PageProtocol::Memcached,
        false if path.is_empty() => PageProtocol::Redis { database: 0 },
        false => PageProtocol::Redis { database: number(path).ok_or("its path is not the number of a database")? },
    };
    let weight = match query {
        None => 1,
        Some(_) if !is_memcached => return Err("it has parameters"),
        Some(query) => {
            let weight = query.strip_prefix("weight=").ok_or("it has a parameter other than `weight`")?;
            let weight = number(weight).filter(|weight| (1..=WEIGHT_MAX).contains(weight));
            weight.ok_or("its weight is not a number from 1 to 1000")?
        }
    };
    let name = url.split('?').next().unwrap_or_default().trim_end_matches('/').into();
    let origin = Origin { tls, name: host.to_ascii_lowercase(), port };
    Ok(PageServer { name, authority: format!("{host}:{port}").into(), origin, protocol, weight })
}

/// Host, without the brackets of an IPv6 address, and port.
fn split(authority: &str, default: u16) -> Result<(&str, u16), &'static str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']').ok_or("its address has no `]`")?;
            host.parse::<std::net::Ipv6Addr>().map_err(|_| "its address is no IPv6 address")?;
            let port = if port.is_empty() { None } else { Some(port.strip_prefix(':').ok_or("it is no URL")?) };
            (host, port)
        }
        None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
    if host.is_empty() {
        return Err("it names no host");
    }
    if !host.bytes().all(is_of_host) {
        return Err("its host has characters that no host has");
    }
    let Some(port) = port else { return Ok((host, default)) };
    let port = number(port).and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0);
    Ok((host, port.ok_or("its port is not a number from 1 to 65535")?))
}

/// A number of digits alone.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_host_with_its_usual_port_and_what_its_protocol_knows() {
        let redis = |database| PageProtocol::Redis { database };
        for (url, name, authority, protocol, weight) in [
            ("memcached://a", "memcached://a", "a:11211", PageProtocol::Memcached, 1),
            ("memcached://a/", "memcached://a", "a:11211", PageProtocol::Memcached, 1),
            (
                "memcached://Cache-1.x:99?weight=7",
                "memcached://Cache-1.x:99",
                "Cache-1.x:99",
                PageProtocol::Memcached,
                7,
            ),
            ("memcached://[::1]:9", "memcached://[::1]:9", "::1:9", PageProtocol::Memcached, 1),
            ("memcached://[::1]", "memcached://[::1]", "::1:11211", PageProtocol::Memcached, 1),
            ("redis://127.0.0.1", "redis://127.0.0.1", "127.0.0.1:6379", redis(0), 1),
            ("redis://r:1/3", "redis://r:1/3", "r:1", redis(3), 1),
            ("rediss://r/0", "rediss://r/0", "r:6379", redis(0), 1),
        ] {
            let server = PageServer::new(url).unwrap();
            let read = (server.name(), server.authority(), server.protocol(), server.weight());
            assert_eq!(read, (name, authority, protocol, weight), "{url}");
            assert_eq!(server.origin.tls, url.starts_with("rediss"));
        }
    }

    #[test]
    fn any_other_url_is_refused_in_words() {
        for (url, why) in [
            ("127.0.0.1:11211", "it has no scheme"),
            ("", "it has no scheme"),
            ("http://a", "its scheme is none"),
            ("memcached://", "it names no host"),
            ("memcached://:1", "it names no host"),
            ("memcached://a:", "its port"),
            ("memcached://a:0", "its port"),
            ("memcached://a:65536", "its port"),
            ("memcached://a:+1", "its port"),
            ("memcached://a:1:2", "its port"),
            ("memcached://a b", "its host has characters"),
            ("memcached://[::1", "its address has no"),
            ("memcached://[x]:1", "its address is no IPv6"),
            ("memcached://[::1]1", "it is no URL"),
            ("memcached://a/1", "it has a path"),
            ("memcached://a?weight=0", "its weight"),
            ("memcached://a?weight=1001", "its weight"),
            ("memcached://a?weight=", "its weight"),
            ("memcached://a?weight=1&b=2", "its weight"),
            ("memcached://a?b=2", "it has a parameter other"),
            ("redis://a?db=2", "it has parameters"),
            ("redis://a/x", "its path is not"),
            ("redis://a/1/2", "its path is not"),
            ("redis://a#x", "it has a fragment"),
        ] {
            let error = PageServer::new(url).unwrap_err();
            assert_eq!(error.label(), "not_a_page_server");
            assert!(error.to_string().contains(why) && error.to_string().contains(url), "{url}: {error}");
        }
    }

    #[test]
    fn a_password_in_the_url_is_refused_and_not_shown() {
        for url in ["redis://me:hush@app", "redis://:hush@app/1", "memcached://hush@app", "http://a:hush@app"] {
            let error = PageServer::new(url).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hush") && error.to_string().contains("app"), "{error}");
        }
    }
}
