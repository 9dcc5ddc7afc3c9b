//! A call of the command line, and its complete response.

use crate::content::Content;
use crate::error::Error;
use crate::secret::Secret;
use crate::tls::{Pem, Tls};
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use std::time::Duration;

/// Limits of every call of a [`Client`](crate::Client).
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// For resolving the name and connecting.
    pub connect_timeout: Duration,
    /// For everything, from the name to the last byte.
    pub total_timeout: Duration,
    /// The largest body.
    pub max_body_bytes: u64,
    /// The certificates that are trusted.
    pub trust: Trust,
}

/// The certificates of servers that a [`Client`](crate::Client) trusts.
#[derive(Debug, Clone)]
pub struct Trust(pub(crate) Tls);

impl Trust {
    /// The certificates that the machine trusts.
    pub const MACHINE: Trust = Trust(Tls::MACHINE);

    /// The authorities of a PEM file, besides the machine's.
    pub fn new(pem: &Pem) -> Result<Self, Error> {
        Tls::new(Some(pem), None).map(Self)
    }
}

impl Default for Trust {
    fn default() -> Self {
        Self::MACHINE
    }
}

/// A request.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// `GET` unless set.
    pub method: Method,
    /// `http://host:port/path?query`.
    pub url: String,
    /// Sent unchanged. `Host` is added, and a `User-Agent` where there is none.
    pub headers: HeaderMap,
    /// Sent as `Authorization: Bearer`.
    pub token: Option<Secret>,
    /// Sent completely, with its length.
    pub body: Content,
}

/// A complete response, whatever its status.
#[derive(Debug, Clone)]
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}
