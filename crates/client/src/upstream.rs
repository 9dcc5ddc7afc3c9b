//! One upstream: its URLs, its credentials, and how files are requested from it.

mod calling;

use crate::arriving::Arriving;
use crate::credentials::authorization;
use crate::error::Error;
use crate::host::{Host, HostState};
use crate::host_options::Apart;
use crate::hosts::{Hosts, host_name};
use crate::path::escaped;
use crate::pool::PoolKey;
use crate::post::Post;
use crate::proxy::Proxy;
use crate::proxy::ProxyOptions;
use crate::redirect::{self, REDIRECTS_MAX};
use crate::refusals::Refusals;
use crate::secret::Secret;
use crate::ssrf::AddressPolicy;
use crate::ssrf::Networks;
use crate::target::{Origin, Target, unsendable};
use crate::timeouts::Timeouts;
use crate::tls::Pem;
use crate::tls::Tls;
use crate::zone::Zone;
use calling::{Ask, Hop};
use http::{HeaderValue, Method};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use telemetry::{Event, Millis, Op, Text, UpstreamCalls};
use tokio::time::sleep;

/// The URLs of an upstream, and how it is reached.
#[derive(Debug, Clone, Default)]
pub struct UpstreamOptions {
    /// Base URLs: the upstream's, then those of its mirrors, in the order in which they are tried. At least one.
    pub urls: Vec<String>,
    /// `user:password`, or a token. Sent only to the hosts of `urls`.
    pub credentials: Option<Secret>,
    /// The HTTP proxy to it, and to the targets of its redirects.
    pub proxy: Option<ProxyOptions>,
    /// Certificates that are trusted besides the machine's own.
    pub trust: Option<Pem>,
    /// The client certificate for the hosts of `urls`, with its key.
    pub certificate: Option<Pem>,
    /// The zones that its hosts (`name:port`) first resolved to, from [`Upstream::newly_pinned`]. A more private zone is refused.
    pub pinned: Vec<(String, Zone)>,
    /// What sets its hosts apart from those of other upstreams.
    pub apart: Option<Apart>,
}

/// The validators of a copy of the file. The upstream answers 304 while the copy is current.
#[derive(Debug, Clone, Default)]
pub struct Conditions {
    /// The first byte of the requested range (RFC 9110 section 14.2). The upstream may ignore it and send the whole file with
    /// 200.
    pub first_byte: Option<u64>,
    /// Its `ETag`.
    pub etag: Option<String>,
    /// Its `Last-Modified`.
    pub modified: Option<String>,
    /// Whether the caller has another answer, so that it does not wait until a pause of the host has ended.
    pub has_answer: bool,
}

/// An upstream. Calls run in the task of the caller, and end when they are dropped.
#[derive(Debug)]
pub struct Upstream {
    bases: Vec<Base>,
    authorization: Option<HeaderValue>,
    tls: Tls,
    certificate_expires: Option<Millis>,
    proxy: Option<Proxy>,
    timeouts: Timeouts,
    pool_keys: PoolKeys,
    apart: Option<Apart>,
    hosts: Arc<Hosts>,
}

#[derive(Debug)]
struct Base {
    /// Without a slash at the end.
    url: String,
    origin: Origin,
    /// `name:port`, for events.
    name: Text,
    /// Keeps the state of the host in the table.
    host: Arc<Host>,
    /// The zone that it first resolved to.
    zone: OnceLock<Zone>,
    /// Whether the zone has been reported.
    told: AtomicBool,
    /// The figures of the calls to its host, once it was called.
    calls: OnceLock<Arc<UpstreamCalls>>,
    refusals: Refusals,
}

impl Base {
    /// Finds out whether a 403 is about the file.
    fn judge(&self, path: &str, answer: Arriving) -> Arriving {
        match answer.status() {
            403 => {
                let forbids = self.refusals.is_about_file(path);
                answer.forbidding(forbids)
            }
            status if is_sure(status) => {
                self.refusals.served();
                answer
            }
            _ => answer,
        }
    }

    fn address_policy(&self, networks: Networks) -> AddressPolicy {
        AddressPolicy::Named { networks, pinned: self.zone.get().copied() }
    }
}

/// The pool keys of its connections: to its own hosts, which get the client certificate, and to others.
#[derive(Debug, Clone, Copy)]
struct PoolKeys {
    own: PoolKey,
    others: PoolKey,
}

impl PoolKeys {
    fn new() -> Self {
        Self { own: PoolKey::new(), others: PoolKey::new() }
    }
}

