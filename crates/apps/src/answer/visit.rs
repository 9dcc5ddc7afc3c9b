//! A request that a stored response may answer, and what the store has for it.

use crate::cache::key::{Key, KeyRef};
use crate::cache::rules::asked::Asked;
use crate::cache::rules::usable::Use;
use crate::cache::status::{Forwarded, HIT};
use crate::cache::stored::Stored;
use crate::cache::{Cache, Found, Variants};
use crate::pass::Outgoing;
use front::Reply;
use http::{HeaderMap, StatusCode};
use std::sync::Arc;
use telemetry::{Event, Layer, Millis, Miss};

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
    /// Something that cannot be used as it is, or responses for other headers, or nothing: the application has to be asked.
    Ask(Option<Arc<Stored>>, Option<Arc<Variants>>, Forwarded),
}

impl Visit {
    /// Reads a request. `None`: the cache has nothing to do with it.
    pub(super) fn of(cache: &Cache, outgoing: &Outgoing) -> Option<Self> {
        let asked = Asked::of(&outgoing.method, &outgoing.headers, outgoing.upload.is_some())?;
        let upgrades = outgoing.headers.contains_key(http::header::UPGRADE);
        let key = KeyRef::of(&outgoing.headers, outgoing.target.as_str()).filter(|_| cache.is_on() && !upgrades)?.key();
        Some(Self { key, target: outgoing.target.as_str().to_owned(), asked })
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
                Use::Fresh | Use::Stale if !self.asked.directives.no_store => (Look::Fresh(stored), None),
                Use::WhileRevalidating if !self.asked.directives.no_store => (Look::WhileRevalidating(stored), None),
                _ => {
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

    /// Whether it may wait for the response to another request. `known`: a response of its URL is stored, whether it is for its headers or
    /// not. A request with a cookie waits only then, because its response is probably for one user.
    pub(super) fn may_wait(&self, cache: &Cache, known: Option<&Stored>, now: Millis) -> bool {
        let directives = &self.asked.directives;
        let insists = directives.no_cache
            || directives.no_store
            || directives.max_age.is_some()
            || directives.min_fresh.is_some();
        let never_shared = known.is_some_and(|known| known.terms.needs_validation());
        let for_one = self.asked.personal && known.is_none();
        let in_part = self.asked.head || (self.asked.range && known.is_none());
        !in_part && !insists && !never_shared && !for_one && !cache.is_uncollapsed(&self.key(), now)
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
