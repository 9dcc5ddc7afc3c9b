//! A request that a stored response may answer, and what the store has for it.

use crate::app::App;
use crate::cache::key::{Key, KeyRef};
use crate::cache::rules::asked::Asked;
use crate::cache::rules::usable::Use;
use crate::cache::status::{Forwarded, HIT};
use crate::cache::stored::{Hidden, Stored};
use crate::cache::{Cache, Found, Variants};
use crate::pass::Outgoing;
use front::{Reply, Request};
use http::header::UPGRADE;
use http::{HeaderMap, StatusCode};
use std::sync::Arc;
use telemetry::{Event, Layer, Millis, Miss, Reason};

/// A request that a stored response may answer.
#[derive(Debug, Clone)]
pub(super) struct Visit {
    key: Key,
    target: String,
    pub(super) asked: Asked,
}

/// What the store has for a request.
#[derive(Debug)]
pub(super) enum Look {
    /// The answer.
    Fresh(Arc<Stored>),
    /// The answer, which is to be fetched again in the background.
    WhileRevalidating(Arc<Stored>),
    /// A stale response that hides trouble, which was met not long ago. It is to be fetched again in the background.
    Hiding(Arc<Stored>, Reason),
    /// Something that cannot be used as it is, or responses for other headers, or nothing: the application has to be asked.
    Ask(Option<Arc<Stored>>, Option<Arc<Variants>>, Forwarded),
}

impl Visit {
    /// Reads a request. `None`: the cache has nothing to do with it.
    pub(super) fn of(cache: &Cache, outgoing: &Outgoing) -> Option<Self> {
        let asked = Asked::of(&outgoing.method, &outgoing.headers, outgoing.upload.is_some())?;
        let upgrades = outgoing.headers.contains_key(UPGRADE);
        let key = KeyRef::of(&outgoing.headers, outgoing.target.as_str()).filter(|_| cache.is_on() && !upgrades)?.key();
        Some(Self { key, target: outgoing.target.as_str().to_owned(), asked })
    }

    /// The fresh response to a request, found with the headers of the client itself: they are the ones of the application, too, if no
    /// trusted proxy changes them. Makes nothing that only an application needs.
    pub(super) fn at_once(app: &App, request: &Request, now: Millis) -> Option<Arc<Stored>> {
        let (cache, headers) = (&app.cache, &request.headers);
        let asked = Asked::of(&request.method, headers, !request.upload.is_none())?;
        let is_direct = app.proxies.forwarded_url(request.peer, headers).is_none();
        if !is_direct || headers.contains_key(UPGRADE) {
            return None;
        }
        let target = request.target()?;
        let key = KeyRef::new(request.tls, request.host()?, target.as_str())?;
        let stored = cache.fresh(&key, headers, &asked.directives, now)?;
        cache.bound()?.cache().hit();
        Some(stored)
    }

    /// Its key.
    pub(super) fn key(&self) -> KeyRef<'_> {
        self.key.borrowed()
    }

    /// Its path and query.
    pub(super) fn target(&self) -> &str {
        &self.target
    }

    /// Looks into the store, and counts the lookup.
    pub(super) fn look(&self, cache: &Cache, headers: &HeaderMap, now: Millis) -> Look {
        let (looked, miss) = match cache.find(&self.key(), headers) {
            Found::Response(stored) => match stored.terms.use_for(&stored.freshness, &self.asked.directives, now) {
                // Such a request leaves nothing here, so it takes nothing either.
                _ if self.asked.directives.no_store => (Look::Ask(None, None, Forwarded::Request), Some(Miss::Stale)),
                Use::Fresh | Use::Stale => (Look::Fresh(stored), None),
                Use::WhileRevalidating => (Look::WhileRevalidating(stored), None),
                Use::Validate if let Some(hidden) = self.hides(&stored, now) => {
                    (Look::Hiding(stored, hidden.reason), None)
                }
                Use::Validate => {
                    let forwarded = if stored.freshness.is_fresh(now) { Forwarded::Request } else { Forwarded::Stale };
                    (Look::Ask(Some(stored), None, forwarded), Some(Miss::Stale))
                }
            },
            Found::Others(others) => (Look::Ask(None, Some(others), Forwarded::VaryMiss), Some(Miss::Absent)),
            Found::Nothing(miss) => {
                let forwarded = if self.asked.range { Forwarded::Partial } else { Forwarded::UriMiss };
                (Look::Ask(None, None, forwarded), Some(miss))
            }
        };
        if let Some(bound) = cache.bound() {
            match miss {
                Some(miss) => bound.cache().miss(miss),
                None => bound.cache().hit(),
            }
        }
        looked
    }

    /// The fresh response, after [`Visit::look`] found none and counted that.
    pub(super) fn fresh(&self, cache: &Cache, headers: &HeaderMap, now: Millis) -> Option<Arc<Stored>> {
        cache.fresh(&self.key(), headers, &self.asked.directives, now)
    }

    /// The trouble that a stale response hides for this request, if it was met not long ago.
    fn hides(&self, stored: &Stored, now: Millis) -> Option<Hidden> {
        let asked = &self.asked.directives;
        let met = stored.hidden(now).filter(|_| asked.max_age.is_none() && asked.min_fresh.is_none());
        met.filter(|hidden| stored.terms.hides(hidden.trouble, &stored.freshness, asked, now))
    }

    /// The same for a request in the background: the whole response, without the conditions of the client.
    pub(super) fn in_background(&self) -> Self {
        let asked = Asked { head: false, range: false, conditional: false, ..self.asked.clone() };
        Self { asked, ..self.clone() }
    }

    /// Whether it may wait for the response to another request. `known`: a response of its URL is stored, whether it is for its headers or
    /// not. A request of a user waits only if the URL has, or had, a response for all.
    pub(super) fn may_wait(&self, cache: &Cache, known: Option<&Stored>, now: Millis) -> bool {
        let asked = &self.asked.directives;
        let insists = asked.no_cache || asked.no_store || asked.max_age.is_some() || asked.min_fresh.is_some();
        let in_part = self.asked.head || (self.asked.range && known.is_none());
        if insists || in_part || known.is_some_and(|known| known.terms.needs_validation()) {
            return false;
        }
        let is_shared = cache.is_shared(&self.key(), now);
        is_shared.unwrap_or_else(|| known.is_some() || !self.asked.personal)
    }

    /// Whether others may wait for the response to it: an answer to its conditions cannot be stored.
    pub(super) fn may_lead(&self, known: Option<&Stored>) -> bool {
        known.is_some() || !self.asked.conditional
    }
}

/// The reply with a stored response.
pub(super) fn hit(stored: &Stored, now: Millis, collapsed: bool, event: &mut Event) -> Reply {
    event.layer = Layer::AppCache;
    tell(event, "hit");
    let left = stored.freshness.left(now);
    let said = match (left < 0, collapsed) {
        (false, false) => HIT.to_owned(),
        (false, true) => format!("{HIT}; collapsed"),
        (true, _) => format!("{HIT}; ttl={left}"),
    };
    stored.reply(now, &said)
}

/// Records what the cache did.
pub(super) fn tell(event: &mut Event, cache: &'static str) {
    event.more_mut().app.get_or_insert_default().cache = cache;
}

/// The reply to `only-if-cached` (RFC 9111, 5.2.1.7).
pub(super) fn not_stored() -> Reply {
    Reply::text(StatusCode::GATEWAY_TIMEOUT, "no stored response can be used, and the request wants no other\n")
}