impl Upstream {
    /// Checks the options. Makes no call.
    pub fn new(options: UpstreamOptions, hosts: Arc<Hosts>) -> Result<Self, Error> {
        let mut bases = Vec::with_capacity(options.urls.len());
        for url in &options.urls {
            let target = Target::of(url)?;
            if target.path.query().is_some() {
                return Err(Error::NotAUrl { url: url.clone() });
            }
            let (host, url) = (hosts.of(&target.origin, options.apart), url.trim_end_matches('/').to_owned());
            let name = target.origin.to_string();
            let pinned = options.pinned.iter().find(|(host, _)| *host == name).map(|(_, zone)| *zone);
            let (zone, told) = (pinned.map_or_else(OnceLock::new, OnceLock::from), pinned.is_some().into());
            let base = Base {
                name: host_name(&target.origin, options.apart).as_str().into(),
                url,
                origin: target.origin,
                host,
                zone,
                told,
                calls: OnceLock::new(),
                refusals: Refusals::default(),
            };
            base.address_policy(hosts.networks()).check_name(&base.origin)?;
            bases.push(base);
        }
        let Some(first) = bases.first() else { return Err(Error::NotAUrl { url: String::new() }) };
        let authorization = match &options.credentials {
            Some(secret) => Some(authorization(secret).ok_or_else(|| unsendable(&first.origin))?),
            None => None,
        };
        let tls = Tls::new(options.trust.as_ref(), options.certificate.as_ref())?;
        let certificate_expires = options.certificate.as_ref().and_then(Pem::expires);
        let proxy = options.proxy.as_ref().map(Proxy::new).transpose()?;
        let plain = options.trust.is_none() && options.certificate.is_none() && proxy.is_none();
        let pool_keys =
            if plain { PoolKeys { own: PoolKey::MACHINE, others: PoolKey::MACHINE } } else { PoolKeys::new() };
        let (timeouts, apart) = (hosts.timeouts(), options.apart);
        Ok(Self { bases, authorization, tls, certificate_expires, proxy, timeouts, pool_keys, apart, hosts })
    }

    /// Requests a file: `path` below the base URL, decoded, without a leading slash. Redirects are followed. If the upstream
    /// neither sends the file nor reports it missing, its mirrors are tried in turn. If none of them succeeds, the last response
    /// counts.
    pub async fn get(&self, path: &str, conditions: &Conditions, event: &mut Event) -> Result<Arriving, Error> {
        self.ask(path, &Ask { method: Method::GET, conditions, post: None }, event).await
    }

    /// Like [`Upstream::get`], with `HEAD`.
    pub async fn head(&self, path: &str, event: &mut Event) -> Result<Arriving, Error> {
        self.ask(path, &Ask { method: Method::HEAD, conditions: &Conditions::default(), post: None }, event).await
    }

    /// Asks a question of the base URL itself, and accepts gzip. Redirects are not followed: no other server gets the question.
    pub async fn post(&self, post: &Post, event: &mut Event) -> Result<Arriving, Error> {
        let conditions = Conditions { has_answer: true, ..Conditions::default() };
        self.ask("", &Ask { method: Method::POST, conditions: &conditions, post: Some(post) }, event).await
    }

    /// The host that is called first, as `name:port`.
    pub fn first_host(&self) -> Text {
        self.bases.first().map(|base| base.name.clone()).unwrap_or_default()
    }

    /// When its client certificate expires; `None` without one.
    pub fn certificate_expires(&self) -> Option<Millis> {
        self.certificate_expires
    }

    /// The states of its hosts, in the order in which they are tried.
    pub fn states(&self) -> Vec<HostState> {
        self.bases.iter().map(|base| base.host.state()).collect()
    }

    /// Whether none of its hosts answered recently, so that the next call is a trial.
    pub fn is_in_doubt(&self) -> bool {
        self.bases.iter().all(|base| base.host.is_in_doubt())
    }

    /// Asks all base URLs in turn. If none of them has the answer and one asks for a pause, all are asked again after the pause,
    /// as long as all pauses together are short enough.
    async fn ask(&self, path: &str, ask: &Ask<'_>, event: &mut Event) -> Result<Arriving, Error> {
        let mut left = if ask.conditions.has_answer { Duration::ZERO } else { self.hosts.wait_for_retry() };
        let mut least = PAUSE_MIN;
        loop {
            let mut paused_until = None;
            let said = self.ask_each(path, ask, &mut paused_until, event).await;
            let now = self.hosts.now();
            let pause = paused_until.map(|until: Millis| u64::try_from(until.0.saturating_sub(now.0)).unwrap_or(0));
            // A host that asks for little time again and again gets ever fewer calls.
            let pause = pause.map(|millis| Duration::from_millis(millis).max(least));
            let Some(pause) = pause.filter(|pause| *pause <= left) else { return said };
            // It holds a connection and a slot.
            drop(said);
            left = left.saturating_sub(pause);
            least *= 2;
            event.upstream_mut().pauses += 1;
            event.during(Op::UpstreamPause, sleep(pause)).await;
        }
    }

