//! One upstream: where it is, what is shown to it, and how it is asked for a file.

mod calling;

use crate::arriving::Arriving;
use crate::credentials::authorization;
use crate::error::Error;
use crate::host::{Host, HostState};
use crate::hosts::Hosts;
use crate::path::escaped;
use crate::pool::PoolKey;
use crate::proxy::Proxy;
use crate::proxy::ProxyOptions;
use crate::redirect::{self, REDIRECTS_MAX};
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
use telemetry::Event;

/// Where an upstream is, and what is shown to it.
#[derive(Debug, Clone, Default)]
pub struct UpstreamOptions {
    /// Base URLs: the upstream's, then those of its mirrors, in the order in which they are asked. At least one.
    pub urls: Vec<String>,
    /// `user:password`, or a token. Shown to the hosts of `urls` and to nobody else.
    pub credentials: Option<Secret>,
    /// The HTTP proxy on the pool_key to it, and to wherever it redirects.
    pub proxy: Option<ProxyOptions>,
    /// Certificates that are trusted besides the machine's own.
    pub trust: Option<Pem>,
    /// The certificate shown to the hosts of `urls`, with its key.
    pub certificate: Option<Pem>,
    /// Where its hosts (`name:port`) were found when they were first looked up: what [`Upstream::newly_pinned`] told. They are called
    /// no further in.
    pub pinned: Vec<(String, Zone)>,
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
    timeouts: Timeouts,
    pool_keys: PoolKeys,
    hosts: Arc<Hosts>,
}

#[derive(Debug)]
struct Base {
    /// Without a slash at its end.
    url: String,
    origin: Origin,
    /// Held, so that what is known of the host stays known.
    host: Arc<Host>,
    /// Where it was found when it was first looked up.
    zone: OnceLock<Zone>,
    /// Whether that has been told.
    told: AtomicBool,
}

impl Base {
    fn address_policy(&self, networks: Networks) -> AddressPolicy {
        AddressPolicy::Named { networks, pinned: self.zone.get().copied() }
    }
}

/// The pool_keys of its connections: to its own hosts, where a certificate is shown, and to others.
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
    /// Looks whether the options can be used; calls nobody.
    pub fn new(options: UpstreamOptions, hosts: Arc<Hosts>) -> Result<Self, Error> {
        let mut bases = Vec::with_capacity(options.urls.len());
        for url in &options.urls {
            let target = Target::of(url)?;
            if target.path.query().is_some() {
                return Err(Error::NotAUrl { url: url.clone() });
            }
            let (host, url) = (hosts.of(&target.origin), url.trim_end_matches('/').to_owned());
            let name = target.origin.to_string();
            let pinned = options.pinned.iter().find(|(host, _)| *host == name).map(|(_, zone)| *zone);
            let (zone, told) = (pinned.map_or_else(OnceLock::new, OnceLock::from), pinned.is_some().into());
            let base = Base { url, origin: target.origin, host, zone, told };
            base.address_policy(hosts.networks()).check_name(&base.origin)?;
            bases.push(base);
        }
        let Some(first) = bases.first() else { return Err(Error::NotAUrl { url: String::new() }) };
        let authorization = match &options.credentials {
            Some(secret) => Some(authorization(secret).ok_or_else(|| unsendable(&first.origin))?),
            None => None,
        };
        let tls = Tls::new(options.trust.as_ref(), options.certificate.as_ref())?;
        let proxy = options.proxy.as_ref().map(Proxy::new).transpose()?;
        let plain = options.trust.is_none() && options.certificate.is_none() && proxy.is_none();
        let pool_keys =
            if plain { PoolKeys { own: PoolKey::MACHINE, others: PoolKey::MACHINE } } else { PoolKeys::new() };
        Ok(Self { bases, authorization, tls, proxy, timeouts: hosts.timeouts(), pool_keys, hosts })
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

    /// Whether none of its hosts answered of late, so that the next call is a trial.
    pub fn is_in_doubt(&self) -> bool {
        self.bases.iter().all(|base| base.host.is_in_doubt())
    }

    async fn ask(&self, path: &str, ask: &Ask<'_>, event: &mut Event) -> Result<Arriving, Error> {
        let mut unsure = None;
        for base in &self.bases {
            // Boxed: a call is large, and whoever waits for it should not be.
            let said = Box::pin(self.follow(base, path, ask, event)).await;
            if self.bases.len() > 1 {
                tell(event, base, &said);
            }
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
        let target = Target::of(&format!("{}/{}", base.url, escaped(path)))?;
        let networks = self.hosts.networks();
        let mut hop = Hop { target, address_policy: base.address_policy(networks) };
        let mut folder = false;
        for _ in 0..=REDIRECTS_MAX {
            let mut answer = self.call(&hop, ask, event).await?;
            if !matches!(answer.status(), 200 | 206) {
                answer.listen(event).await;
            }
            if !redirect::leads_on(answer.status()) {
                return Ok(answer.of_folder(folder));
            }
            let target = redirect::follow(&hop.target, answer.header("location"))?;
            folder |= redirect::is_to_folder(&hop.target, &target);
            let own = self.own(&target.origin).map(|base| base.address_policy(networks));
            hop = Hop { address_policy: own.unwrap_or_else(|| AddressPolicy::beyond(answer.peer(), networks)), target };
        }
        Err(Error::TooManyRedirects { host: base.origin.to_string(), limit: REDIRECTS_MAX })
    }

    /// Where its hosts (`name:port`) were found when they were looked up for the first time, of those of which this has not been told
    /// before.
    pub fn newly_pinned(&self) -> Vec<(String, Zone)> {
        let new = self.bases.iter().filter_map(|base| {
            let zone = *base.zone.get()?;
            (!base.told.swap(true, Ordering::Relaxed)).then(|| (base.origin.to_string(), zone))
        });
        new.collect()
    }

    /// Which of its own hosts it is; `None`: somebody to whom a redirect leads.
    fn own(&self, origin: &Origin) -> Option<&Base> {
        self.bases.iter().find(|base| base.origin == *origin)
    }

    fn is_own(&self, origin: &Origin) -> bool {
        self.own(origin).is_some()
    }
}

/// Notes for operators what one of several said that did not know: which of them answered in the end, and why it was asked.
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

/// Whether an answer says what is asked, or proves that there is nothing to say. Others leave it open: the upstream may
/// have the file and not give it away now.
fn is_sure(status: u16) -> bool {
    matches!(status, 200 | 206 | 304 | 404 | 410)
}

#[cfg(test)]
mod tests;
