//! Trusted certificates and client certificates for TLS connections.

use crate::error::Error;
use crate::pinned::PinnedVerifier;
use crate::validity::Validity;
use std::io;
use std::sync::{Arc, LazyLock};
use telemetry::Millis;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, ConfigBuilder, RootCertStore};

/// The text of a PEM file. It may contain a key, so it cannot be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Pem(Vec<u8>);

impl From<Vec<u8>> for Pem {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl Pem {
    /// When its first certificate expires; `None` if it cannot be read.
    pub(crate) fn expires(&self) -> Option<Millis> {
        Validity::read(&self.0).map(|validity| validity.ends)
    }
}

impl std::fmt::Debug for Pem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pem(***)")
    }
}

/// The TLS settings of one upstream.
#[derive(Debug, Clone)]
pub(crate) struct Tls {
    /// For its own hosts. `None`: the settings of the machine, which all upstreams share.
    own: Option<Arc<ClientConfig>>,
    /// For hosts that its redirects lead to. They get no client certificate.
    others: Option<Arc<ClientConfig>>,
}

impl Tls {
    /// Trusts the certificates of the machine, and sends no client certificate.
    pub(crate) const MACHINE: Tls = Tls { own: None, others: None };

    /// `trust`: certificates that are trusted besides the machine's. `certificate`: the client certificate, with its
    /// key.
    pub(crate) fn new(trust: Option<&Pem>, certificate: Option<&Pem>) -> Result<Self, Error> {
        let others = match trust {
            Some(trust) => Some(quiet(trusting(trust)?)),
            None => None,
        };
        let own = match certificate {
            Some(certificate) => Some(showing(certificate, trust)?),
            None => others.clone(),
        };
        Ok(Self { own, others })
    }

    /// Performs the handshake with the server `name`.
    pub(crate) async fn connect(&self, name: &str, own: bool, tcp: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        static MACHINE: LazyLock<Option<Arc<ClientConfig>>> = LazyLock::new(|| builder(machine()).ok().map(quiet));
        let name = ServerName::try_from(name.to_owned()).map_err(io::Error::other)?;
        let config = if own { &self.own } else { &self.others };
        let config = config.as_ref().or(MACHINE.as_ref()).ok_or(io::ErrorKind::Unsupported)?;
        TlsConnector::from(config.clone()).connect(name, tcp).await
    }
}

/// The certificate authorities that the machine trusts. An unreadable one is left out.
fn machine() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

/// Trusts these certificates besides the machine's: as authorities, and as certificates of servers.
fn trusting(trust: &Pem) -> Result<Builder, Error> {
    let what = "trusted certificates";
    let (mut roots, trusted) = (machine(), certificates(trust, what)?);
    for certificate in &trusted {
        roots.add(certificate.clone()).map_err(|error| unusable(what, &error))?;
    }
    let verifier = PinnedVerifier::new(roots, trusted).map_err(|error| unusable(what, &error))?;
    Ok(versions()?.dangerous().with_custom_certificate_verifier(verifier))
}

fn certificates(pem: &Pem, what: &'static str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem.0).collect();
    let found = found.map_err(|error| unusable(what, &error))?;
    if found.is_empty() { Err(unusable(what, &"the file contains none")) } else { Ok(found) }
}

type Builder = ConfigBuilder<ClientConfig, rustls::client::WantsClientCert>;

fn versions() -> Result<ConfigBuilder<ClientConfig, rustls::WantsVerifier>, Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    builder.with_safe_default_protocol_versions().map_err(|error| unusable("TLS", &error))
}

fn builder(roots: RootCertStore) -> Result<Builder, Error> {
    Ok(versions()?.with_root_certificates(roots))
}

fn quiet(builder: Builder) -> Arc<ClientConfig> {
    Arc::new(builder.with_no_client_auth())
}

fn showing(certificate: &Pem, trust: Option<&Pem>) -> Result<Arc<ClientConfig>, Error> {
    let builder = trust.map_or_else(|| builder(machine()), trusting)?;
    let chain = certificates(certificate, "certificate")?;
    let key = PrivateKeyDer::from_pem_slice(&certificate.0).map_err(|error| unusable("certificate's key", &error))?;
    let config = builder.with_client_auth_cert(chain, key);
    config.map(Arc::new).map_err(|error| unusable("certificate", &error))
}

fn unusable(what: &'static str, cause: &dyn std::fmt::Display) -> Error {
    Error::BadPem { what, cause: cause.to_string() }
}
