//! The replies of plain HTTP beside TLS.

use super::{OCTETS, put};
use front::{Body, Reply};
use http::header::{self, HeaderValue};
use http::{HeaderMap, StatusCode};

/// The answer to an authority (RFC 8555, 8.3).
pub(crate) fn proof(key_authorization: String) -> Reply {
    let mut reply = Reply::new(StatusCode::OK).body(Body::Bytes(key_authorization.into()));
    reply.headers.insert(header::CONTENT_TYPE, OCTETS);
    never_kept(&mut reply.headers);
    reply
}

/// Sends the client to the URL with `https`. With 308 (RFC 9110, 15.4.9) a client keeps its method.
pub(crate) fn to_https(url: String) -> Reply {
    let mut reply = super::text("this server answers at the URL with `https`\n");
    reply.status = StatusCode::PERMANENT_REDIRECT;
    put(&mut reply.headers, header::LOCATION, url);
    // A client that kept it would find nothing at a server that has no TLS any more.
    never_kept(&mut reply.headers);
    reply
}

fn never_kept(headers: &mut HeaderMap) {
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
