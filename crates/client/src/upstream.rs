//! One upstream: where it is, what is shown to it, and how it is asked for a file.

use crate::arriving::Arriving;
use crate::content::{Content, Sending};
use crate::credentials::authorization;
use crate::dial::{Road, dial};
use crate::error::{silent, unsendable};
use crate::host::{Host, HostState};
use crate::link::Link;
use crate::path::escaped;
use crate::pool::Way;
use crate::proxy::Proxy;
use crate::redirect::{self, REDIRECTS_MAX};
use crate::target::{Origin, Target};
use crate::tls::Tls;
use crate::{Error, Hosts, Pem, ProxyOptions, Secret};
use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, HOST, IF_MODIFIED_SINCE, IF_NONE_MATCH, PROXY_AUTHORIZATION, USER_AGENT,
};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Event, Op, Tick};
use tokio::time::timeout;

/// Where an upstream is, and what is shown to it.
#[derive(Debug, Clone, Default)]
pub struct UpstreamOptions {
    /// Base URLs: the upstream's, then those of its mirrors, in the order in which they are asked. At least one.
    pub urls: Vec<String>,
    /// `user:password`, or a token. Shown to the hosts of `urls` and to nobody else.
    pub credentials: Option<Secret>,
    /// The HTTP proxy on the way to it, and to wherever it redirects.
    pub proxy: Option<ProxyOptions>,
    /// Certificates that are trusted besides the machine's own.
    pub trust: Option<Pem>,
    /// The certificate shown to the hosts of `urls`, with its key.
    pub certificate: Option<Pem>,
    /// How long it may take.
    pub patience: Patience,
}

/// How long the parts of a call may take.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Until there is a place among the calls to the host.
    pub place: Duration,
    /// Until there is a connection, from the name on.
    pub connect: Duration,
    /// From the request to the head of the answer.
    pub head: Duration,
    /// From one piece of a body to the next.
    pub idle: Duration,
    /// Of a body, so many bytes at least...
    pub slowest_bytes: u64,
    /// ...come within so much waiting.
    pub slowest_within: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            place: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            head: Duration::from_secs(30),
            idle: Duration::from_secs(30),
            slowest_bytes: 64 << 10,
            slowest_within: Duration::from_secs(60),
        }
    }
}

/// What is known of a file already, in the upstream's own words. It answers 304 where that still holds.
#[derive(Debug, Clone, Default)]
pub struct Conditions {
    /// Its `ETag`.
    pub etag: Option<String>,
    /// Its `Last-Modified`.
    pub modified: Option<String>,
}

/// An upstream, to be asked for files. Calls are made on the runtime of whoever waits for them, and end when dropped.
#[derive(Debug)]
pub struct Upstream {
    bases: Vec<Base>,
    authorization: Option<HeaderValue>,
    tls: Tls,
    proxy: Option<Proxy>,
    patience: Patience,
    ways: Ways,
    hosts: Arc<Hosts>,
}

#[derive(Debug)]
struct Base {
    /// Without a slash at its end.
    url: String,
    origin: Origin,
    /// Held, so that what is known of the host stays known.
    host: Arc<Host>,
}

/// The ways of its connections: to its own hosts, where a certificate is shown, and to others.
#[derive(Debug, Clone, Copy)]
struct Ways {
    own: Way,
    others: Way,
}

/// What is asked for at one place after the other.
struct Ask<'a> {
    method: Method,
    conditions: &'a Conditions,
}

impl Ways {
    fn new() -> Self {
        Self { own: Way::new(), others: Way::new() }
    }
}

