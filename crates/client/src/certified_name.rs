//! Whether a certificate is for a name.

use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use webpki::EndEntityCert;

/// Whether the first certificate of a PEM text is for this DNS name or IP address (RFC 9525 6.3). A text that cannot be read is for none.
pub fn is_for(pem: &[u8], name: &str) -> bool {
    let Some(Ok(certificate)) = CertificateDer::pem_slice_iter(pem).next() else { return false };
    let Ok(name) = ServerName::try_from(name) else { return false };
    let Ok(certificate) = EndEntityCert::try_from(&certificate) else { return false };
    certificate.verify_is_valid_for_subject_name(&name).is_ok()
}
