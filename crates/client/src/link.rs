//! An open connection to a server, with hyper's machine. It does the work and the answer waits for it: both in the task
//! of the call, so that dropping the call ends both.

use crate::Error;
use crate::content::Sending;
use crate::error::broken;
use crate::stream::Stream;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use std::pin::Pin;
use std::task::{Context, Waker};

/// Most bytes that the head of an answer may take. More counts as not being HTTP.
const HEAD_MAX_BYTES: usize = 64 << 10;

/// An open connection, for one call at a time.
pub(crate) struct Link {
    /// In messages.
    host: String,
    sender: http1::SendRequest<Sending>,
    /// `None` once it has ended: only when it is dropped does the sender learn of it.
    connection: Option<Driven>,
}

type Driven = Pin<Box<http1::Connection<Stream, Sending>>>;

impl Link {
    pub(crate) async fn open(host: &str, stream: Stream) -> Result<Self, Error> {
        let handshake = http1::Builder::new().max_buf_size(HEAD_MAX_BYTES).handshake(stream).await;
        let (sender, connection) = handshake.map_err(|error| broken(host, error))?;
        Ok(Self { host: host.to_owned(), sender, connection: Some(Box::pin(connection)) })
    }

    /// Whether it is good for another call, as far as was seen.
    pub(crate) fn keeps(&self) -> bool {
        self.connection.is_some() && !self.sender.is_closed()
    }

    /// Looks whether the server has ended it while it rested.
    pub(crate) fn look(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        if self.connection.as_mut().is_some_and(|open| open.as_mut().poll(&mut cx).is_ready()) {
            self.connection = None;
        }
        self.keeps()
    }

    pub(crate) async fn send(&mut self, request: Request<Sending>) -> Result<Response<Incoming>, Error> {
        let Self { host, sender, connection } = self;
        let send = async {
            sender.ready().await.map_err(|error| broken(host, error))?;
            sender.send_request(request).await.map_err(|error| broken(host, error))
        };
        drive(connection, send).await
    }

    /// The next piece of the body of what was sent last; `None` after the last.
    pub(crate) async fn piece(&mut self, body: &mut Incoming) -> Option<Result<Bytes, Error>> {
        let Self { host, connection, .. } = self;
        let piece = async {
            while let Some(frame) = body.frame().await {
                match frame.map(hyper::body::Frame::into_data) {
                    Ok(Ok(data)) => return Some(Ok(data)),
                    // Trailers.
                    Ok(Err(_)) => {}
                    Err(error) => return Some(Err(broken(host, error))),
                }
            }
            None
        };
        drive(connection, piece).await
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("host", &self.host).finish_non_exhaustive()
    }
}

/// Lets the connection work until `work` is done. Its own result says nothing that the work's does not say better.
async fn drive<T>(connection: &mut Option<Driven>, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(|cx| {
        if connection.as_mut().is_some_and(|open| open.as_mut().poll(cx).is_ready()) {
            *connection = None;
        }
        work.as_mut().poll(cx)
    })
    .await
}