impl Upstream {
    /// Looks whether the options can be used; calls nobody.
    pub fn new(options: UpstreamOptions, hosts: Arc<Hosts>) -> Result<Self, Error> {
        let mut bases = Vec::with_capacity(options.urls.len());
        for url in &options.urls {
            let target = Target::of(url)?;
            if target.path.query().is_some() {
                return Err(Error::NotAUrl { url: url.clone() });
            }
            let (host, url) = (hosts.of(&target.origin), url.trim_end_matches('/').to_owned());
            bases.push(Base { url, origin: target.origin, host });
        }
        let Some(first) = bases.first() else { return Err(Error::NotAUrl { url: String::new() }) };
        let authorization = match &options.credentials {
            Some(secret) => Some(authorization(secret).ok_or_else(|| unsendable(&first.origin))?),
            None => None,
        };
        let tls = Tls::new(options.trust.as_ref(), options.certificate.as_ref())?;
        let proxy = options.proxy.as_ref().map(Proxy::new).transpose()?;
        let plain = options.trust.is_none() && options.certificate.is_none() && proxy.is_none();
        let ways = if plain { Ways { own: Way::MACHINE, others: Way::MACHINE } } else { Ways::new() };
        Ok(Self { bases, authorization, tls, proxy, patience: options.patience, ways, hosts })
    }

    /// Asks for a file: `path` below the base URL, decoded, without a slash before it. Redirects are followed. Where
    /// the upstream says neither what the file is nor that there is none, its mirrors are asked; what the last of them
    /// said is the answer then.
    pub async fn get(&self, path: &str, conditions: &Conditions, event: &mut Event) -> Result<Arriving, Error> {
        self.ask(path, &Ask { method: Method::GET, conditions }, event).await
    }

    /// The same for the head of the answer alone.
    pub async fn head(&self, path: &str, event: &mut Event) -> Result<Arriving, Error> {
        self.ask(path, &Ask { method: Method::HEAD, conditions: &Conditions::default() }, event).await
    }

    /// How its hosts stand, in the order in which they are asked.
    pub fn states(&self) -> Vec<HostState> {
        self.bases.iter().map(|base| base.host.state()).collect()
    }

    async fn ask(&self, path: &str, ask: &Ask<'_>, event: &mut Event) -> Result<Arriving, Error> {
        let mut unsure = None;
        for base in &self.bases {
            // Boxed: a call is large, and whoever waits for it should not be.
            let said = Box::pin(self.follow(base, path, ask, event)).await;
            match said {
                Ok(answer) if is_sure(answer.status()) => return Ok(answer),
                // An answer tells more than its absence.
                Err(_) if matches!(unsure, Some(Ok(_))) => {}
                other => unsure = Some(other),
            }
        }
        // There is a base.
        unsure.unwrap_or_else(|| Err(Error::NotAUrl { url: String::new() }))
    }

    /// Asks at one base, and where that leads.
    async fn follow(&self, base: &Base, path: &str, ask: &Ask<'_>, event: &mut Event) -> Result<Arriving, Error> {
        let mut target = Target::of(&format!("{}/{}", base.url, escaped(path)))?;
        for _ in 0..=REDIRECTS_MAX {
            let mut answer = self.call(&target, ask, event).await?;
            if !matches!(answer.status(), 200 | 206) {
                answer.listen(event).await;
            }
            if !redirect::leads_on(answer.status()) {
                return Ok(answer);
            }
            target = redirect::follow(&target, answer.header("location"))?;
        }
        Err(Error::TooManyRedirects { host: base.origin.to_string(), limit: REDIRECTS_MAX })
    }

    /// Makes one call, once there is a place for it.
    async fn call(&self, target: &Target, ask: &Ask<'_>, event: &mut Event) -> Result<Arriving, Error> {
        let host = self.hosts.of(&target.origin);
        let mut place = host.enter(self.patience.place, event).await?;
        match self.exchange(&host, target, ask, event).await {
            Ok((link, answer)) => {
                let retry_after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
                place.answered(answer.status().as_u16(), retry_after);
                Ok(Arriving::new(answer, &target.authority, link, self.way(&target.origin), place, self.patience))
            }
            Err(error) => {
                place.failed(&error);
                Err(error)
            }
        }
    }

