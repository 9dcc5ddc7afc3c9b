//! One call, from the URL to the last byte of the answer.

use crate::stream::Stream;
use crate::{Error, Secret};
use bytes::{Bytes, BytesMut};
use http::header::{AUTHORIZATION, HOST, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use std::io;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Most bytes that the head of an answer may take. More counts as not being HTTP.
const HEAD_MAX_BYTES: usize = 64 << 10;

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
    pub body: Bytes,
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

/// Makes calls. Redirects are answers like any other.
#[derive(Debug, Clone)]
pub struct Client {
    options: ClientOptions,
}

impl Client {
    /// A client with these limits.
    pub fn new(options: ClientOptions) -> Self {
        Self { options }
    }

    /// Calls and waits for the whole answer.
    pub async fn call(&self, request: Request) -> Result<Response, Error> {
        let target = Target::of(&request.url)?;
        let limit = self.options.total_timeout;
        // Boxed: a call is large, and whoever waits for it should not be.
        let exchange = Box::pin(self.exchange(&target, request));
        timeout(limit, exchange).await.unwrap_or_else(|_| Err(silent(&target.authority, limit)))
    }

    async fn exchange(&self, target: &Target, request: Request) -> Result<Response, Error> {
        let host = &target.authority;
        let limit = self.options.connect_timeout;
        let stream = timeout(limit, connect(target)).await.map_err(|_| silent(host, limit))??;
        let handshake = http1::Builder::new().max_buf_size(HEAD_MAX_BYTES).handshake(Stream(stream)).await;
        let (mut sender, connection) = handshake.map_err(|error| broken(host, error))?;
        let answer = async {
            let answer = sender.send_request(target.request(request)?).await.map_err(|error| broken(host, error))?;
            let (head, body) = answer.into_parts();
            let body = self.collect(host, body).await?;
            Ok(Response { status: head.status, headers: head.headers, body })
        };
        // The connection does the work and the answer waits for it: both in this task, so that dropping it ends both.
        let mut connection = std::pin::pin!(connection);
        let mut answer = std::pin::pin!(answer);
        let mut ended = false;
        std::future::poll_fn(|cx| {
            // Its own result says nothing that the answer does not say better.
            ended = ended || connection.as_mut().poll(cx).is_ready();
            answer.as_mut().poll(cx)
        })
        .await
    }

    async fn collect(&self, host: &str, mut body: Incoming) -> Result<Bytes, Error> {
        let limit_bytes = self.options.max_body_bytes;
        let too_large = || Error::TooLarge { host: host.to_owned(), limit_bytes };
        if hyper::body::Body::size_hint(&body).lower() > limit_bytes {
            return Err(too_large());
        }
        let mut whole = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|error| broken(host, error))?.into_data() else { continue };
            if (whole.len() + data.len()) as u64 > limit_bytes {
                return Err(too_large());
            }
            whole.extend_from_slice(&data);
        }
        Ok(whole.freeze())
    }
}

/// A URL that can be called.
#[derive(Debug)]
struct Target {
    /// `name:port`, as in `Host` and in messages.
    authority: String,
    /// For the resolver, without the brackets of an IPv6 address.
    name: String,
    port: u16,
    /// Path and query.
    path: Uri,
}

impl Target {
    fn of(url: &str) -> Result<Self, Error> {
        // Behind an `@` stands the host; before it may stand a password, which is in no message.
        let shown = url.rsplit_once('@').map_or(url, |(_, host)| host);
        let refused = || Error::NotAUrl { url: shown.to_owned() };
        let uri: Uri = url.parse().map_err(|_| refused())?;
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@')).ok_or_else(refused)?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(Error::HttpsUnsupported { host: authority.to_string() }),
            _ => return Err(refused()),
        }
        let port = authority.port_u16().unwrap_or(80);
        let name = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).parse().map_err(|_| refused())?;
        Ok(Self { authority: authority.to_string(), name, port, path })
    }

    fn request(&self, request: Request) -> Result<http::Request<Full<Bytes>>, Error> {
        let unsendable = || Error::CredentialsUnsendable { host: self.authority.clone() };
        let mut out = http::Request::new(Full::new(request.body));
        *out.method_mut() = request.method;
        *out.uri_mut() = self.path.clone();
        *out.headers_mut() = request.headers;
        let host =
            HeaderValue::from_str(&self.authority).map_err(|_| Error::NotAUrl { url: self.authority.clone() })?;
        out.headers_mut().insert(HOST, host);
        out.headers_mut().insert(USER_AGENT, HeaderValue::from_static("daylight"));
        if let Some(token) = request.token {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose())).map_err(|_| unsendable())?;
            value.set_sensitive(true);
            out.headers_mut().insert(AUTHORIZATION, value);
        }
        Ok(out)
    }
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

#[cfg(test)]
mod tests;
