//! What an operator can do about an error.

use super::Error;
use crate::tls_error::{self, TlsTrouble};
use crate::zone::Zone;

impl Error {
    /// What an operator can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::NotABackend { .. } => Some("it is `http://HOST:PORT`, `https://HOST:PORT` or `unix:/PATH`"),
            Error::NotAPageServer { .. } => Some(
                "it is `memcached://HOST:PORT`, `memcached://HOST:PORT?weight=N`, `redis://HOST:PORT/N` or `rediss://HOST:PORT/N`; the credentials are a setting of their own",
            ),
            Error::NotADatabase { .. } => {
                Some("it is `postgres://USER@HOST:PORT/NAME`; the password is a setting of its own")
            }
            Error::DatabaseWithoutTls { .. } => {
                Some("set `ssl = on` in the settings of PostgreSQL, with a certificate and its key")
            }
            Error::BadPem { .. } => Some("a PEM file has certificates in it, and for a client certificate its key"),
            Error::Tls { source, .. } => tls_error::trouble(source).map(TlsTrouble::hint),
            Error::ProxyRefuses { status: 407, .. } => {
                Some("it requires credentials, or rejects the ones that were sent")
            }
            Error::CredentialsUnsendable { .. } => Some("look for a line break at the end of the token"),
            Error::NotHttp { .. } => Some("check the port, and whether it expects `http` or `https`"),
            Error::OutOfReach { .. } => Some("if this host is intended, make it the URL of the repository"),
            Error::NetworkNotAllowed { zone: Zone::LinkLocal, .. } => Some(
                "clouds serve machine credentials at such addresses; `upstream.link_local_networks = true` allows them",
            ),
            Error::NetworkNotAllowed { .. } => Some("`upstream.private_networks = true` allows it"),
            Error::MovedInside { .. } => Some(
                "if the upstream moved there, run `daylight repo set NAME --remote URL`; otherwise its DNS name may have been hijacked",
            ),
            Error::Unresolved { .. } => Some("check the spelling of the name, and this machine's DNS"),
            _ => None,
        }
    }
}
