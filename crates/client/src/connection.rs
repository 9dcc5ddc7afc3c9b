//! A connection that is kept from call to call, for one who has many questions for one server.

use crate::content::Sending;
use crate::stream::Stream;
use crate::target::Target;
use crate::{ClientOptions, Error, Request, Response};
use bytes::{Bytes, BytesMut};
use http::Response as Answer;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use std::io;
use std::pin::Pin;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Most bytes that the head of an answer may take. More counts as not being HTTP.
const HEAD_MAX_BYTES: usize = 64 << 10;

/// Takes the pieces of a body as they arrive.
pub type Take<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<()>;

/// Makes one call after the other, over one connection while the server keeps it. Redirects are answers like any other.
#[derive(Debug)]
pub struct Connection {
    options: ClientOptions,
    open: Option<Open>,
}

impl Connection {
    /// With these limits for each call. Connects when it is first needed.
    pub fn new(options: ClientOptions) -> Self {
        Self { options, open: None }
    }

    /// Calls and waits for the whole answer.
    pub async fn call(&mut self, request: Request) -> Result<Response, Error> {
        self.bounded(request, None).await
    }

    /// Calls; the body of a success goes to `take`, without a limit to its size, and is empty in the response.
    pub async fn call_into(&mut self, request: Request, take: Take<'_>) -> Result<Response, Error> {
        self.bounded(request, Some(take)).await
    }

    async fn bounded(&mut self, request: Request, take: Option<Take<'_>>) -> Result<Response, Error> {
        let target = Target::of(&request.url)?;
        let limit = self.options.total_timeout;
        // Boxed: a call is large, and whoever waits for it should not be. What is cut off here leaves no connection.
        let exchange = Box::pin(self.exchange(&target, request, take));
        timeout(limit, exchange).await.unwrap_or_else(|_| Err(silent(&target.authority, limit)))
    }

    async fn exchange(&mut self, target: &Target, request: Request, take: Option<Take<'_>>) -> Result<Response, Error> {
        if let Some(mut open) = self.open.take().filter(|open| open.authority == target.authority) {
            match open.send(target, request.clone()).await {
                // The server may end a connection while it rests, and nobody knows before the next call.
                Err(Error::Cut { .. }) => {}
                Err(error) => return Err(error),
                Ok(answer) => return self.finish(open, answer, take).await,
            }
        }
        let limit = self.options.connect_timeout;
        let dial = timeout(limit, Open::dial(target)).await;
        let mut open = dial.map_err(|_| silent(&target.authority, limit))??;
        let answer = open.send(target, request).await?;
        self.finish(open, answer, take).await
    }

    async fn finish(
        &mut self,
        mut open: Open,
        answer: Answer<Incoming>,
        take: Option<Take<'_>>,
    ) -> Result<Response, Error> {
        let (head, body) = answer.into_parts();
        let body = open.collect(body, take.filter(|_| head.status.is_success()), self.options.max_body_bytes).await?;
        if open.keeps() {
            self.open = Some(open);
        }
        Ok(Response { status: head.status, headers: head.headers, body })
    }
}

/// An open connection. It does the work and the answer waits for it: both in the task of the call, so that dropping the
/// call ends both.
struct Open {
    authority: String,
    sender: http1::SendRequest<Sending>,
    /// `None` once it has ended: only when it is dropped does the sender learn of it.
    connection: Option<Driven>,
}

type Driven = Pin<Box<http1::Connection<Stream, Sending>>>;

impl Open {
    async fn dial(target: &Target) -> Result<Self, Error> {
        let stream = connect(target).await?;
        let handshake = http1::Builder::new().max_buf_size(HEAD_MAX_BYTES).handshake(Stream(stream)).await;
        let (sender, connection) = handshake.map_err(|error| broken(&target.authority, error))?;
        Ok(Self { authority: target.authority.clone(), sender, connection: Some(Box::pin(connection)) })
    }

    /// Whether it is good for another call.
    fn keeps(&self) -> bool {
        self.connection.is_some() && !self.sender.is_closed()
    }

    async fn send(&mut self, target: &Target, request: Request) -> Result<Answer<Incoming>, Error> {
        let request = target.request(request)?;
        let Self { authority, sender, connection } = self;
        let send = async {
            sender.ready().await.map_err(|error| broken(authority, error))?;
            sender.send_request(request).await.map_err(|error| broken(authority, error))
        };
        drive(connection, send).await
    }

    async fn collect(
        &mut self,
        mut body: Incoming,
        mut take: Option<Take<'_>>,
        limit_bytes: u64,
    ) -> Result<Bytes, Error> {
        let Self { authority, connection, .. } = self;
        let too_large = || Error::TooLarge { host: authority.clone(), limit_bytes };
        if take.is_none() && hyper::body::Body::size_hint(&body).lower() > limit_bytes {
            return Err(too_large());
        }
        let collect = async {
            let mut whole = BytesMut::new();
            while let Some(frame) = body.frame().await {
                let Ok(data) = frame.map_err(|error| broken(authority, error))?.into_data() else { continue };
                if let Some(take) = &mut take {
                    take(&data).map_err(|source| Error::NotTaken { host: authority.clone(), source })?;
                    continue;
                }
                if (whole.len() + data.len()) as u64 > limit_bytes {
                    return Err(too_large());
                }
                whole.extend_from_slice(&data);
            }
            Ok(whole.freeze())
        };
        drive(connection, collect).await
    }
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Open").field("authority", &self.authority).finish_non_exhaustive()
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

#[expect(clippy::disallowed_methods, reason = "the one place that dials")]
async fn connect(target: &Target) -> Result<TcpStream, Error> {
    let host = || target.authority.clone();
    let addresses = tokio::net::lookup_host((target.name.as_str(), target.port)).await;
    let addresses: Vec<_> = addresses.map_err(|source| Error::Unresolved { host: host(), source })?.collect();
    let stream = TcpStream::connect(addresses.as_slice()).await.map_err(|source| match source.kind() {
        io::ErrorKind::ConnectionRefused => Error::NotListening { host: host() },
        _ => Error::Unreachable { host: host(), source },
    })?;
    // Only a delay would be lost if this failed.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

fn silent(host: &str, waited: Duration) -> Error {
    let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
    Error::Silent { host: host.to_owned(), waited_ms }
}

fn broken(host: &str, source: hyper::Error) -> Error {
    let host = host.to_owned();
    if source.is_parse() { Error::NotHttp { host, source } } else { Error::Cut { host, source } }
}
