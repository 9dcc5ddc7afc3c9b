//! Storing the responses of the application.

use super::fetch::{Fetch, Sent};
use crate::app::App;
use crate::cache::flights::{End, Leading};
use crate::cache::key::Key;
use crate::cache::rules::asked::Asked;
use crate::cache::rules::storable::{Storable, Unstorable};
use crate::cache::rules::update::after_304;
use crate::cache::rules::validation::head_is_about;
use crate::cache::status::Report;
use crate::cache::stored::Stored;
use crate::pass::{Passed, PassedBody};
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use std::sync::Arc;
use tokio::task::spawn_local;

/// A response whose body is on its way into the store.
struct Coming {
    app: Arc<App>,
    key: Key,
    sent: HeaderMap,
    began: u64,
    status: StatusCode,
    headers: HeaderMap,
    storable: Storable,
    /// Others wait for it.
    leading: Option<Leading>,
}

impl Fetch {
    /// Stores a response if it may be stored, and lets the others go if they cannot use it. A body that is still coming is stored when it
    /// has come.
    pub(super) fn keep(&mut self, passed: &mut Passed, sent: Sent<'_>) -> Report {
        let mut report = Report { collapsed: self.collapsed, ..Report::of(self.forwarded) };
        if sent.asked.head {
            self.after_head(passed, &sent);
            return report;
        }
        let cache = &self.app.cache;
        let target = self.visit.target();
        let judged = cache.judge(target, sent.asked, &sent.headers, passed.status, &passed.headers, sent.at);
        let fits = |len: usize| if len <= cache.largest() { Ok(()) } else { Err(Unstorable::Size) };
        let of_body = match &passed.body {
            PassedBody::Bytes(body) => fits(body.len()),
            PassedBody::Spooled(body) => fits(body.len().map_or(0, |len| usize::try_from(len).unwrap_or(usize::MAX))),
            PassedBody::Endless(_) | PassedBody::Tunnel(_) | PassedBody::File(_) => Err(Unstorable::Body),
        };
        let judged = judged.and_then(|storable| of_body.map(|()| storable));
        let is_shared = judged.as_ref().is_ok_and(|storable| storable.is_shared(sent.at.answered));
        if is_shared || tells_of_others(sent.asked, passed.status) {
            cache.remember(&self.visit.key(), is_shared, sent.at.answered);
        } else if sent.asked.personal
            && passed.status.is_success()
            && judged.as_ref().is_err_and(|why| *why != Unstorable::Authorization)
        {
            cache.forget(&self.visit.key());
        }
        if !is_shared {
            self.finish(End::LetGo);
        }
        report.stored = judged.as_ref().map(drop).map_err(|why| Some(*why));
        if let Ok(storable) = judged {
            let coming = Coming {
                app: self.app.clone(),
                key: self.visit.key().key(),
                sent: sent.headers,
                began: sent.began,
                status: passed.status,
                headers: passed.headers.clone(),
                storable,
                leading: self.leading.take(),
            };
            match &passed.body {
                PassedBody::Bytes(body) => coming.store(Some(Bytes::copy_from_slice(body))),
                PassedBody::Spooled(body) => {
                    let body = body.copy(self.app.cache.largest());
                    if let Some(leading) = &coming.leading {
                        leading.coming();
                    }
                    // A copy of its length: the buffer has grown beyond it.
                    spawn_local(async move { coming.store(body.await.map(|body| Bytes::copy_from_slice(&body))) });
                }
                // Judged above: they have no body that could be stored.
                PassedBody::Endless(_) | PassedBody::Tunnel(_) | PassedBody::File(_) => {}
            }
        }
        report
    }

    /// Stores a response again, with the headers of a 304, unless that is for one client only. Returns it, and whether others may use it.
    pub(super) fn freshen(
        &self,
        stored: &Stored,
        sent: &Sent<'_>,
        newer: &HeaderMap,
        for_all: bool,
    ) -> (Arc<Stored>, bool) {
        let (cache, key, at) = (&self.app.cache, self.visit.key(), sent.at);
        let headers = after_304(&stored.headers, newer);
        let judged = cache.judge(self.visit.target(), sent.asked, &sent.headers, stored.status, &headers, at);
        let (may_be_stored, is_shared) =
            (judged.is_ok(), judged.as_ref().is_ok_and(|storable| storable.is_shared(at.answered)));
        // The credentials of this request say nothing against the response that is stored.
        let is_refused = judged.as_ref().is_err_and(|why| *why != Unstorable::Authorization);
        let storable = judged.unwrap_or_else(|_| Storable::for_one(&headers, at));
        let kept = cache.response(&key, sent.began, stored.status, &headers, stored.body.clone(), storable);
        if !for_all {
            return (kept, false);
        }
        if is_refused {
            cache.outdate(&key, &HeaderMap::new());
        }
        if is_shared || !sent.asked.personal {
            cache.remember(&key, is_shared, at.answered);
        }
        // The number of this request says nothing of a purge between the lookup and the request.
        let is_stored = may_be_stored && cache.holds(stored) && cache.put(&key, &sent.headers, kept.clone());
        (kept, is_stored && is_shared)
    }

    /// The answer to a `HEAD` may confirm the stored response, or show that it is no longer current (RFC 9111, 4.3.5).
    fn after_head(&self, passed: &Passed, sent: &Sent<'_>) {
        let Some(stored) = self.stored.as_ref().filter(|stored| stored.status == passed.status) else { return };
        match head_is_about(&passed.headers, &stored.headers, stored.body.len()) {
            Some(true) => {
                let is_plain = !passed.headers.contains_key(header::SET_COOKIE);
                self.freshen(stored, sent, &passed.headers, is_plain);
            }
            Some(false) => self.app.cache.outdate(&self.visit.key(), &HeaderMap::new()),
            None => {}
        }
    }
}

/// Whether a response that cannot be shared tells that the next one of its URL cannot, either. A failure does not, nor does a response for
/// one user, or one to a request that asks for less than the whole or wants nothing stored.
fn tells_of_others(asked: &Asked, status: StatusCode) -> bool {
    const OF_THE_REQUEST: [u16; 7] = [304, 412, 413, 416, 425, 429, 431];
    let is_odd = asked.personal || asked.conditional || asked.range || asked.directives.no_store;
    !is_odd && !status.is_server_error() && !OF_THE_REQUEST.contains(&status.as_u16())
}

impl Coming {
    /// Stores it with its body, if that came whole.
    fn store(self, body: Option<Bytes>) {
        let Self { app, key, sent, began, status, headers, storable, leading } = self;
        let key = key.borrowed();
        let Some(body) = body else {
            // It was cut, or is longer than any that is stored.
            app.cache.remember(&key, false, app.recorder.clock().now());
            return leading.into_iter().for_each(|leading| leading.end(End::LetGo));
        };
        let stored = app.cache.response(&key, began, status, &headers, body, storable);
        let end = match app.cache.put(&key, &sent, stored.clone()) {
            true => End::Stored,
            // It was purged while it came: another request asks for the present one.
            false if !app.cache.holds(&stored) => End::Left,
            false => End::LetGo,
        };
        if let Some(leading) = leading {
            leading.end(end);
        }
    }
}
