//! The stored responses of an application, as RFC 9111 allows a shared cache, in memory.
//!
//! `rules` decide, `store` has the responses, `purges` tell which of them still hold, and `flights` let one request go to the application
//! for many. A request that needs no more than a fresh response is answered by [`Cache::plain`]; all others by `crate::answer`.

pub(crate) mod flights;
pub(crate) mod key;
mod purges;
pub(crate) mod rules;
mod sharing;
pub(crate) mod status;
mod store;
pub(crate) mod stored;

use crate::options::{AppOptions, Preset};
use crate::view::CacheView;
use bytes::Bytes;
use flights::{FlightKey, Flights};
use front::{PlainHead, StoredReply};
use http::{HeaderMap, StatusCode, Uri};
use key::KeyRef;
use purges::Purges;
use rules::asked::{self, Asked};
use rules::directives::Directives;
use rules::freshness::Exchanged;
use rules::policy::Policy;
use rules::storable::{Storable, Unstorable, storable};
use rules::usable::Use;
use rules::{invalidation, preset};
use sharing::Sharing;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use store::Store;
pub(crate) use store::{Found, Variants};
use stored::Stored;
use telemetry::{Bound, Millis, Miss, Recorder, Subject};

/// The stored responses of an application.
#[derive(Debug)]
pub(crate) struct Cache {
    /// `None`: it stores none.
    store: Option<Store>,
    purges: Purges,
    pub(crate) flights: Flights,
    sharing: Sharing,
    preset: Option<Preset>,
    hasher: RandomState,
}

impl Cache {
    /// A cache with these settings. Its bound is registered at `recorder`.
    pub(crate) fn new(options: &AppOptions, recorder: &Arc<Recorder>) -> Self {
        let store = (options.cache_bytes > 0).then(|| Store::new(&options.name, options.response_bytes(), recorder));
        Self {
            store,
            purges: Purges::default(),
            flights: Flights::default(),
            sharing: Sharing::default(),
            preset: options.preset,
            hasher: RandomState::new(),
        }
    }

    /// Whether it stores anything.
    pub(crate) fn is_on(&self) -> bool {
        self.store.is_some()
    }

    /// Its bound.
    pub(crate) fn bound(&self) -> Option<&Arc<Bound>> {
        self.store.as_ref().map(Store::bound)
    }

    /// The most bytes that a stored body may have.
    pub(crate) fn largest(&self) -> usize {
        self.store.as_ref().map_or(0, Store::largest)
    }

    /// The reply to a plain request for `host`, if a fresh response is stored and the client asks for no other.
    pub(crate) fn plain(
        &self,
        head: &PlainHead<'_>,
        host: &str,
        now: Millis,
        subject: impl FnOnce() -> Subject,
    ) -> Option<StoredReply> {
        let (store, key, fields) = (self.store.as_ref()?, KeyRef::new(head.tls, host, head.target)?, head);
        let Found::Response(stored) = store.find(&key, fields, &self.purges) else { return None };
        let asked = if asked::is_silent(fields) { Directives::default() } else { asked::directives(fields) };
        let is_fresh = stored.terms.use_for(&stored.freshness, &asked, now) == Use::Fresh;
        if !is_fresh || asked.no_store || asked::overrides(fields) {
            return None;
        }
        store.bound().cache().hit();
        Some(stored.plain(now, store.copies(), subject()))
    }

    /// Looks for the response to a request with these headers.
    pub(crate) fn find(&self, key: &KeyRef<'_>, request: &HeaderMap) -> Found {
        self.store.as_ref().map_or(Found::Nothing(Miss::Absent), |store| store.find(key, request, &self.purges))
    }

    /// The fresh response to a request with these headers, if the request may be answered with it. The lookup is not counted.
    pub(crate) fn fresh(
        &self,
        key: &KeyRef<'_>,
        request: &HeaderMap,
        asked: &Directives,
        now: Millis,
    ) -> Option<Arc<Stored>> {
        let Found::Response(stored) = self.find(key, request) else { return None };
        (!asked.no_store && stored.terms.use_for(&stored.freshness, asked, now) == Use::Fresh).then_some(stored)
    }

    /// The number for the stamp of a response whose request is sent after this call.
    pub(crate) fn begin(&self) -> u64 {
        self.purges.begin()
    }

    /// Whether a response to a `GET` may be stored. `sent`: the headers that the application got.
    pub(crate) fn judge(
        &self,
        target: &str,
        asked: &Asked,
        sent: &HeaderMap,
        status: StatusCode,
        headers: &HeaderMap,
        at: Exchanged,
    ) -> Result<Storable, Unstorable> {
        let mut policy = Policy::of(headers, at.answered.seconds());
        preset::apply(self.preset, target, status, headers, &mut policy);
        storable(asked, sent, status, headers, policy, at)
    }

