//! Why a call got no response.

mod hint;
mod names;

use crate::tls_error::{self, TlsTrouble};
use crate::zone::Zone;
use telemetry::Millis;

/// Which side a failure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The server that was called, or the network in between.
    Upstream,
    /// The caller.
    Caller,
}

/// A call that got no response. Hosts are `name:port`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL cannot be called.
    #[error("`{url}` is not a URL of the form `https://host:port/path`")]
    NotAUrl {
        /// The URL, without the part that may hold a password.
        url: String,
    },
    /// The URL is not that of a backend.
    #[error("`{url}` is not the URL of a backend: {why}")]
    NotABackend {
        /// The URL, without the part that may hold a password.
        url: String,
        /// The problem.
        why: &'static str,
    },
    /// The URL is not that of a server that keeps pages.
    #[error("`{url}` is not the URL of a server that keeps pages: {why}")]
    NotAPageServer {
        /// The URL, without the part that may hold a password.
        url: String,
        /// The problem.
        why: &'static str,
    },
    /// The URL is not that of a database.
    #[error("`{url}` is not the URL of a database: {why}")]
    NotADatabase {
        /// The URL, without the part that may hold a password.
        url: String,
        /// The problem.
        why: &'static str,
    },
    /// A PostgreSQL server refuses TLS.
    #[error("PostgreSQL at `{host}` speaks no TLS")]
    DatabaseWithoutTls {
        /// The host that was called.
        host: String,
    },
    /// A server that keeps pages refuses to be used.
    #[error("`{host}` refuses: {why}")]
    PageServerRefuses {
        /// The URL of the server.
        host: String,
        /// The reason, in its words.
        why: String,
    },
    /// The connection to a server that keeps pages broke.
    #[error("the connection to `{host}` broke: {source}")]
    PageServerBroke {
        /// The URL of the server.
        host: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The certificates or the key cannot be used.
    #[error("the {what} cannot be used: {cause}")]
    BadPem {
        /// Which of the two: certificates or key.
        what: &'static str,
        /// The problem.
        cause: String,
    },
    /// The TLS handshake failed.
    #[error("the TLS handshake with `{host}` failed: {source}")]
    Tls {
        /// The host that was called.
        host: String,
        /// The error of the handshake.
        source: std::io::Error,
    },
    /// The proxy refuses the connection.
    #[error("the proxy `{proxy}` refused the connection with status {status}")]
    ProxyRefuses {
        /// The proxy.
        proxy: String,
        /// The status of its response.
        status: u16,
    },
    /// A header or the credentials contain bytes that HTTP does not allow.
    #[error("the credentials for `{host}` contain characters that HTTP does not allow")]
    CredentialsUnsendable {
        /// The host that was called.
        host: String,
    },
    /// The name has no address.
    #[error("the host name of `{host}` has no address")]
    Unresolved {
        /// The host that was called.
        host: String,
        /// The error of the resolver.
        source: std::io::Error,
    },
    /// The machine refuses connections on this port.
    #[error("nothing listens on `{host}`")]
    NotListening {
        /// The host that was called.
        host: String,
    },
    /// The machine cannot be reached.
    #[error("cannot reach `{host}`")]
    Unreachable {
        /// The host that was called.
        host: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// There was no connection, or no complete response, in time.
    #[error("`{host}` did not answer within {waited_ms} ms")]
    Silent {
        /// The host that was called.
        host: String,
        /// How long the call waited.
        waited_ms: u64,
    },
    /// The connection ended before the response did.
    #[error("`{host}` closed the connection before its response was complete")]
    Cut {
        /// The host that was called.
        host: String,
        /// The error of hyper.
        source: hyper::Error,
    },
    /// The response is not HTTP.
    #[error("the response of `{host}` is not HTTP")]
    NotHttp {
        /// The host that was called.
        host: String,
        /// The error of hyper.
        source: hyper::Error,
    },
    /// The response is HTTP, but one that is not safe to pass on.
    #[error("the response of `{host}` is not valid: {why}")]
    BadResponse {
        /// The host that was called.
        host: String,
        /// The problem.
        why: &'static str,
    },
    /// The response exceeds the size limit.
    #[error("the response of `{host}` is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The host that was called.
        host: String,
        /// The limit.
        limit_bytes: u64,
    },
    /// The body arrives too slowly.
    #[error("`{host}` sends its response too slowly: fewer than {bytes} bytes in {waited_ms} ms")]
    TooSlow {
        /// The host that was called.
        host: String,
        /// How many bytes should have arrived.
        bytes: u64,
        /// How long the call waited.
        waited_ms: u64,
    },
    /// Too many other calls to the host are in progress.
    #[error("too many calls to `{host}` are already in progress")]
    Crowded {
        /// The host that was called.
        host: String,
    },
    /// The host requested a pause (`Retry-After`, or a 429 without it).
    #[error("`{host}` requested a pause until {until}")]
    Paused {
        /// The host that was called.
        host: String,
        /// The end of the pause.
        until: Millis,
    },
    /// The circuit of the host is open after repeated failures.
    #[error("the circuit of `{host}` is open after repeated failures: {last}")]
    LeftAlone {
        /// The host that was called.
        host: String,
        /// The time of the next trial; `None` while a trial is in progress.
        until: Option<Millis>,
        /// The last failure.
        last: String,
    },
    /// The server redirects more often than the limit allows.
    #[error("`{host}` redirects more than {limit} times")]
    TooManyRedirects {
        /// The host that was called first.
        host: String,
        /// How many redirects are followed.
        limit: usize,
    },
    /// A redirect is invalid, or leads to a forbidden URL.
    #[error("`{host}` sent a redirect that is not followed: {why}")]
    BadRedirect {
        /// The host that redirects.
        host: String,
        /// The problem with the redirect.
        why: &'static str,
    },
    /// A redirect leads to a more private network than that of the server that redirects.
    #[error("a redirect to `{host}` is not followed, because it leads into a more private network")]
    OutOfReach {
        /// The host in the redirect.
        host: String,
    },
    /// The host is in a network in which upstreams are not allowed.
    #[error("`{host}` has a {} address, which upstreams may not have", zone.as_str())]
    NetworkNotAllowed {
        /// The host that was called.
        host: String,
        /// The zone of its address.
        zone: Zone,
    },
    /// The name of an upstream resolves to a more private network than when it was first resolved.
    #[error("`{host}` has a {} address now, and had a {} one when it was first called", zone.as_str(), pinned.as_str())]
    MovedInside {
        /// The host that was called.
        host: String,
        /// The zone of its address now.
        zone: Zone,
        /// The zone of its address when it was first called.
        pinned: Zone,
    },
    /// The file to be sent cannot be read.
    #[error("cannot read the file to send to `{host}`")]
    NotRead {
        /// The host that was called.
        host: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The caller could not store the response.
    #[error("cannot write the response of `{host}`")]
    NotTaken {
        /// The host that was called.
        host: String,
        /// The error of the system.
        source: std::io::Error,
    },
}

impl Error {
    /// The side that the failure comes from.
    pub fn side(&self) -> Side {
        match self {
            Error::NotAUrl { .. }
            | Error::NotABackend { .. }
            | Error::NotAPageServer { .. }
            | Error::NotADatabase { .. }
            | Error::BadPem { .. }
            | Error::CredentialsUnsendable { .. }
            | Error::NetworkNotAllowed { .. }
            | Error::NotRead { .. }
            | Error::NotTaken { .. } => Side::Caller,
            _ => Side::Upstream,
        }
    }

    /// Whether the same call may succeed later.
    pub fn retry(&self) -> bool {
        match self {
            Error::Unresolved { .. }
            | Error::NotListening { .. }
            | Error::Unreachable { .. }
            | Error::Silent { .. }
            | Error::TooSlow { .. }
            | Error::Crowded { .. }
            | Error::Paused { .. }
            | Error::LeftAlone { .. }
            | Error::ProxyRefuses { .. }
            | Error::PageServerRefuses { .. }
            | Error::PageServerBroke { .. }
            | Error::Cut { .. } => true,
            Error::NotAUrl { .. }
            | Error::NotABackend { .. }
            | Error::NotAPageServer { .. }
            | Error::NotADatabase { .. }
            | Error::DatabaseWithoutTls { .. }
            | Error::BadPem { .. }
            | Error::Tls { .. }
            | Error::CredentialsUnsendable { .. }
            | Error::NotHttp { .. }
            | Error::BadResponse { .. }
            | Error::TooLarge { .. }
            | Error::TooManyRedirects { .. }
            | Error::BadRedirect { .. }
            | Error::OutOfReach { .. }
            | Error::NetworkNotAllowed { .. }
            | Error::MovedInside { .. }
            | Error::NotRead { .. }
            | Error::NotTaken { .. } => false,
        }
    }

    /// When the same call may succeed, where that is known.
    pub fn until(&self) -> Option<Millis> {
        match self {
            Error::Paused { until, .. } => Some(*until),
            Error::LeftAlone { until, .. } => *until,
            _ => None,
        }
    }

    /// Whether the error concerns the host or the network, and not only this one response.
    pub(crate) fn tells_of_host(&self) -> bool {
        matches!(
            self,
            Error::Unresolved { .. }
                | Error::NotListening { .. }
                | Error::Unreachable { .. }
                | Error::Silent { .. }
                | Error::TooSlow { .. }
                | Error::Cut { .. }
                | Error::Tls { .. }
                | Error::ProxyRefuses { .. }
                | Error::NotHttp { .. }
        )
    }

    /// Whether the call timed out.
    pub(crate) fn is_silence(&self) -> bool {
        matches!(self, Error::Silent { .. })
    }

    /// The problem with TLS, where it is known.
    pub fn tls_trouble(&self) -> Option<TlsTrouble> {
        match self {
            Error::Tls { source, .. } => tls_error::trouble(source),
            _ => None,
        }
    }
}
