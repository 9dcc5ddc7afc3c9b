//! The HTTP proxy on the way to upstreams: requests for files, and tunnels for TLS.

use crate::content::{Content, RequestBody};
use crate::credentials;
use crate::error::Error;
use crate::failed::broken;
use crate::http_connection::{ConnectionDriver, HEAD_MAX_BYTES};
use crate::secret::Secret;
use crate::stream::Stream;
use crate::target::{Origin, Target, unsendable};
use http::header::{HOST, PROXY_AUTHORIZATION};
use http::{HeaderValue, Method, Request};
use hyper::client::conn::http1;

/// The address of the proxy, and its credentials.
#[derive(Debug, Clone)]
pub struct ProxyOptions {
    /// `http://host:port`.
    pub url: String,
    /// `user:password`, or a token.
    pub credentials: Option<Secret>,
    /// Hosts that are reached without the proxy: addresses, and names with all their subdomains.
    pub except: Vec<String>,
}

/// A valid proxy.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) origin: Origin,
    pub(crate) authorization: Option<HeaderValue>,
    except: Vec<String>,
}

impl Proxy {
    pub(crate) fn new(options: &ProxyOptions) -> Result<Self, Error> {
        let origin = Target::of(&options.url)?.origin;
        if origin.tls {
            return Err(Error::NotAUrl { url: options.url.clone() });
        }
        let authorization = match &options.credentials {
            Some(secret) => Some(credentials::authorization(secret).ok_or_else(|| unsendable(&origin))?),
            None => None,
        };
        let except = options.except.iter().map(|host| host.to_ascii_lowercase()).collect();
        Ok(Self { origin, authorization, except })
    }

    /// Whether `host` is reached through it.
    pub(crate) fn is_for(&self, host: &Origin) -> bool {
        let name = host.name.trim_end_matches('.');
        let below = |of: &String| name.strip_suffix(of.as_str()).is_some_and(|rest| rest.ends_with('.'));
        !self.except.iter().any(|except| name == except || below(except))
    }

    /// Has the proxy open a tunnel to `to` (RFC 9110 9.3.6).
    pub(crate) async fn tunnel(&self, stream: Stream, to: &Origin) -> Result<Stream, Error> {
        let host = self.origin.to_string();
        let handshake = http1::Builder::new().max_buf_size(HEAD_MAX_BYTES).handshake(stream).await;
        let (mut sender, connection) = handshake.map_err(|error| broken(&host, error))?;
        let mut driver = ConnectionDriver::of(connection.with_upgrades());
        let asked = driver.until(sender.send_request(self.connect(to)?)).await;
        let answer = asked.map_err(|error| driver.why(&host, error))?;
        if !answer.status().is_success() {
            return Err(self.refuses(answer.status().as_u16()));
        }
        let upgraded = driver.until(hyper::upgrade::on(answer)).await;
        let upgraded = upgraded.map_err(|error| driver.why(&host, error))?;
        match upgraded.downcast::<Stream>() {
            Ok(parts) if parts.read_buf.is_empty() => Ok(parts.io),
            // In TLS the client sends first, so bytes from the server are wrong here.
            _ => Err(self.refuses(200)),
        }
    }

    pub(crate) fn refuses(&self, status: u16) -> Error {
        Error::ProxyRefuses { proxy: self.origin.to_string(), status }
    }

    fn connect(&self, to: &Origin) -> Result<Request<RequestBody>, Error> {
        let host = to.to_string();
        let bad = || Error::NotAUrl { url: host.clone() };
        let body =
            RequestBody::of(Content::default()).map_err(|source| Error::NotRead { host: host.clone(), source })?;
        let mut request = Request::new(body);
        *request.method_mut() = Method::CONNECT;
        *request.uri_mut() = host.parse().map_err(|_| bad())?;
        request.headers_mut().insert(HOST, HeaderValue::from_str(&host).map_err(|_| bad())?);
        if let Some(value) = &self.authorization {
            request.headers_mut().insert(PROXY_AUTHORIZATION, value.clone());
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_reached_without_the_proxy_stands_for_all_below_it() {
        let except = vec!["Inside.test".to_owned(), "10.0.0.1".to_owned()];
        let options = ProxyOptions { url: "http://proxy.test:3128".into(), credentials: None, except };
        let proxy = Proxy::new(&options).unwrap();
        let is_for = |name: &str| proxy.is_for(&Origin { tls: true, name: name.to_owned(), port: 443 });
        assert!(!is_for("inside.test") && !is_for("a.b.inside.test.") && !is_for("10.0.0.1"));
        assert!(is_for("outside.test") && is_for("notinside.test") && is_for("10.0.0.10") && is_for("test"));
    }
}
