//! What a TLS error means, and what an operator can do about it.

use std::io;
use tokio_rustls::rustls;

/// What an operator can do about a TLS error.
pub(crate) fn hint(error: &io::Error) -> Option<&'static str> {
    use rustls::CertificateError as C;
    match found(error)? {
        rustls::Error::InvalidCertificate(C::UnknownIssuer | C::BadSignature) => Some(
            "its certificate is signed by nobody that this machine trusts: install the authority, or name its PEM file \
             with `trust`",
        ),
        rustls::Error::InvalidCertificate(C::NotValidForName | C::NotValidForNameContext { .. }) => {
            Some("its certificate is for another name: is the URL right?")
        }
        rustls::Error::InvalidCertificate(C::Expired | C::ExpiredContext { .. }) => {
            Some("its certificate has expired; is this machine's clock right?")
        }
        rustls::Error::InvalidMessage(_) => Some("what came is no TLS: does it speak plain `http` on that port?"),
        rustls::Error::AlertReceived(_) => {
            Some("it refused us: where it asks for a certificate, name one with `certificate`")
        }
        _ => None,
    }
}

/// The TLS error inside an error of the system.
fn found(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// Whether it is an error of TLS, and not of the connection below.
pub(crate) fn is_tls(error: &io::Error) -> bool {
    found(error).is_some()
}

/// The refusal that the other side sends after the handshake.
pub(crate) fn refusal(error: &io::Error) -> Option<io::Error> {
    match found(error) {
        Some(alert @ rustls::Error::AlertReceived(_)) => Some(io::Error::other(alert.clone())),
        _ => None,
    }
}
