//! Accepts the certificate of a server that is itself in the file of trusted certificates.
//!
//! `openssl req -x509` makes a certificate of an authority (CA:TRUE), and people use it as the certificate of a server.
//! webpki refuses such a certificate, even a trusted one. It is accepted here if it equals, byte for byte, one of the
//! trusted certificates, and the server's name and the dates are valid. The handshake proves that the server has its key.

use std::sync::Arc;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::client::{WebPkiServerVerifier, verify_server_name};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::{ParsedCertificate, VerifierBuilderError};
use tokio_rustls::rustls::{self, CertificateError, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// Verifies servers against authorities, and against certificates of servers.
#[derive(Debug)]
pub(crate) struct PinnedVerifier {
    authorities: Arc<WebPkiServerVerifier>,
    pinned: Vec<CertificateDer<'static>>,
}

impl PinnedVerifier {
    /// `pinned` are the certificates that a server may present itself. `roots` contains them, too.
    pub(crate) fn new(
        roots: RootCertStore,
        pinned: Vec<CertificateDer<'static>>,
    ) -> Result<Arc<Self>, VerifierBuilderError> {
        let provider = Arc::new(ring::default_provider());
        let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build()?;
        Ok(Arc::new(Self { authorities, pinned }))
    }
}

/// Whether webpki refuses the certificate only because it is that of an authority. webpki checks the dates before that.
pub(crate) fn is_of_an_authority(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(CertificateError::Other(cause)) = error else { return false };
    matches!(cause.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

impl ServerCertVerifier for PinnedVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self.authorities.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            Err(error) if is_of_an_authority(&error) && self.pinned.iter().any(|pinned| pinned == end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.authorities.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.authorities.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests;
