//! The configuration of a handshake, from the text of a certificate and of its key.

use crate::error::Error;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio_rustls::rustls::{self, ServerConfig};

/// The certificate and the key. Whether they fit is not checked: rustls 0.23 cannot read the certificate of a challenge for that, as it does not
/// know its critical extension (RFC 8737 3).
pub(crate) fn certified(certificates: &[u8], key: &[u8]) -> Result<CertifiedKey, Error> {
    let pem = |what, error: rustls::pki_types::pem::Error| Error::Pem { what, cause: error.to_string() };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificates).collect();
    let chain = chain.map_err(|error| pem("certificate", error))?;
    if chain.is_empty() {
        return Err(Error::Pem { what: "certificate", cause: "the file contains none".to_owned() });
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| pem("key", error))?;
    let key = ring::default_provider().key_provider.load_private_key(key).map_err(Error::Certificate)?;
    Ok(CertifiedKey::new(chain, key))
}

/// A handshake with this certificate that agrees on one of `protocols`.
pub(crate) fn config(certified: CertifiedKey, protocols: &[&[u8]]) -> Result<ServerConfig, Error> {
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(Error::Certificate)?;
    let resolver = Arc::new(SingleCertAndKey::from(certified));
    let mut config = builder.with_no_client_auth().with_cert_resolver(resolver);
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Ok(config)
}
