//! Asking the application for a response that is then stored, or whether a stored one still holds.

use super::visit::{self, Visit};
use crate::app::App;
use crate::cache::flights::{End, Leading};
use crate::cache::rules::asked::Asked;
use crate::cache::rules::freshness::Exchanged;
use crate::cache::rules::update::for_clients;
use crate::cache::rules::usable::Trouble;
use crate::cache::rules::validation::{has_validator, is_about, validate, without_conditions};
use crate::cache::status::{Forwarded, Report};
use crate::cache::stored::{self, Hidden, Stored};
use crate::pass::{Outgoing, PassError, Passed, PassedBody};
use front::{Ranges, Reply};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use std::sync::Arc;
use telemetry::{Event, Reason};

pub(super) const DAYLIGHT_STALE: HeaderName = HeaderName::from_static("daylight-stale");

/// A request that goes to the application.
#[derive(Debug)]
pub(super) struct Fetch {
    pub(super) app: Arc<App>,
    pub(super) visit: Visit,
    /// The stored response, which cannot be used without asking.
    pub(super) stored: Option<Arc<Stored>>,
    /// Others wait for this request.
    pub(super) leading: Option<Leading>,
    pub(super) forwarded: Forwarded,
    /// It waited for another request.
    pub(super) collapsed: bool,
}

/// The request that the application got.
#[derive(Debug)]
pub(super) struct Sent<'a> {
    /// What it says: without the conditions and the range of the client where they were not sent.
    pub(super) asked: &'a Asked,
    pub(super) headers: HeaderMap,
    /// The number for the stamp of its response.
    pub(super) began: u64,
    pub(super) at: Exchanged,
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Came {
    /// The stored response holds. The headers are for this client alone.
    Validated(Arc<Stored>, HeaderMap, Report),
    /// The application failed, and this response hides that.
    Hidden(Arc<Stored>, Reason),
    /// A response. `true`: the conditions and the range of the client were not sent.
    Passed(Box<Passed>, Report, bool),
}

/// Whether a status of the application tells that it failed, so that an older response may be used (RFC 5861, 4).
pub(super) fn is_trouble(status: StatusCode) -> bool {
    matches!(status.as_u16(), 500 | 502 | 503 | 504)
}

impl Fetch {
    /// The reply.
    pub(super) async fn reply(mut self, outgoing: Outgoing, event: &mut Event) -> Result<Reply, PassError> {
        visit::tell(event, self.forwarded.as_str());
        Ok(match self.ask(outgoing, event).await? {
            Came::Hidden(stored, reason) => self.stale(&stored, reason, event),
            Came::Validated(stored, own, report) => {
                let mut reply = stored.reply(self.app.recorder.clock().now(), &report.text());
                for (name, value) in &own {
                    reply.headers.append(name.clone(), value.clone());
                }
                reply
            }
            Came::Passed(mut passed, report, unconditional) => {
                for_clients(&mut passed.headers);
                report.add(&mut passed.headers);
                let is_whole = matches!(passed.body, PassedBody::Bytes(_)) && passed.status == StatusCode::OK;
                let is_file = matches!(passed.body, PassedBody::File(_));
                let mut reply = passed.into_reply();
                if unconditional && !is_file {
                    reply.verbatim = false;
                    reply.ranges = if is_whole { Ranges::Bytes } else { Ranges::None };
                }
                reply
            }
        })
    }

    /// The stored response that may be used in place of trouble.
    pub(super) fn hiding(&self, trouble: Trouble) -> Option<Arc<Stored>> {
        let (now, asked) = (self.app.recorder.clock().now(), &self.visit.asked.directives);
        let hides = |stored: &&Arc<Stored>| {
            self.app.cache.holds(stored) && stored.terms.hides(trouble, &stored.freshness, asked, now)
        };
        self.stored.as_ref().filter(hides).cloned()
    }

