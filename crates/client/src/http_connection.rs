//! An open connection to a server, with hyper's machine. It does the driver and the answer waits for it: both in the task
//! of the call, so that dropping the call ends both.

use crate::content::RequestBody;
use crate::error::Error;
use crate::error::broken;
use crate::stream::Stream;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Most bytes that the head of an answer may take. More counts as not being HTTP.
pub(crate) const HEAD_MAX_BYTES: usize = 64 << 10;

/// An open connection, for one call at a time.
pub(crate) struct HttpConnection {
    /// In messages.
    host: String,
    /// Who is at the other end; `None` where that is a proxy.
    peer: Option<IpAddr>,
    sender: http1::SendRequest<RequestBody>,
    driver: ConnectionDriver<http1::Connection<Stream, RequestBody>>,
}

impl HttpConnection {
    pub(crate) async fn open(host: &str, (stream, peer): (Stream, Option<IpAddr>)) -> Result<Self, Error> {
        let handshake = http1::Builder::new().max_buf_size(HEAD_MAX_BYTES).handshake(stream).await;
        let (sender, connection) = handshake.map_err(|error| broken(host, error))?;
        Ok(Self { host: host.to_owned(), peer, sender, driver: ConnectionDriver::of(connection) })
    }

    pub(crate) fn peer(&self) -> Option<IpAddr> {
        self.peer
    }

    /// Whether it is good for another call, as far as was seen.
    pub(crate) fn keeps(&self) -> bool {
        self.driver.goes_on() && !self.sender.is_closed()
    }

    /// Looks whether the server has ended it while it rested.
    pub(crate) fn look(&mut self) -> bool {
        self.driver.poll(&mut Context::from_waker(Waker::noop()));
        self.keeps()
    }

    pub(crate) async fn send(&mut self, request: Request<RequestBody>) -> Result<Response<Incoming>, Error> {
        let Self { sender, driver, .. } = self;
        let send = async {
            sender.ready().await?;
            sender.send_request(request).await
        };
        driver.until(send).await.map_err(|error| self.driver.why(&self.host, error))
    }

    /// The next piece of the body of what was sent last; `None` after the last.
    pub(crate) async fn piece(&mut self, body: &mut Incoming) -> Option<Result<Bytes, Error>> {
        let piece = async {
            while let Some(frame) = body.frame().await {
                match frame.map(hyper::body::Frame::into_data) {
                    Ok(Ok(data)) => return Some(Ok(data)),
                    // Trailers.
                    Ok(Err(_)) => {}
                    Err(error) => return Some(Err(error)),
                }
            }
            None
        };
        let piece = self.driver.until(piece).await?;
        Some(piece.map_err(|error| self.driver.why(&self.host, error)))
    }
}

impl std::fmt::Debug for HttpConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpConnection").field("host", &self.host).finish_non_exhaustive()
    }
}

/// What a connection does for who waits for an answer.
pub(crate) struct ConnectionDriver<C> {
    /// `None` once it has ended: only when it is dropped does who waits learn of it.
    connection: Option<Pin<Box<C>>>,
    ended: Option<hyper::Error>,
}

impl<C: Future<Output = hyper::Result<()>>> ConnectionDriver<C> {
    pub(crate) fn of(connection: C) -> Self {
        Self { connection: Some(Box::pin(connection)), ended: None }
    }

    /// Lets the connection driver until `wanted` is there.
    pub(crate) async fn until<T>(&mut self, wanted: impl Future<Output = T>) -> T {
        let mut wanted = std::pin::pin!(wanted);
        std::future::poll_fn(|cx| {
            self.poll(cx);
            wanted.as_mut().poll(cx)
        })
        .await
    }

    /// What `error` comes from: whoever comes too late for the end of a connection hears that it is gone, and not why.
    pub(crate) fn why(&mut self, host: &str, error: hyper::Error) -> Error {
        let cause = self.ended.take().filter(|_| error.is_canceled() || error.is_closed());
        broken(host, cause.unwrap_or(error))
    }

    fn goes_on(&self) -> bool {
        self.connection.is_some()
    }

    fn poll(&mut self, cx: &mut Context<'_>) {
        let Some(connection) = &mut self.connection else { return };
        if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
            self.connection = None;
            self.ended = ended.err();
        }
    }
}
