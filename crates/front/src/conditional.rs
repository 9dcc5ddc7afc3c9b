//! The only code about 304, ranges and `HEAD`.

use crate::{Body, Reply};
use http::{HeaderMap, HeaderValue, Method, header};

/// The conditions of a request.
#[derive(Debug, Default)]
pub struct Asked {}

impl Asked {
    /// Reads them.
    pub fn new(_headers: &HeaderMap) -> Self {
        Self {}
    }
}

/// Turns a complete reply into what was asked for.
pub fn apply(mut reply: Reply, method: &Method, _asked: &Asked) -> Reply {
    if method == Method::HEAD {
        reply.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(reply.body.len()));
        reply.body = Body::Empty;
    }
    reply
}