    async fn exchange(
        &self,
        host: &Host,
        target: &Target,
        ask: &Ask<'_>,
        event: &mut Event,
    ) -> Result<(Link, Response<Incoming>), Error> {
        if let Some(mut link) = host.pool.take(self.way(&target.origin)) {
            match self.send(&mut link, target, ask, event).await {
                // The server may end a connection while it rests, and nobody knows before the next call.
                Err(Error::Cut { .. }) => {}
                Err(error) => return Err(error),
                Ok(answer) => return Ok((link, answer)),
            }
        }
        let mut link = self.connect(target, event).await?;
        let answer = self.send(&mut link, target, ask, event).await?;
        Ok((link, answer))
    }

    async fn connect(&self, target: &Target, event: &mut Event) -> Result<Link, Error> {
        let began = Tick::now();
        let limit = self.patience.connect;
        let road = Road { tls: &self.tls, own: self.is_own(&target.origin), proxy: self.proxy.as_ref() };
        let connect = timeout(limit, async { Link::open(&target.authority, dial(&target.origin, road).await?).await });
        let link = connect.await.unwrap_or_else(|_| Err(silent(&target.authority, limit)));
        event.add(Op::UpstreamConnect, Tick::now().since(began));
        link
    }

    async fn send(
        &self,
        link: &mut Link,
        target: &Target,
        ask: &Ask<'_>,
        event: &mut Event,
    ) -> Result<Response<Incoming>, Error> {
        let began = Tick::now();
        let limit = self.patience.head;
        let answer = timeout(limit, link.send(self.request(target, ask)?)).await;
        event.add(Op::UpstreamFirstByte, Tick::now().since(began));
        match answer.unwrap_or_else(|_| Err(silent(&target.authority, limit)))? {
            // It is the proxy's to say that.
            answer if answer.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED => match &self.proxy {
                Some(proxy) => Err(proxy.refuses(answer.status().as_u16())),
                None => Ok(answer),
            },
            answer => Ok(answer),
        }
    }

    fn request(&self, target: &Target, ask: &Ask<'_>) -> Result<Request<Sending>, Error> {
        let body = Sending::of(Content::default())
            .map_err(|source| Error::NotRead { host: target.authority.clone(), source })?;
        let mut request = Request::new(body);
        *request.method_mut() = ask.method.clone();
        let proxy = self.proxy.as_ref().filter(|_| !target.origin.tls);
        *request.uri_mut() = match proxy {
            Some(_) => target.whole()?,
            None => target.path.clone(),
        };
        let headers = request.headers_mut();
        let host = HeaderValue::from_str(&target.authority);
        headers.insert(HOST, host.map_err(|_| Error::NotAUrl { url: target.authority.clone() })?);
        headers.insert(USER_AGENT, HeaderValue::from_static("daylight"));
        // Bytes as they are: digests are of them.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let known = [(IF_NONE_MATCH, &ask.conditions.etag), (IF_MODIFIED_SINCE, &ask.conditions.modified)];
        for (name, value) in known {
            // What came in a header goes into one.
            if let Some(value) = value.as_ref().and_then(|text| HeaderValue::from_str(text).ok()) {
                headers.insert(name, value);
            }
        }
        if let Some(value) = proxy.and_then(|proxy| proxy.authorization.as_ref()) {
            headers.insert(PROXY_AUTHORIZATION, value.clone());
        }
        if let Some(value) = self.authorization.as_ref().filter(|_| self.is_own(&target.origin)) {
            headers.insert(AUTHORIZATION, value.clone());
        }
        Ok(request)
    }

    fn way(&self, origin: &Origin) -> Way {
        if self.is_own(origin) { self.ways.own } else { self.ways.others }
    }

    /// Whether it is one of its own hosts, and not somebody to whom a redirect leads.
    fn is_own(&self, origin: &Origin) -> bool {
        self.bases.iter().any(|base| base.origin == *origin)
    }
}

/// Whether an answer says what is asked, or proves that there is nothing to say. Others leave it open: the upstream may
/// have the file and not give it away now.
fn is_sure(status: u16) -> bool {
    matches!(status, 200 | 206 | 304 | 404 | 410)
}

#[cfg(test)]
mod tests;
