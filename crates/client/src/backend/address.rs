//! Where a backend listens, and how a connection to it is opened.

use super::connection::BackendConnection;
use crate::dial::{self, DIRECT};
use crate::error::Error;
use crate::set_up::SetUp;
use crate::stream::Stream;
use crate::target::{Origin, Target};
use std::path::PathBuf;
use std::sync::Arc;
use telemetry::{Event, Op};

/// The longest path of a unix socket, in bytes (unix(7): `sun_path` has 108, the last of them 0).
const SOCKET_PATH_MAX_BYTES: usize = 107;

/// A server that runs an application: `http://HOST[:PORT]`, `https://HOST[:PORT]` or `unix:/PATH`.
#[derive(Debug, Clone)]
pub struct Backend {
    name: Arc<str>,
    address: Address,
}

#[derive(Debug, Clone)]
enum Address {
    Origin(Origin),
    Socket(PathBuf),
}

impl Backend {
    /// Reads the URL of a backend. Fails where it has a path, a query or credentials, or another scheme.
    pub fn new(url: &str) -> Result<Self, Error> {
        let address = match url.strip_prefix("unix:") {
            Some(path) => socket(path).map(Address::Socket),
            None => origin(url).map(Address::Origin),
        };
        // What precedes an `@` may be a password.
        let shown = || url.rsplit_once('@').map_or(url, |(_, host)| host).to_owned();
        let address = address.map_err(|why| Error::NotABackend { url: shown(), why })?;
        Ok(Self { name: url.trim_end_matches('/').into(), address })
    }

    /// The URL, as given, without a slash at its end.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Connects, and performs the TLS handshake. Records `Op::AppConnect`, without a limit of time.
    pub async fn connect(&self, event: &mut Event) -> Result<BackendConnection, Error> {
        let _running = event.running(Op::AppConnect);
        let stream = match &self.address {
            Address::Origin(origin) => dial::dial(origin, DIRECT, &mut SetUp::default()).await.map(|done| done.stream),
            Address::Socket(path) => dial::dial_socket(path).await.map(Stream::Unix),
        };
        let stream = stream.map_err(|error| error.of_host(&self.name))?;
        BackendConnection::open(self.name.clone(), stream).await
    }
}

fn socket(path: &str) -> Result<PathBuf, &'static str> {
    match path {
        _ if !path.starts_with('/') => Err("the path of its socket is not absolute"),
        _ if path.contains('\0') => Err("the path of its socket has a byte that no path has"),
        _ if path.len() > SOCKET_PATH_MAX_BYTES => Err("the path of its socket is longer than 107 bytes"),
        _ => Ok(path.into()),
    }
}

fn origin(url: &str) -> Result<Origin, &'static str> {
    let (_, rest) = url.split_once("://").ok_or("it has no scheme")?;
    if rest.contains('@') {
        return Err("it has credentials");
    }
    let target = Target::of(url).map_err(|_| "it is no URL of a server")?;
    if target.path != "/" || url.contains(['?', '#']) {
        return Err("it has a path or a query");
    }
    let port = target.authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'));
    if port.is_some_and(|(_, port)| !port.parse::<u16>().is_ok_and(|port| port > 0)) {
        return Err("its port is not a number from 1 to 65535");
    }
    if target.origin.name.is_empty() {
        return Err("it names no host");
    }
    Ok(target.origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backend_is_a_host_or_a_socket_and_nothing_else() {
        for url in
            ["http://127.0.0.1:3000", "http://app/", "https://app.example:8443", "http://[::1]:9", "unix:/run/a.sock"]
        {
            assert_eq!(Backend::new(url).unwrap().name(), url.trim_end_matches('/'));
        }
        let long = format!("unix:/{}", "a".repeat(107));
        for url in [
            "127.0.0.1:3000",
            "app",
            "",
            "ftp://app",
            "http://",
            "http://app/path",
            "http://app?x",
            "http://app/#x",
            "unix:run/a.sock",
            "unix:",
            "unix://host/x y\0",
            "tcp://app:1",
            "http://:80",
            "http://app:99999",
            "http://app:0",
            "http://app:",
            &long,
        ] {
            assert_eq!(Backend::new(url).err().map(|error| error.label()), Some("not_a_backend"), "{url}");
        }
    }

    #[test]
    fn a_password_in_the_url_is_refused_and_not_shown() {
        let error = Backend::new("http://me:hush@app").unwrap_err();
        assert!(!error.to_string().contains("hush") && error.to_string().contains("app"), "{error}");
    }
}
