//! A call of the command line and its complete answer.

use crate::content::Content;
use crate::secret::Secret;
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use std::time::Duration;

/// Limits of every call of a [`Client`].
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// For finding the address and making the connection.
    pub connect_timeout: Duration,
    /// For everything, from the name to the last byte.
    pub total_timeout: Duration,
    /// The largest body taken.
    pub max_body_bytes: u64,
}

/// What to call, with what.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// `GET` unless set.
    pub method: Method,
    /// `http://host:port/path?query`.
    pub url: String,
    /// Sent as they are; `Host` and `User-Agent` are ours.
    pub headers: HeaderMap,
    /// Sent as `Authorization: Bearer`.
    pub token: Option<Secret>,
    /// Sent whole, with its length.
    pub body: Content,
}

/// A complete answer, whatever its status.
#[derive(Debug, Clone)]
pub struct Response {
    /// What the server says.
    pub status: StatusCode,
    /// With which headers.
    pub headers: HeaderMap,
    /// The body, whole.
    pub body: Bytes,
}
