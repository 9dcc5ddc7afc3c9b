//! The whole way of a request for an application, on one screen.

mod fetch;
mod keep;
mod pages;
mod refill;
mod refresh;
mod visit;

use crate::app::App;
use crate::cache::Cache;
use crate::cache::flights::{End, Part};
use crate::cache::key::KeyRef;
use crate::cache::rules::usable::Trouble;
use crate::cache::rules::{invalidation, update};
use crate::cache::status::{Forwarded, Report};
use crate::pass::{Outgoing, PassError};
use fetch::Fetch;
use front::{Reply, Request};
use http::StatusCode;
use pages::Page;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Event, Op, Reason};
use visit::{Look, Visit};

/// How long a request waits for the body of the response to another one. An application that sends its page slowly sends it to each.
const BODY_WAIT: Duration = Duration::from_secs(10);
/// How often a request waits for a response that is then stored, and not for it.
const WAITS: usize = 3;

impl App {
    /// Answers a request.
    pub(crate) async fn answer(self: &Arc<Self>, request: &mut Request, event: &mut Event) -> Reply {
        match self.answered(request, event).await {
            Ok(reply) => reply,
            Err(error) => error.into_reply(event),
        }
    }

    async fn answered(self: &Arc<Self>, request: &mut Request, event: &mut Event) -> Result<Reply, PassError> {
        let now = event.at;
        if self.cache.is_on()
            && let Some(stored) = event.time(Op::AppCacheLookup, || Visit::at_once(self, request, now))
        {
            return Ok(visit::hit(&stored, now, false, event));
        }
        let mut instead = None;
        if let Some(pages) = &self.pages {
            // In a box, so that requests for other applications do not pay for its size.
            match Box::pin(self.through_pages(pages, request, event)).await {
                Page::Reply(reply) => return Ok(reply),
                Page::Instead(page) => instead = Some(page),
                Page::None => {}
            }
        }
        let outgoing = Outgoing::of(self, request, event).await?;
        let answered = match Visit::of(&self.cache, &outgoing) {
            Some(visit) => self.through_cache(outgoing, visit, event).await,
            None => self.around_cache(outgoing, event).await,
        };
        match (&self.pages, instead) {
            (Some(pages), Some(page)) => pages::or_instead(pages, answered, &page, event),
            _ => answered,
        }
    }

    /// A request whose response is not stored. If it changed something, stored responses may be outdated (RFC 9111, 4.4).
    async fn around_cache(self: &Arc<Self>, outgoing: Outgoing, event: &mut Event) -> Result<Reply, PassError> {
        let (method, target) = (outgoing.method.clone(), outgoing.target.clone());
        let key = KeyRef::of(&outgoing.headers, target.as_str()).filter(|_| self.cache.is_on()).map(|key| key.key());
        let mut passed = self.pass(outgoing, event).await?;
        if let Some(key) = key {
            if invalidation::outdates(&method, passed.status) {
                self.cache.outdate(&key.borrowed(), &passed.headers);
            }
            let reads = [http::Method::GET, http::Method::HEAD].contains(&method);
            let forwarded = if reads { Forwarded::Bypass } else { Forwarded::Method };
            visit::tell(event, forwarded.as_str());
            if passed.status != StatusCode::SWITCHING_PROTOCOLS {
                Report::of(forwarded).add(&mut passed.headers);
            }
        }
        update::for_clients(&mut passed.headers);
        Ok(passed.into_reply())
    }

    /// A request that a stored response may answer.
    async fn through_cache(
        self: &Arc<Self>,
        outgoing: Outgoing,
        visit: Visit,
        event: &mut Event,
    ) -> Result<Reply, PassError> {
        let mut fetch = Fetch {
            app: self.clone(),
            visit,
            stored: None,
            leading: None,
            forwarded: Forwarded::UriMiss,
            collapsed: false,
        };
        let (mut waits, mut flew) = (0, false);
        while waits < WAITS {
            let now = self.recorder.clock().now();
            let looked = event.time(Op::AppCacheLookup, || fetch.visit.look(&self.cache, &outgoing.headers, now));
            let others = match looked {
                Look::Fresh(stored) => return Ok(visit::hit(&stored, now, fetch.collapsed, event)),
                Look::WhileRevalidating(stored) => {
                    self.refresh(&fetch.visit, &stored, &outgoing);
                    return Ok(visit::hit(&stored, now, fetch.collapsed, event));
                }
                Look::Hiding(stored, reason) => {
                    self.refresh(&fetch.visit, &stored, &outgoing);
                    return Ok(fetch.stale(&stored, reason, event));
                }
                Look::Ask(stored, others, forwarded) => {
                    (fetch.stored, fetch.forwarded) = (stored, forwarded);
                    others
                }
            };
            if fetch.visit.asked.directives.only_if_cached {
                return Ok(visit::not_stored());
            }
            let known = fetch.stored.as_deref().or_else(|| others.as_deref()?.newest());
            if !fetch.visit.may_wait(&self.cache, known, now) {
                break;
            }
            let flight = Cache::flight(&fetch.visit.key(), known, &outgoing.headers);
            let part = if fetch.visit.may_lead(known) && !outgoing.needs_len {
                Some(self.cache.flights.join(flight))
            } else {
                self.cache.flights.follow(&flight)
            };
            flew |= part.is_some();
            match part {
                None => break,
                Some(Part::First(leading)) => {
                    fetch.leading = Some(leading);
                    break;
                }
                Some(Part::Other(following)) => {
                    let _waiting = self.cache.bound().map(|bound| bound.wait());
                    match event.waited(Op::AppCacheWait, following.end(BODY_WAIT)).await {
                        End::Stored => (fetch.collapsed, waits) = (true, waits + 1),
                        // Each time one request fewer waits.
                        End::Left => {}
                        End::LetGo => break,
                        End::Hidden => match fetch.hiding(Trouble::NoAnswer) {
                            Some(stored) => return Ok(fetch.stale(&stored, Reason::UpstreamFailed, event)),
                            None => break,
                        },
                    }
                }
            }
        }
        // Another flight may have ended, and its response been stored, since the last look.
        let now = self.recorder.clock().now();
        let fresh = || fetch.visit.fresh(&self.cache, &outgoing.headers, now);
        if let Some(stored) = flew.then(fresh).flatten() {
            fetch.finish(End::Stored);
            return Ok(visit::hit(&stored, now, true, event));
        }
        fetch.reply(outgoing, event).await
    }
}
