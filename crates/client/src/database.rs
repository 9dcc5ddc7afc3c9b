//! The way to a PostgreSQL server: its URL, and connections to it, with TLS where certificates are trusted.
//!
//! The statements on a connection are not the concern of this crate. It only asks for TLS, which PostgreSQL wants before anything else is said.

use crate::dial::{DIRECT, DialOptions, LOST_AFTER, dial};
use crate::error::Error;
use crate::request::Trust;
use crate::set_up::SetUp;
use crate::stream::Stream;
use crate::target::Origin;
use crate::tls_error::is_tls;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The port of PostgreSQL, where the URL has none.
const PORT: u16 = 5432;
/// The role, where the URL has none.
const USER: &str = "daylight";
/// Longest name of a role or a database, in bytes (`NAMEDATALEN` of PostgreSQL, without the NUL).
const NAME_MAX: usize = 63;
/// How long making a connection may take, TLS included.
const PATIENCE: Duration = Duration::from_secs(4);
/// Asks for TLS: its length of 8 bytes, and the code 80877103 (PostgreSQL 15, protocol, `SSLRequest`).
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// A database of a PostgreSQL server: `postgres://[USER@]HOST[:PORT]/NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseUrl {
    user: String,
    origin: Origin,
    name: String,
}

impl DatabaseUrl {
    /// Reads a URL. Fails where it has a password or parameters.
    pub fn new(url: &str) -> Result<Self, Error> {
        // The part before an `@` may have a password.
        let shown = || url.rsplit_once('@').map_or(url, |(_, host)| host).to_owned();
        read(url).map_err(|why| Error::NotADatabase { url: shown(), why })
    }

    /// The role that it is used as.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The name of the database.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the server is on this machine, by its name.
    pub fn is_here(&self) -> bool {
        let name = self.origin.name.as_str();
        name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Opens a connection, on which nothing was said yet. `trust`: it is to be encrypted, and the server to have a certificate of one of
    /// these.
    pub async fn connect(
        &self,
        trust: Option<&Trust>,
    ) -> Result<impl AsyncRead + AsyncWrite + Send + Unpin + use<>, Error> {
        let connected = timeout(PATIENCE, self.connected(trust)).await;
        let waited_ms = PATIENCE.as_secs() * 1000;
        connected.unwrap_or_else(|_| Err(Error::Silent { host: self.origin.to_string(), waited_ms }))
    }

    async fn connected(&self, trust: Option<&Trust>) -> Result<Stream, Error> {
        let options = DialOptions { lost_after: Some(LOST_AFTER), ..DIRECT };
        let stream = dial(&self.origin, options, &mut SetUp::default()).await?.stream;
        match (trust, stream) {
            (Some(trust), Stream::Plain(tcp)) => self.encrypted(trust, tcp).await,
            (_, stream) => Ok(stream),
        }
    }

    async fn encrypted(&self, trust: &Trust, mut tcp: TcpStream) -> Result<Stream, Error> {
        let host = || self.origin.to_string();
        let unreachable = |source| Error::Unreachable { host: host(), source };
        tcp.write_all(&SSL_REQUEST).await.map_err(unreachable)?;
        // Nothing behind this byte is read before the handshake: it would not be encrypted (CVE-2021-23222).
        match tcp.read_u8().await.map_err(unreachable)? {
            b'S' => {}
            b'N' => return Err(Error::DatabaseWithoutTls { host: host() }),
            _ => return Err(Error::BadResponse { host: host(), why: "it is not that of PostgreSQL" }),
        }
        let tls = trust.0.connect(&self.origin.name, false, tcp).await.map_err(|source| match is_tls(&source) {
            true => Error::Tls { host: host(), source },
            false => unreachable(source),
        })?;
        Ok(Stream::Tls(Box::new(tls)))
    }
}

impl std::fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { user, origin, name } = self;
        write!(f, "postgres://{user}@{origin}/{name}")
    }
}

