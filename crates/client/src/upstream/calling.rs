//! One call to one server: a slot, a connection, the request, the head of the response.

use super::{Base, Conditions, Upstream};
use crate::arriving::Arriving;
use crate::content::RequestBody;
use crate::dial::{DialOptions, LOST_AFTER, dial};
use crate::error::Error;
use crate::failed::silent;
use crate::host::Host;
use crate::hosts::host_name;
use crate::http_connection::HttpConnection;
use crate::pool::PoolKey;
use crate::post::Post;
use crate::proxy::Proxy;
use crate::set_up::SetUp;
use crate::ssrf::AddressPolicy;
use crate::target::{Origin, Target};
use crate::zone::Zone;
use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    PROXY_AUTHORIZATION, RANGE, USER_AGENT,
};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use std::sync::{Arc, OnceLock};
use telemetry::{Event, Op, Tick, UpstreamCalls};
use tokio::time::timeout;

/// The request that is repeated at each hop.
pub(super) struct Ask<'a> {
    pub(super) method: Method,
    pub(super) conditions: &'a Conditions,
    pub(super) post: Option<&'a Post>,
}

/// One hop.
pub(super) struct Hop {
    pub(super) target: Target,
    pub(super) address_policy: AddressPolicy,
}

impl Upstream {
    /// Makes one call, once it has a slot.
    pub(super) async fn call(&self, hop: &Hop, ask: &Ask<'_>, event: &mut Event) -> Result<Arriving, Error> {
        let target = &hop.target;
        let host = self.hosts.of(&target.origin, self.apart);
        let calls = self.calls(&target.origin);
        let entered = host.enter(self.timeouts.slot, event).await;
        let mut slot = entered.inspect_err(|error| calls.erred(error.reason()))?;
        event.upstream_mut().begin(self.own(&target.origin).map(|base| &base.name));
        let began = Tick::now();
        let exchange = slot.unless_hung(self.exchange(&host, hop, ask, event)).await;
        match exchange {
            Ok((connection, answer)) => {
                event.upstream_mut().status = answer.status().as_u16();
                let retry_after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
                let paused = slot.answered(&target.path, answer.status().as_u16(), retry_after);
                calls.answered(answer.status().as_u16(), began);
                if let Some(until) = paused {
                    calls.paused(u64::try_from(until.0.saturating_sub(self.hosts.now().0)).unwrap_or(0));
                }
                Ok(Arriving::new(
                    answer,
                    &target.authority,
                    connection,
                    self.pool_key(&target.origin),
                    slot,
                    calls,
                    self.timeouts,
                )
                .with_pause(paused))
            }
            Err(error) => {
                slot.failed(&error);
                calls.failed(error.reason(), began);
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
    ) -> Result<(HttpConnection, Response<Incoming>), Error> {
        // The first call resolves the name, even if another repository has left a connection to the host.
        let looked = self.pin(&hop.target.origin).is_none_or(|pin| pin.get().is_some());
        let key = self.pool_key(&hop.target.origin);
        let kept = if looked { host.pool.take(key) } else { None };
        if let Some(mut connection) =
            kept.filter(|connection| connection.peer().is_none_or(|peer| hop.address_policy.holds(peer)))
        {
            match self.send(&mut connection, &hop.target, ask, event).await {
                // The server may close an idle connection, which is noticed only at the next call.
                Err(Error::Cut { .. }) => host.pool.lost(key, connection.closed_by()),
                Err(error) => return Err(error),
                Ok(answer) => {
                    event.upstream_mut().reused += 1;
                    return Ok((connection, answer));
                }
            }
        }
        if let Some(by) = host.pool.take_closed(key) {
            event.upstream_mut().closed_by = Some(by);
        }
        let mut connection = self.connect(hop, event).await?;
        let answer = self.send(&mut connection, &hop.target, ask, event).await?;
        Ok((connection, answer))
    }

    async fn connect(&self, Hop { target, address_policy }: &Hop, event: &mut Event) -> Result<HttpConnection, Error> {
        let limit = self.timeouts.connect;
        let own = self.is_own(&target.origin);
        let proxy = self.proxy(&target.origin);
        let (pin, resolver) = (self.pin(&target.origin), self.hosts.resolver());
        let options = DialOptions {
            tls: &self.tls,
            own,
            proxy,
            address_policy: *address_policy,
            pin,
            resolver,
            lost_after: Some(LOST_AFTER),
        };
        event.upstream_mut().connects += 1;
        let mut set_up = SetUp::of(event);
        let connect = timeout(limit, async {
            let dialled = dial(&target.origin, options, &mut set_up).await?;
            HttpConnection::open(&target.authority, dialled).await
        });
        connect.await.unwrap_or_else(|_| Err(silent(&target.authority, limit)))
    }

    async fn send(
        &self,
        connection: &mut HttpConnection,
        target: &Target,
        ask: &Ask<'_>,
        event: &mut Event,
    ) -> Result<Response<Incoming>, Error> {
        let limit = self.timeouts.head * ask.post.map_or(1, |post| post.patience.max(1));
        let request = self.request(target, ask)?;
        let running = event.running(Op::UpstreamFirstByte);
        let answer = timeout(limit, connection.send(request)).await;
        drop(running);
        match answer.unwrap_or_else(|_| Err(silent(&target.authority, limit)))? {
            // Only a proxy may send this status.
            answer if answer.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
                match self.proxy(&target.origin) {
                    Some(proxy) => Err(proxy.refuses(answer.status().as_u16())),
                    None => Ok(answer),
                }
            }
            answer => Ok(answer),
        }
    }

    fn request(&self, target: &Target, ask: &Ask<'_>) -> Result<Request<RequestBody>, Error> {
        let body = RequestBody::of(ask.post.map(|post| post.body.clone().into()).unwrap_or_default())
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
        // Without a coding, as digests are of the unencoded bytes.
        let coding = if ask.post.is_some() { "gzip" } else { "identity" };
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(coding));
        if let Some(post) = ask.post {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(post.content_type));
            headers.insert(CONTENT_LENGTH, HeaderValue::from(post.body.len()));
        }
        let known = [(IF_NONE_MATCH, &ask.conditions.etag), (IF_MODIFIED_SINCE, &ask.conditions.modified)];
        for (name, value) in known {
            // This value came from a header, so it is valid in a header.
            if let Some(value) = value.as_ref().and_then(|text| HeaderValue::from_str(text).ok()) {
                headers.insert(name, value);
            }
        }
        if let Some(first) = ask.conditions.first_byte
            && let Ok(value) = HeaderValue::from_str(&format!("bytes={first}-"))
        {
            headers.insert(RANGE, value);
        }
        if let Some(value) = proxy.and_then(|proxy| proxy.authorization.as_ref()) {
            headers.insert(PROXY_AUTHORIZATION, value.clone());
        }
        if let Some(value) = self.authorization.as_ref().filter(|_| self.is_own(&target.origin)) {
            headers.insert(AUTHORIZATION, value.clone());
        }
        Ok(request)
    }

    /// The proxy on the way to a server.
    fn proxy(&self, origin: &Origin) -> Option<&Proxy> {
        self.proxy.as_ref().filter(|proxy| proxy.is_for(origin))
    }

    /// The stored zone of one of its own hosts. A name that a proxy resolves has no known zone.
    fn pin(&self, origin: &Origin) -> Option<&OnceLock<Zone>> {
        self.own(origin).filter(|_| self.proxy(origin).is_none()).map(|base| &base.zone)
    }

    /// The figures of the calls to a server. Where redirects lead to is nobody's setting, so such servers have no name in metrics.
    fn calls(&self, origin: &Origin) -> Arc<UpstreamCalls> {
        let recorder = self.hosts.recorder();
        let of =
            |base: &Base| base.calls.get_or_init(|| recorder.upstream_calls(&host_name(origin, self.apart))).clone();
        self.own(origin).map_or_else(|| recorder.other_upstream_calls().clone(), of)
    }

    fn pool_key(&self, origin: &Origin) -> PoolKey {
        if self.is_own(origin) { self.pool_keys.own } else { self.pool_keys.others }
    }
}
