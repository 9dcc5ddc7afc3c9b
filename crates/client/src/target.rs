//! The target of a call, and the request that is sent there.

use crate::content::RequestBody;
use crate::error::Error;
use crate::request::Request;
use http::Uri;
use http::header::{AUTHORIZATION, HOST, HeaderValue, USER_AGENT};

/// A server: the scheme, name and port of a URL.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    pub(crate) tls: bool,
    /// For the resolver: in lower case, without the brackets of an IPv6 address.
    pub(crate) name: String,
    pub(crate) port: u16,
}

impl std::fmt::Display for Origin {
    /// `name:port`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, port, .. } = self;
        if name.contains(':') { write!(f, "[{name}]:{port}") } else { write!(f, "{name}:{port}") }
    }
}

/// The host that a URL names, as `name:port`; `None` if it cannot be called.
pub fn host_of(url: &str) -> Option<String> {
    Target::of(url).ok().map(|target| target.origin.to_string())
}

/// A URL that can be called.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// `name:port`, as in `Host` and in messages.
    pub(crate) authority: String,
    pub(crate) origin: Origin,
    /// Path and query.
    pub(crate) path: Uri,
}

impl Target {
    pub(crate) fn of(url: &str) -> Result<Self, Error> {
        // The host follows an `@`. The part before it may contain a password, which must not appear in messages.
        let shown = url.rsplit_once('@').map_or(url, |(_, host)| host);
        let refused = || Error::NotAUrl { url: shown.to_owned() };
        let uri: Uri = url.parse().map_err(|_| refused())?;
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@')).ok_or_else(refused)?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(refused()),
        };
        let port = authority.port_u16().unwrap_or(if tls { 443 } else { 80 });
        let name = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        if name.is_empty() {
            return Err(refused());
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).parse().map_err(|_| refused())?;
        Ok(Self { authority: authority.to_string(), origin: Origin { tls, name, port }, path })
    }

    /// The whole URL, as a proxy needs it (RFC 9112 3.2.2).
    pub(crate) fn whole(&self) -> Result<Uri, Error> {
        let scheme = if self.origin.tls { "https" } else { "http" };
        let parts = Uri::builder().scheme(scheme).authority(self.authority.as_str());
        let whole = parts.path_and_query(self.path.to_string()).build();
        whole.map_err(|_| Error::NotAUrl { url: self.authority.clone() })
    }

    pub(crate) fn request(&self, request: Request) -> Result<http::Request<RequestBody>, Error> {
        let unsendable = || Error::CredentialsUnsendable { host: self.authority.clone() };
        let body =
            RequestBody::of(request.body).map_err(|source| Error::NotRead { host: self.authority.clone(), source })?;
        let mut out = http::Request::new(body);
        *out.method_mut() = request.method;
        *out.uri_mut() = self.path.clone();
        *out.headers_mut() = request.headers;
        let host =
            HeaderValue::from_str(&self.authority).map_err(|_| Error::NotAUrl { url: self.authority.clone() })?;
        out.headers_mut().insert(HOST, host);
        out.headers_mut().entry(USER_AGENT).or_insert(HeaderValue::from_static("daylight"));
        if let Some(token) = request.token {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose())).map_err(|_| unsendable())?;
            value.set_sensitive(true);
            out.headers_mut().insert(AUTHORIZATION, value);
        }
        Ok(out)
    }
}

/// The error for credentials that no header can carry.
pub(crate) fn unsendable(origin: &Origin) -> Error {
    Error::CredentialsUnsendable { host: origin.to_string() }
}
