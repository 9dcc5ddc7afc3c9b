//! A response of an application.

use super::body::SpooledBody;
use super::endless::Endless;
use crate::sendfile::SentFile;
use crate::tunnel::AppTunnel;
use bytes::Bytes;
use front::{Body, Ranges, Reply, Stream};
use http::{HeaderMap, StatusCode};

/// A response of an application.
#[derive(Debug)]
pub(crate) struct Passed {
    /// Its status.
    pub(crate) status: StatusCode,
    /// Its end-to-end headers.
    pub(crate) headers: HeaderMap,
    /// Its body.
    pub(crate) body: PassedBody,
}

/// The body of a response.
#[derive(Debug)]
pub(crate) enum PassedBody {
    /// Complete.
    Bytes(Bytes),
    /// Received into a spool, by a task that begins with the reply or with a copy.
    Spooled(SpooledBody),
    /// Passed on piece by piece.
    Endless(Endless),
    /// Another protocol.
    Tunnel(Box<AppTunnel>),
    /// A file that the application named.
    File(SentFile),
}

impl Passed {
    /// The reply to the client. It is sent as it is, except that a file has ranges and conditions.
    pub(crate) fn into_reply(self) -> Reply {
        let mut reply = Reply::new(self.status);
        reply.headers = self.headers;
        reply.verbatim = true;
        reply.body = match self.body {
            PassedBody::Bytes(bytes) if bytes.is_empty() => Body::Empty,
            PassedBody::Bytes(bytes) => Body::Bytes(bytes),
            PassedBody::Spooled(body) => Body::Stream(body.into_stream()),
            PassedBody::Endless(body) => {
                let len = body.len();
                Body::Stream(Stream::new(body, len))
            }
            PassedBody::Tunnel(tunnel) => Body::Tunnel(tunnel),
            PassedBody::File(file) => {
                if self.status == StatusCode::OK {
                    (reply.verbatim, reply.ranges) = (false, Ranges::Bytes);
                }
                Body::file(file.file, file.len)
            }
        };
        reply
    }
}
