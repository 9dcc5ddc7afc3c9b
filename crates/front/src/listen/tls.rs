//! TLS: the certificate, which may be replaced while the server runs, and the handshake.

use super::challenge::Challenges;
use super::handshake::{certified, config};
use crate::error::Error;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::server::Acceptor;
use tokio_rustls::rustls::{self, InconsistentKeys, ServerConfig};
use tokio_rustls::server::TlsStream;
use tokio_rustls::{LazyConfigAcceptor, TlsAcceptor};

/// The name of HTTP/2 in ALPN.
pub(crate) const HTTP2: &[u8] = b"h2";

/// Protocols that the server offers, the preferred one first.
const PROTOCOLS: [&[u8]; 2] = [HTTP2, b"http/1.1"];

/// The current certificate and its key. Open connections keep the certificate of their handshake.
#[derive(Debug)]
pub struct Tls {
    current: RwLock<Arc<ServerConfig>>,
    challenges: Challenges,
}

/// The peer of a handshake.
pub(crate) enum Accepted {
    /// A client, which sends requests.
    Client(Box<TlsStream<TcpStream>>),
    /// An authority, which wanted to see a certificate and has disconnected.
    Authority,
}

impl Tls {
    /// From PEM: the certificate with its chain, its own first, and the key.
    pub fn new(certificates: &[u8], key: &[u8]) -> Result<Arc<Self>, Error> {
        let current = RwLock::new(of_clients(certificates, key)?);
        Ok(Arc::new(Self { current, challenges: Challenges::default() }))
    }

    /// Replaces the certificate. After an error the previous one stays.
    pub fn replace(&self, certificates: &[u8], key: &[u8]) -> Result<(), Error> {
        let config = of_clients(certificates, key)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = config;
        Ok(())
    }

    /// Shows a certificate to authorities that ask with the protocol `acme-tls/1` for `name` (RFC 8737), in place of a former one for this
    /// name. Their connection ends with the handshake; all other clients see the current certificate. PEM, as for [`Tls::new`].
    pub fn show_challenge(&self, name: &str, certificates: &[u8], key: &[u8]) -> Result<(), Error> {
        self.challenges.show(name, certificates, key)
    }

    /// Shows authorities no certificate for `name` any more.
    pub fn hide_challenge(&self, name: &str) {
        self.challenges.hide(name);
    }

    /// The number of handshakes since the start in which an authority got a certificate of [`Tls::show_challenge`].
    pub fn challenges_shown(&self) -> u64 {
        self.challenges.shown()
    }

    /// Performs the handshake.
    pub(crate) async fn accept(&self, tcp: TcpStream) -> io::Result<Accepted> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        if self.challenges.is_empty() {
            return Ok(Accepted::Client(Box::new(TlsAcceptor::from(current).accept(tcp).await?)));
        }
        let handshake = LazyConfigAcceptor::new(Acceptor::default(), tcp).await?;
        match self.challenges.of(&handshake.client_hello()) {
            Some(challenge) => {
                let mut stream = handshake.into_stream(challenge).await?;
                self.challenges.count();
                // The authority may have closed the connection: it has what it wanted.
                let _ = stream.shutdown().await;
                Ok(Accepted::Authority)
            }
            None => Ok(Accepted::Client(Box::new(handshake.into_stream(current).await?))),
        }
    }
}

/// The handshake with clients.
fn of_clients(certificates: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>, Error> {
    let certified = certified(certificates, key)?;
    match certified.keys_match() {
        Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => {}
        Err(error) => return Err(Error::Certificate(error)),
    }
    let mut config = config(certified, &PROTOCOLS)?;
    // Sessions are resumed with tickets that clients keep, so the server stores no sessions.
    config.ticketer = ring::Ticketer::new().map_err(Error::Certificate)?;
    Ok(Arc::new(config))
}
