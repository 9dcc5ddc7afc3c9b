//! TLS: the certificate, which may be replaced while the server runs, and the handshake.

use crate::error::Error;
use std::sync::{Arc, PoisonError, RwLock};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};
use tokio_rustls::server::TlsStream;

/// The name of HTTP/2 in ALPN.
pub(crate) const HTTP2: &[u8] = b"h2";

/// Protocols that the server offers, the preferred one first.
const PROTOCOLS: [&[u8]; 2] = [HTTP2, b"http/1.1"];

/// The current certificate and its key. Open connections keep the certificate of their handshake.
#[derive(Debug)]
pub struct Tls(RwLock<Arc<ServerConfig>>);

impl Tls {
    /// From PEM: the certificate with its chain, its own first, and the key.
    pub fn new(certificates: &[u8], key: &[u8]) -> Result<Arc<Self>, Error> {
        Ok(Arc::new(Self(RwLock::new(config(certificates, key)?))))
    }

    /// Replaces the certificate. After an error the previous one stays.
    pub fn replace(&self, certificates: &[u8], key: &[u8]) -> Result<(), Error> {
        let config = config(certificates, key)?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = config;
        Ok(())
    }

    /// Performs the handshake.
    pub(crate) async fn accept(&self, tcp: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        let config = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        TlsAcceptor::from(config).accept(tcp).await
    }
}

fn config(certificates: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>, Error> {
    let pem = |what, error: rustls::pki_types::pem::Error| Error::Pem { what, cause: error.to_string() };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificates).collect();
    let chain = chain.map_err(|error| pem("certificate", error))?;
    if chain.is_empty() {
        return Err(Error::Pem { what: "certificate", cause: "the file contains none".to_owned() });
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| pem("key", error))?;
    let build = || {
        let provider = Arc::new(ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        // Sessions are resumed with tickets that clients keep, so the server stores no sessions.
        config.ticketer = ring::Ticketer::new()?;
        Ok(Arc::new(config))
    };
    build().map_err(Error::Certificate)
}