    /// The reply with a response that hides trouble.
    pub(super) fn stale(&self, stored: &Stored, reason: Reason, event: &mut Event) -> Reply {
        let mut reply = visit::hit(stored, self.app.recorder.clock().now(), self.collapsed, event);
        event.reason = Some(reason);
        reply.headers.insert(DAYLIGHT_STALE, HeaderValue::from_static(reason.as_str()));
        reply
    }

    /// Asks the application, and stores its response if it may be stored.
    pub(super) async fn ask(&mut self, mut outgoing: Outgoing, event: &mut Event) -> Result<Came, PassError> {
        let clock = self.app.recorder.clock().clone();
        let stored = self.stored.clone().filter(|stored| has_validator(&stored.headers) && !self.visit.asked.head);
        let mut asked = self.visit.asked.clone();
        let mut again = None;
        if let Some(stored) = &stored {
            // The front answers the conditions and the range of the client with the response that comes.
            (asked.range, asked.conditional) = (false, false);
            without_conditions(&mut outgoing.headers);
            again = outgoing.again();
            validate(&mut outgoing.headers, &stored.headers);
        }
        loop {
            let (began, headers, at) = (self.app.cache.begin(), outgoing.headers.clone(), clock.now());
            let passed = self.app.pass(outgoing, event).await;
            let at = Exchanged { asked: at, answered: clock.now() };
            let mut passed = match passed {
                Ok(passed) => passed,
                Err(error) => {
                    if let Some(stored) = self.hiding(Trouble::NoAnswer).filter(|_| error.is_of_app()) {
                        return Ok(self.hide(stored, Hidden::new(Trouble::NoAnswer, error.reason(), at.answered)));
                    }
                    self.finish(End::LetGo);
                    return Err(error);
                }
            };
            if is_trouble(passed.status)
                && let Some(stored) = self.hiding(Trouble::Error)
            {
                return Ok(self.hide(stored, Hidden::new(Trouble::Error, Reason::UpstreamFailed, at.answered)));
            }
            stored::date(&mut passed.headers, at.answered);
            let sent = Sent { asked: &asked, headers, began, at };
            if let Some(stored) = stored.as_ref().filter(|_| passed.status == StatusCode::NOT_MODIFIED) {
                if is_about(&passed.headers, &stored.headers) {
                    return Ok(self.validated(stored, &sent, passed.headers));
                }
                // It is about another response than the stored one (RFC 9111, 4.3.4), so that one is fetched.
                if let Some(unconditional) = again.take() {
                    outgoing = unconditional;
                    continue;
                }
            }
            let report = self.keep(&mut passed, sent);
            return Ok(Came::Passed(Box::new(passed), report, stored.is_some()));
        }
    }

    fn hide(&mut self, stored: Arc<Stored>, hidden: Hidden) -> Came {
        stored.hide(hidden);
        self.finish(End::Hidden);
        Came::Hidden(stored, hidden.reason)
    }

    /// Ends the flight, if others wait.
    pub(super) fn finish(&mut self, end: End) {
        if let Some(leading) = self.leading.take() {
            leading.end(end);
        }
    }

    /// A 304: the stored response holds, with the headers of the 304.
    fn validated(&mut self, stored: &Arc<Stored>, sent: &Sent<'_>, mut headers: HeaderMap) -> Came {
        // A cookie is for this client alone, and a response that comes with one is not stored.
        let mut own = HeaderMap::new();
        for cookie in headers.get_all(header::SET_COOKIE) {
            own.append(header::SET_COOKIE, cookie.clone());
        }
        headers.remove(header::SET_COOKIE);
        let (kept, is_shared) = self.freshen(stored, sent, &headers, own.is_empty());
        self.finish(if is_shared { End::Stored } else { End::LetGo });
        let stored = if is_shared { Ok(()) } else { Err(None) };
        let status = Some(StatusCode::NOT_MODIFIED);
        Came::Validated(kept, own, Report { status, collapsed: self.collapsed, stored, ..Report::of(self.forwarded) })
    }
}