    /// A response whose request began at `began`, as it is stored.
    pub(crate) fn response(
        &self,
        key: &KeyRef<'_>,
        began: u64,
        status: StatusCode,
        headers: &HeaderMap,
        body: Bytes,
        storable: Storable,
    ) -> Arc<Stored> {
        let stamp = self.purges.stamp(began, key, &storable.tags);
        Arc::new(Stored::new(status, headers, body, storable, stamp))
    }

    /// Stores a response to a request with these headers. Returns whether it is stored.
    pub(crate) fn put(&self, key: &KeyRef<'_>, sent: &HeaderMap, stored: Arc<Stored>) -> bool {
        self.store.as_ref().is_some_and(|store| store.put(key, sent, stored, &self.purges))
    }

    /// Whether a response was not purged since its request was sent.
    pub(crate) fn holds(&self, stored: &Stored) -> bool {
        self.purges.holds(&stored.stamp)
    }

    /// The flight for the response to a request with these headers. `known`: a response of the same URL.
    pub(crate) fn flight(key: &KeyRef<'_>, known: Option<&Stored>, request: &HeaderMap) -> FlightKey {
        (key.key(), known.map(|known| known.selecting(request)).unwrap_or_default())
    }

    /// Whether the last response of a URL could be shared. `None`: it is not known.
    pub(crate) fn is_shared(&self, key: &KeyRef<'_>, now: Millis) -> Option<bool> {
        self.sharing.get(self.hasher.hash_one(key), now)
    }

    /// Remembers whether the response of a URL can be shared.
    pub(crate) fn remember(&self, key: &KeyRef<'_>, is_shared: bool, now: Millis) {
        self.sharing.add(self.hasher.hash_one(key), is_shared, now);
    }

    /// A user got a response that is for this user alone: others of the URL do not wait for the next one.
    pub(crate) fn forget(&self, key: &KeyRef<'_>) {
        self.sharing.forget(self.hasher.hash_one(key));
    }

    /// Outdates the responses of a URL, and of the URLs that the answer to a change names.
    pub(crate) fn outdate(&self, key: &KeyRef<'_>, answer: &HeaderMap) {
        let others = invalidation::others(answer, key.host(), key.target());
        let places = others.iter().map(|other| self.purges.url(key.host(), other));
        self.purges.purge(places.chain([self.purges.url(key.host(), key.target())]));
    }

    /// Drops the responses of these URLs, with all their variants, and with these tags. A URL is absolute, or a path and query, which is that
    /// of all hosts. Returns how many responses there were. Responses that are on their way are not stored, and not counted.
    pub(crate) fn purge(&self, urls: &[String], tags: &[String]) -> u64 {
        let Some(store) = &self.store else { return 0 };
        let urls: Vec<(Option<String>, String)> = urls.iter().filter_map(|url| named(url)).collect();
        let of_urls = urls.iter().map(|(host, target)| match host {
            Some(host) => self.purges.url(host, target),
            None => self.purges.path(target),
        });
        self.purges.purge(of_urls.chain(tags.iter().map(|tag| self.purges.tag(tag.as_bytes()))));
        store.sweep(&self.purges, |key, stored| {
            let is_url = |(host, target): &(Option<String>, String)| {
                target == key.target() && host.as_deref().is_none_or(|host| host == key.host())
            };
            urls.iter().any(is_url) || tags.iter().any(|tag| stored.tags.has(tag.as_bytes()))
        })
    }

    /// Its state, for operators.
    pub(crate) fn view(&self) -> CacheView {
        let Some(bound) = self.bound() else { return CacheView::default() };
        let counts = bound.cache();
        let misses: u64 = [Miss::Absent, Miss::Refused, Miss::Stale].into_iter().map(|miss| counts.misses(miss)).sum();
        CacheView {
            bytes: bound.used(),
            max_bytes: bound.capacity(),
            responses: counts.entries(),
            hits: counts.hits(),
            lookups: counts.hits() + misses,
        }
    }
}

/// The host of a URL, and its path and query. `None`: it is none.
pub(crate) fn named(url: &str) -> Option<(Option<String>, String)> {
    let url = url.split('#').next().unwrap_or_default();
    if url.starts_with('/') {
        return Some((None, url.to_owned()));
    }
    let url: Uri = url.parse().ok()?;
    let (scheme, authority) = (url.scheme_str()?, url.authority()?);
    let target = url.path_and_query().map_or("/", |both| both.as_str());
    let key = KeyRef::new(scheme == "https", authority.as_str(), target)?;
    Some((Some(key.host().to_owned()), target.to_owned()))
}

#[cfg(test)]
mod tests;
