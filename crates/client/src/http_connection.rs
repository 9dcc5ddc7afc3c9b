//! An open connection to a server, driven by hyper. hyper's work happens in the task of the call, so dropping the
//! call ends both.

use crate::content::RequestBody;
use crate::error::Error;
use crate::failed::broken;
use crate::stream::{Dialled, Stream};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use telemetry::ClosedBy;

/// The largest head of a response. A larger one counts as invalid HTTP.
pub(crate) const HEAD_MAX_BYTES: usize = 64 << 10;

/// An open connection, for one call at a time.
pub(crate) struct HttpConnection {
    /// Used in messages.
    host: String,
    /// The address of the server; `None` where it is behind a proxy.
    peer: Option<IpAddr>,
    sender: http1::SendRequest<RequestBody>,
    driver: ConnectionDriver<http1::Connection<Stream, RequestBody>>,
}

impl HttpConnection {
    pub(crate) async fn open(host: &str, dialled: Dialled) -> Result<Self, Error> {
        let handshake = http1::Builder::new().max_buf_size(HEAD_MAX_BYTES).handshake(dialled.stream).await;
        let (sender, connection) = handshake.map_err(|error| broken(host, error))?;
        Ok(Self { host: host.to_owned(), peer: dialled.peer, sender, driver: ConnectionDriver::of(connection) })
    }

    pub(crate) fn peer(&self) -> Option<IpAddr> {
        self.peer
    }

    /// Whether it can be used for another call, as far as is known.
    pub(crate) fn keeps(&self) -> bool {
        self.driver.goes_on() && !self.sender.is_closed()
    }

    /// How it ended, where it can be used no more.
    pub(crate) fn closed_by(&self) -> ClosedBy {
        if self.driver.broke { ClosedBy::Error } else { ClosedBy::Upstream }
    }

    /// Checks whether the server has closed it while it was idle.
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

    /// The next chunk of the body of the last response; `None` after the last chunk.
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

/// Drives a connection while a call waits for its response.
pub(crate) struct ConnectionDriver<C> {
    /// `None` once it has ended. Waiting calls learn of the end only when it is dropped.
    connection: Option<Pin<Box<C>>>,
    ended: Option<hyper::Error>,
    /// It ended with an error.
    broke: bool,
}

impl<C: Future<Output = hyper::Result<()>>> ConnectionDriver<C> {
    pub(crate) fn of(connection: C) -> Self {
        Self { connection: Some(Box::pin(connection)), ended: None, broke: false }
    }

    /// Drives the connection until `wanted` is ready.
    pub(crate) async fn until<T>(&mut self, wanted: impl Future<Output = T>) -> T {
        let mut wanted = std::pin::pin!(wanted);
        std::future::poll_fn(|cx| {
            self.poll(cx);
            wanted.as_mut().poll(cx)
        })
        .await
    }

    /// The cause of `error`: a call that starts after the connection ended learns only that it is closed, and not why.
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
            (self.broke, self.ended) = (ended.is_err(), ended.err());
        }
    }
}
