//! What a TLS error means, and what an operator can do about it.

use crate::pinned::is_of_an_authority;
use std::io;
use tokio_rustls::rustls;

/// The problem of a TLS connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsTrouble {
    /// No trusted authority signed the certificate.
    UnknownIssuer,
    /// The certificate is for another name.
    OtherName,
    /// The certificate has expired.
    Expired,
    /// The bytes are not TLS.
    NotTls,
    /// The other side refused the connection.
    Refused,
}

impl TlsTrouble {
    /// What an operator can do about it, where the server is an upstream.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            TlsTrouble::UnknownIssuer => {
                "this machine does not trust the certificate: install its authority, or name a PEM file with `daylight repo set NAME --trust FILE`"
            }
            TlsTrouble::OtherName => "the certificate is for another name: is the URL right?",
            TlsTrouble::Expired => "the certificate has expired; is the clock of this machine right?",
            TlsTrouble::NotTls => "the answer is not TLS: does this port speak plain `http`?",
            TlsTrouble::Refused => {
                "the host refused the connection: if it needs a client certificate, name one with `daylight repo set NAME --certificate FILE`"
            }
        }
    }
}

/// What a TLS error means.
pub(crate) fn trouble(error: &io::Error) -> Option<TlsTrouble> {
    use rustls::CertificateError as C;
    match found(error)? {
        authority if is_of_an_authority(authority) => Some(TlsTrouble::UnknownIssuer),
        rustls::Error::InvalidCertificate(C::UnknownIssuer | C::BadSignature) => Some(TlsTrouble::UnknownIssuer),
        rustls::Error::InvalidCertificate(C::NotValidForName | C::NotValidForNameContext { .. }) => {
            Some(TlsTrouble::OtherName)
        }
        rustls::Error::InvalidCertificate(C::Expired | C::ExpiredContext { .. }) => Some(TlsTrouble::Expired),
        rustls::Error::InvalidMessage(_) => Some(TlsTrouble::NotTls),
        rustls::Error::AlertReceived(_) => Some(TlsTrouble::Refused),
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
