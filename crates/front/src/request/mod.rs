//! A request.

pub(crate) mod framing;
pub(crate) mod interim;
pub(crate) mod one_form;
pub(crate) mod trace;
pub(crate) mod upload;

use http::uri::PathAndQuery;
use http::{HeaderMap, Method, Uri, Version, header};
use interim::Interim;
use std::net::{IpAddr, SocketAddr};
use upload::Upload;

/// Both ends of a TCP connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketEnds {
    /// The end of the peer.
    pub peer: SocketAddr,
    /// The end of this server.
    pub ours: SocketAddr,
}

/// A request, without its body read.
#[derive(Debug)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The headers.
    pub headers: HeaderMap,
    /// The client: the peer of the connection, or the address that a trusted proxy names. For limits and access control.
    pub client: IpAddr,
    /// The part of its address that may be recorded.
    pub recorded_client: Option<IpAddr>,
    /// The peer of the connection, or the address that the PROXY protocol names.
    pub peer: IpAddr,
    /// Both ends of the socket, if the peer is on the loopback interface and the connection is not encrypted.
    pub ends: Option<SocketEnds>,
    /// Whether the connection is encrypted here.
    pub tls: bool,
    /// The version of HTTP. A client of HTTP/1.0 cannot tell a part of a body of unknown length from the whole.
    pub version: Version,
    /// The body.
    pub upload: Upload,
    /// Sends interim responses (1xx) before the reply.
    pub interim: Interim,
    pub(crate) uri: Uri,
}

impl Request {
    /// A request without a body. [`Request::upload`] may be replaced.
    pub fn new(method: Method, uri: Uri, headers: HeaderMap, client: IpAddr) -> Self {
        Self {
            method,
            headers,
            client,
            recorded_client: Some(client),
            peer: client,
            ends: None,
            tls: false,
            version: Version::HTTP_11,
            upload: Upload::default(),
            interim: Interim::default(),
            uri,
        }
    }

    /// The host that the client named, as sent: `:authority`, the host of an absolute URL, or `Host`.
    pub fn host(&self) -> Option<&str> {
        let named = || self.headers.get(header::HOST)?.to_str().ok();
        self.url_host().or_else(named)
    }

    /// The host of an absolute URL, or `:authority`.
    pub(crate) fn url_host(&self) -> Option<&str> {
        self.uri.authority().map(http::uri::Authority::as_str)
    }

    /// The path as sent, still percent-encoded. Empty for `CONNECT`, and `*` for `OPTIONS *`.
    pub fn path(&self) -> &str {
        self.uri.path()
    }

    /// Path and query as sent, shared. `None` for `CONNECT`.
    pub fn target(&self) -> Option<PathAndQuery> {
        self.uri.path_and_query().cloned()
    }

    /// What follows the first `?`, as sent.
    pub fn query(&self) -> Option<&str> {
        self.uri.query()
    }
}
