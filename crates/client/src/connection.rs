//! A connection that is kept between calls, for a program that makes many calls to one server.

use crate::call_times::CallTimes;
use crate::content::RequestBody;
use crate::dial::{DIRECT, DialOptions, dial};
use crate::error::Error;
use crate::failed::silent;
use crate::http_connection::HttpConnection;
use crate::request::ClientOptions;
use crate::request::Request;
use crate::request::Response;
use crate::set_up::SetUp;
use crate::target::{Origin, Target};
use bytes::{Bytes, BytesMut};
use http::Response as Answer;
use hyper::body::Incoming;
use std::io;
use telemetry::{Event, Millis, Tick};
use tokio::time::timeout;

/// Takes the chunks of a body as they arrive.
pub type BodySink<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<()>;

/// Makes one call after the other over one connection, while the server keeps it open. Redirects are not followed.
#[derive(Debug)]
pub struct Connection {
    options: ClientOptions,
    open: Option<(Origin, HttpConnection)>,
    times: CallTimes,
}

impl Connection {
    /// A connection with these limits for each call. It connects when it is first needed.
    pub fn new(options: ClientOptions) -> Self {
        Self { options, open: None, times: CallTimes::default() }
    }

    /// Calls, and waits for the whole response.
    pub async fn call(&mut self, request: Request) -> Result<Response, Error> {
        self.bounded::<fn(&[u8]) -> io::Result<()>>(request, None).await
    }

    /// Calls, and hands the body of a success to `take`, without a limit on its size. The body of the returned
    /// response is then empty.
    pub async fn call_into(&mut self, request: Request, take: BodySink<'_>) -> Result<Response, Error> {
        self.bounded(request, Some(take)).await
    }

    /// The same for a call that may move between threads.
    pub async fn call_for<T>(&mut self, request: Request, take: &mut T) -> Result<Response, Error>
    where
        T: FnMut(&[u8]) -> io::Result<()> + Send,
    {
        self.bounded(request, Some(take)).await
    }

    /// The times of the last call. Those of a failed call end with the part in which it failed.
    pub fn times(&self) -> CallTimes {
        self.times
    }

    /// Ends the connection, so that the next call makes one.
    pub fn close(&mut self) {
        self.open = None;
    }

    /// Generic over what takes the body, so that a call without one may move between threads.
    async fn bounded<T>(&mut self, request: Request, take: Option<&mut T>) -> Result<Response, Error>
    where
        T: FnMut(&[u8]) -> io::Result<()> + ?Sized,
    {
        self.times = CallTimes::default();
        let target = Target::of(&request.url)?;
        let limit = self.options.total_timeout;
        // Boxed, because a call is large. A call that times out here leaves no connection behind.
        let exchange = Box::pin(self.exchange(&target, request, take));
        timeout(limit, exchange).await.unwrap_or_else(|_| Err(silent(&target.authority, limit)))
    }

    async fn exchange<T>(&mut self, target: &Target, request: Request, take: Option<&mut T>) -> Result<Response, Error>
    where
        T: FnMut(&[u8]) -> io::Result<()> + ?Sized,
    {
        if let Some((_, mut http_connection)) = self.open.take().filter(|(origin, _)| *origin == target.origin) {
            self.times.reused = true;
            match self.send(&mut http_connection, target.request(request.clone())?).await {
                // The server may close an idle connection, which is noticed only at the next call.
                Err(Error::Cut { .. }) => self.times = CallTimes::default(),
                Err(error) => return Err(error),
                Ok(answer) => return self.finish(target, http_connection, answer, take).await,
            }
        }
        let limit = self.options.connect_timeout;
        let mut event = Event::job("call", Millis::default());
        let dial = {
            let options = DialOptions { tls: &self.options.trust.0, ..DIRECT };
            timeout(limit, dial(&target.origin, options, &mut SetUp::of(&mut event))).await
        };
        self.times.set_up(&event);
        let dialled = dial.map_err(|_| silent(&target.authority, limit))??;
        let mut http_connection = HttpConnection::open(&target.authority, dialled).await?;
        let answer = self.send(&mut http_connection, target.request(request)?).await?;
        self.finish(target, http_connection, answer, take).await
    }

    /// Sends a request, and waits for the head of its response.
    async fn send(
        &mut self,
        http_connection: &mut HttpConnection,
        request: http::Request<RequestBody>,
    ) -> Result<Answer<Incoming>, Error> {
        let began = Tick::now();
        let answer = http_connection.send(request).await;
        self.times.head = Tick::now().since(began);
        answer
    }

    async fn finish<T>(
        &mut self,
        target: &Target,
        mut http_connection: HttpConnection,
        answer: Answer<Incoming>,
        take: Option<&mut T>,
    ) -> Result<Response, Error>
    where
        T: FnMut(&[u8]) -> io::Result<()> + ?Sized,
    {
        let (head, body) = answer.into_parts();
        let take = take.filter(|_| head.status.is_success());
        let (began, limit) = (Tick::now(), self.options.max_body_bytes);
        let body = collect(&mut http_connection, body, take, (&target.authority, limit), &mut self.times.bytes).await;
        self.times.body = Tick::now().since(began);
        let body = body?;
        if http_connection.keeps() {
            self.open = Some((target.origin.clone(), http_connection));
        }
        Ok(Response { status: head.status, headers: head.headers, body })
    }
}

async fn collect<T>(
    http_connection: &mut HttpConnection,
    mut body: Incoming,
    mut take: Option<&mut T>,
    limit: (&str, u64),
    bytes: &mut u64,
) -> Result<Bytes, Error>
where
    T: FnMut(&[u8]) -> io::Result<()> + ?Sized,
{
    let (host, limit_bytes) = limit;
    let too_large = || Error::TooLarge { host: host.to_owned(), limit_bytes };
    if take.is_none() && hyper::body::Body::size_hint(&body).lower() > limit_bytes {
        return Err(too_large());
    }
    let mut whole = BytesMut::new();
    while let Some(piece) = http_connection.piece(&mut body).await {
        let piece = piece?;
        *bytes += piece.len() as u64;
        if let Some(take) = &mut take {
            take(&piece).map_err(|source| Error::NotTaken { host: host.to_owned(), source })?;
            continue;
        }
        if (whole.len() + piece.len()) as u64 > limit_bytes {
            return Err(too_large());
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.freeze())
}
