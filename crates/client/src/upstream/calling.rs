//! One call to one server: a place, a connection, the request, the head of the answer.

use super::{Conditions, Upstream};
use crate::arriving::Arriving;
use crate::content::{Content, Sending};
use crate::dial::{LOST_AFTER, Road, dial};
use crate::error::silent;
use crate::host::Host;
use crate::link::Link;
use crate::pool::Way;
use crate::proxy::Proxy;
use crate::reach::Reach;
use crate::target::{Origin, Target};
use crate::{Error, Zone};
use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, HOST, IF_MODIFIED_SINCE, IF_NONE_MATCH, PROXY_AUTHORIZATION, USER_AGENT,
};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use std::sync::OnceLock;
use telemetry::{Event, Op, Tick};
use tokio::time::timeout;

/// What is asked for at one place after the other.
pub(super) struct Ask<'a> {
    pub(super) method: Method,
    pub(super) conditions: &'a Conditions,
}

/// One of these places.
pub(super) struct Hop {
    pub(super) target: Target,
    pub(super) reach: Reach,
}

impl Upstream {
    /// Makes one call, once there is a place for it.
    pub(super) async fn call(&self, hop: &Hop, ask: &Ask<'_>, event: &mut Event) -> Result<Arriving, Error> {
        let target = &hop.target;
        let host = self.hosts.of(&target.origin);
        let mut place = host.enter(self.patience.place, event).await?;
        let exchange = place.unless_hung(self.exchange(&host, hop, ask, event)).await;
        match exchange {
            Ok((link, answer)) => {
                let retry_after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
                place.answered(&target.path, answer.status().as_u16(), retry_after);
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
        hop: &Hop,
        ask: &Ask<'_>,
        event: &mut Event,
    ) -> Result<(Link, Response<Incoming>), Error> {
        // The first call looks where the host is, though another repository may have left a connection to it.
        let looked = self.pin(&hop.target.origin).is_none_or(|pin| pin.get().is_some());
        let kept = if looked { host.pool.take(self.way(&hop.target.origin)) } else { None };
        if let Some(mut link) = kept.filter(|link| link.peer().is_none_or(|peer| hop.reach.holds(peer))) {
            match self.send(&mut link, &hop.target, ask, event).await {
                // The server may end a connection while it rests, and nobody knows before the next call.
                Err(Error::Cut { .. }) => {}
                Err(error) => return Err(error),
                Ok(answer) => return Ok((link, answer)),
            }
        }
        let mut link = self.connect(hop, event).await?;
        let answer = self.send(&mut link, &hop.target, ask, event).await?;
        Ok((link, answer))
    }

    async fn connect(&self, Hop { target, reach }: &Hop, event: &mut Event) -> Result<Link, Error> {
        let began = Tick::now();
        let limit = self.patience.connect;
        let own = self.is_own(&target.origin);
        let proxy = self.proxy(&target.origin);
        let (pin, resolver) = (self.pin(&target.origin), self.hosts.resolver());
        let road = Road { tls: &self.tls, own, proxy, reach: *reach, pin, resolver, lost_after: Some(LOST_AFTER) };
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
            answer if answer.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
                match self.proxy(&target.origin) {
                    Some(proxy) => Err(proxy.refuses(answer.status().as_u16())),
                    None => Ok(answer),
                }
            }
            answer => Ok(answer),
        }
    }

    fn request(&self, target: &Target, ask: &Ask<'_>) -> Result<Request<Sending>, Error> {
        let body = Sending::of(Content::default())
            .map_err(|source| Error::NotRead { host: target.authority.clone(), source })?;
        let mut request = Request::new(body);
        *request.method_mut() = ask.method.clone();
        let proxy = self.proxy(&target.origin).filter(|_| !target.origin.tls);
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

    /// The proxy on the way there.
    fn proxy(&self, origin: &Origin) -> Option<&Proxy> {
        self.proxy.as_ref().filter(|proxy| proxy.is_for(origin))
    }

    /// Where it is written where one of its own hosts was first found. What a proxy looks up is known to that alone.
    fn pin(&self, origin: &Origin) -> Option<&OnceLock<Zone>> {
        self.own(origin).filter(|_| self.proxy(origin).is_none()).map(|base| &base.zone)
    }

    fn way(&self, origin: &Origin) -> Way {
        if self.is_own(origin) { self.ways.own } else { self.ways.others }
    }
}