    async fn ask_each(
        &self,
        path: &str,
        ask: &Ask<'_>,
        paused_until: &mut Option<Millis>,
        event: &mut Event,
    ) -> Result<Arriving, Error> {
        let mut unsure = None;
        for base in &self.bases {
            // Boxed, because a call is large.
            let said = Box::pin(self.follow(base, path, ask, event)).await;
            let said = said.map(|answer| base.judge(path, answer));
            if self.bases.len() > 1 {
                tell(event, base, &said);
            }
            let until = match &said {
                Ok(answer) => answer.paused_until(),
                Err(Error::Paused { until, .. }) => Some(*until),
                Err(_) => None,
            };
            *paused_until = (*paused_until).into_iter().chain(until).min();
            match said {
                Ok(answer) if is_sure(answer.status()) => return Ok(answer),
                // A response is more informative than an error.
                Err(_) if matches!(unsure, Some(Ok(_))) => {}
                other => unsure = Some(other),
            }
        }
        // There is at least one base.
        unsure.unwrap_or_else(|| Err(Error::NotAUrl { url: String::new() }))
    }

    /// Sends the request to one base URL, and follows its redirects.
    async fn follow(&self, base: &Base, path: &str, ask: &Ask<'_>, event: &mut Event) -> Result<Arriving, Error> {
        let target = match ask.post {
            Some(_) => Target::of(&base.url)?,
            None => Target::of(&format!("{}/{}", base.url, escaped(path)))?,
        };
        let networks = self.hosts.networks();
        let mut hop = Hop { target, address_policy: base.address_policy(networks) };
        let mut folder = false;
        for _ in 0..=REDIRECTS_MAX {
            let mut answer = self.call(&hop, ask, event).await?;
            if !matches!(answer.status(), 200 | 206) {
                answer.listen(event).await;
            }
            if ask.post.is_some() || !redirect::leads_on(answer.status()) {
                return Ok(answer.of_folder(folder));
            }
            let target = redirect::follow(&hop.target, answer.header("location"))?;
            folder |= redirect::is_to_folder(&hop.target, &target);
            let own = self.own(&target.origin).map(|base| base.address_policy(networks));
            hop = Hop { address_policy: own.unwrap_or_else(|| AddressPolicy::beyond(answer.peer(), networks)), target };
        }
        Err(Error::TooManyRedirects { host: base.origin.to_string(), limit: REDIRECTS_MAX })
    }

    /// The zones of its hosts (`name:port`) that were resolved for the first time and have not been reported yet.
    pub fn newly_pinned(&self) -> Vec<(String, Zone)> {
        let new = self.bases.iter().filter_map(|base| {
            let zone = *base.zone.get()?;
            (!base.told.swap(true, Ordering::Relaxed)).then(|| (base.origin.to_string(), zone))
        });
        new.collect()
    }

    /// The base whose host this is; `None` for the target of a redirect.
    fn own(&self, origin: &Origin) -> Option<&Base> {
        self.bases.iter().find(|base| base.origin == *origin)
    }

    fn is_own(&self, origin: &Origin) -> bool {
        self.own(origin).is_some()
    }
}

/// The shortest time between two calls for one request, of which the first was answered with a pause.
const PAUSE_MIN: Duration = Duration::from_millis(500);

/// Records the result of each host for operators, so that they see which host responded in the end, and why it was tried.
fn tell(event: &mut Event, base: &Base, said: &Result<Arriving, Error>) {
    let said = match said {
        Ok(answer) if is_sure(answer.status()) => return,
        Ok(answer) => format!("`{}` answered {}", base.origin, answer.status()),
        Err(error) => error.to_string(),
    };
    let before = if event.detail.is_empty() { "" } else { "; " };
    event.detail += before;
    event.detail += &said;
}

/// Whether a response is the file, or proves that there is none. Any other response proves nothing: the upstream may have the
/// file and be unable to send it now.
fn is_sure(status: u16) -> bool {
    matches!(status, 200 | 206 | 304 | 404 | 410)
}

#[cfg(test)]
mod tests;
