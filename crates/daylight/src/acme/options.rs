//! What the settings say about the authority and the names of the certificate.

use client::{Secret, Trust};
use std::path::PathBuf;

/// The authority, and the names that the certificate is for.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// The URL of the authority's directory, `https://...` (RFC 8555 7.1.1).
    pub(crate) directory: String,
    /// The names of the certificate: DNS names in lower case, and IP addresses.
    pub(crate) names: Vec<String>,
    /// Mail addresses, without `mailto:`.
    pub(crate) contact: Vec<String>,
    /// The certificates that the authority's own server may have.
    pub(crate) trust: Trust,
    /// The account at the authority that an account of the protocol is bound to, where the authority wants one.
    pub(crate) eab: Option<Eab>,
    /// How the authority checks the names.
    pub(crate) challenge: ChallengeKind,
    /// The folder of the account and the certificate.
    pub(crate) folder: PathBuf,
}

/// An account at the authority (external account binding, RFC 8555 7.3.4).
#[derive(Debug, Clone)]
pub(crate) struct Eab {
    /// Its name, which the authority gives.
    pub(crate) key_id: String,
    /// Its key, in base64url.
    pub(crate) key: Secret,
}

/// How the authority checks that a name leads to this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChallengeKind {
    /// By a request without TLS to port 80 (RFC 8555 8.3).
    Http01,
    /// By a handshake on port 443 (RFC 8737).
    TlsAlpn01,
}

impl ChallengeKind {
    /// Its name in the protocol.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Http01 => "http-01",
            Self::TlsAlpn01 => "tls-alpn-01",
        }
    }

    /// What must be possible for it to succeed.
    pub(super) fn needs(self) -> &'static str {
        match self {
            Self::Http01 => "port 80 of each name must lead to `server.http_listen`, from where the authority is",
            Self::TlsAlpn01 => {
                "port 443 of each name must lead to `server.listen`, from where the authority is, and nothing on the way may end TLS"
            }
        }
    }
}