fn read(url: &str) -> Result<DatabaseUrl, &'static str> {
    let (scheme, rest) = url.split_once("://").ok_or("it has no scheme")?;
    if !matches!(scheme, "postgres" | "postgresql") {
        return Err("its scheme is not `postgres`");
    }
    let (user, rest) = rest.rsplit_once('@').unwrap_or((USER, rest));
    if user.contains(':') {
        return Err("it has a password");
    }
    if rest.contains(['?', '#']) {
        return Err("it has parameters");
    }
    let (authority, name) = rest.split_once('/').ok_or("it has no name of a database")?;
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or("its address has no `]`")?,
        None => authority.find(':').map_or((authority, ""), |colon| authority.split_at(colon)),
    };
    let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
    if host.is_empty() || !host.bytes().all(is_of_host) {
        return Err("it names no host");
    }
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => PORT,
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok().filter(|port| *port > 0).ok_or("its port is not a number from 1 to 65535")?
        }
        _ => return Err("its port is not a number from 1 to 65535"),
    };
    // No part of a URL is decoded, so nothing that would have to be encoded is read.
    let is_name = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        (1..=NAME_MAX).contains(&text.len()) && text.bytes().all(plain)
    };
    if !is_name(user) {
        return Err("its user is not 1 to 63 letters, digits, `.`, `-` and `_`");
    }
    if !is_name(name) {
        return Err("its database is not 1 to 63 letters, digits, `.`, `-` and `_`");
    }
    let origin = Origin { tls: false, name: host.to_ascii_lowercase(), port };
    Ok(DatabaseUrl { user: user.to_owned(), origin, name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    #[test]
    fn a_database_is_a_host_with_its_usual_port_a_name_and_perhaps_a_user() {
        for (url, shown, is_here) in [
            ("postgres://db.example/packages", "postgres://daylight@db.example:5432/packages", false),
            ("postgresql://me@DB:99/a-b.c_d", "postgres://me@db:99/a-b.c_d", false),
            ("postgres://[::1]:7/d", "postgres://daylight@[::1]:7/d", true),
            ("postgres://[::1]/d", "postgres://daylight@[::1]:5432/d", true),
            ("postgres://127.0.0.1/d", "postgres://daylight@127.0.0.1:5432/d", true),
            ("postgres://localhost:5433/d", "postgres://daylight@localhost:5433/d", true),
        ] {
            let read = DatabaseUrl::new(url).unwrap();
            assert_eq!((read.to_string().as_str(), read.is_here()), (shown, is_here), "{url}");
        }
    }

    #[test]
    fn any_other_url_is_refused_in_words_and_without_a_password() {
        for (url, why) in [
            ("db/packages", "it has no scheme"),
            ("mysql://db/packages", "its scheme is not `postgres`"),
            ("postgres://db", "it has no name of a database"),
            ("postgres://db/", "its database"),
            ("postgres://db/a/b", "its database"),
            ("postgres://db/a%20b", "its database"),
            ("postgres:///packages", "it names no host"),
            ("postgres://a b/packages", "it names no host"),
            ("postgres://db:/packages", "its port"),
            ("postgres://db:0/packages", "its port"),
            ("postgres://db:+1/packages", "its port"),
            ("postgres://db:65536/packages", "its port"),
            ("postgres://[::1]1/packages", "its port"),
            ("postgres://[::1/packages", "its address has no"),
            ("postgres://@db/packages", "its user"),
            ("postgres://db/packages?sslmode=disable", "it has parameters"),
            ("postgres://me:hush@db/packages", "it has a password"),
            ("postgres://me:h@ush@db/packages", "it has a password"),
        ] {
            let error = DatabaseUrl::new(url).unwrap_err();
            assert_eq!(error.label(), "not_a_database");
            assert!(error.to_string().contains(why) && !format!("{error:?}").contains("ush@"), "{url}: {error}");
        }
    }

    /// What a connection that wants TLS comes to at a server that gives this answer, and what the server was sent.
    #[expect(clippy::disallowed_methods, reason = "a fake server, not Daylight's")]
    fn asked(answer: &'static [u8]) -> (Error, Vec<u8>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("postgres://127.0.0.1:{}/d", listener.local_addr().unwrap().port());
        let server = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let mut request = vec![0; SSL_REQUEST.len()];
            socket.read_exact(&mut request).unwrap();
            socket.write_all(answer).unwrap();
            request
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let url = DatabaseUrl::new(&url).unwrap();
        let failed = runtime.block_on(url.connect(Some(&Trust::MACHINE))).err().unwrap();
        (failed, server.join().unwrap())
    }

    #[test]
    fn a_connection_that_is_to_be_encrypted_is_never_a_plain_one() {
        for (answer, label) in [
            (&b"N"[..], "database_without_tls"),
            (b"E\0\0\0\x10SFATAL\0", "bad_response"),
            (b"HTTP/1.1 400 Bad Request\r\n\r\n", "bad_response"),
            (b"", "unreachable"),
            // Bytes that somebody on the way puts behind the answer are part of the handshake.
            (b"SN\0\0\0\x08not a handshake", "tls"),
        ] {
            let (error, request) = asked(answer);
            assert_eq!((error.label(), &request[..]), (label, &SSL_REQUEST[..]), "{answer:?}: {error}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a fake server, not Daylight's")]
    fn without_trusted_certificates_nothing_is_sent_before_the_greeting() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("postgres://127.0.0.1:{}/d", listener.local_addr().unwrap().port());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let connected = runtime.block_on(DatabaseUrl::new(&url).unwrap().connect(None)).unwrap();
        drop(connected);
        let mut sent = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut sent).unwrap();
        assert_eq!(sent, b"");
        drop(listener);
        let down = runtime.block_on(DatabaseUrl::new(&url).unwrap().connect(None)).err().unwrap();
        assert_eq!(down.label(), "not_listening");
    }
}
