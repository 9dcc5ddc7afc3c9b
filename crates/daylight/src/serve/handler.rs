//! Connects the front to the application: the front passes requests to [`App`], and gets replies.

use crate::answer::answer;
use crate::app::App;
use crate::config::ServerTiming;
use crate::error::{Error, Result};
use crate::reply::audience::Audience;
use crate::reply::cache_headers;
use crate::reply::explain_link;
use crate::reply::server_timing;
use crate::{reply, route, site};
use front::{Answering, Handler, Pages, Reply, Request};
use http::StatusCode;
use telemetry::{Event, Op};

impl Handler for App {
    fn pages(&self) -> Option<&Pages> {
        Some(&self.pages)
    }

    fn is_vital(&self, request: &Request) -> bool {
        route::is_vital(&request.method, request.path())
    }

    fn answer<'a>(&'a self, request: &'a mut Request, event: &'a mut Event) -> Answering<'a> {
        Box::pin(answered(self, request, event))
    }
}

/// Answers a request, and turns an error into a reply.
async fn answered(app: &App, request: &mut Request, event: &mut Event) -> Reply {
    let mut audience = Audience::of(&request.headers);
    let is_fresh = app.store.freshness().is_fresh(); // before anything is read
    let mut reply = match answer(app, request, &mut audience, event).await {
        Ok(reply) if app.server_timing == ServerTiming::Off => reply,
        // Boxed, so that the future of a usual answer has no room for an error.
        answered => Box::pin(finish(app, answered, (audience, is_fresh), request, event)).await,
    };
    if !is_fresh {
        cache_headers::mark_unconfirmed(&mut reply.headers, event);
    }
    reply
}

/// The reply with an answer or an error, with `Server-Timing` where it is on.
async fn finish(
    app: &App,
    answered: Result<Reply>,
    (audience, is_fresh): (Audience, bool),
    request: &mut Request,
    event: &mut Event,
) -> Reply {
    let mut reply = match answered {
        Ok(reply) => reply,
        Err(error) => {
            let is_change = !request.method.is_safe();
            let is_doubted = is_change && error.is_absence() && !(is_fresh && app.store.freshness().is_fresh());
            let error = if is_doubted { Error::Unconfirmed } else { error };
            refuse(app, error, audience, request, event).await
        }
    };
    if app.server_timing != ServerTiming::Off {
        server_timing::add(app, request, &mut reply, event).await;
    }
    reply
}

/// The reply to a request that has no answer. A failure of ours goes to the log.
async fn refuse(app: &App, error: Error, audience: Audience, request: &Request, event: &mut Event) -> Reply {
    let shell = site::shell::of_error(app, &error, request, event).await;
    event.reason = Some(error.reason());
    let (id, now) = (event.id, app.clock.now());
    let reply = event.time(Op::ReplyMake, || {
        let server = app.urls.of(request);
        let why = explain_link::of_refusal(&error, request, &server);
        let mut reply = reply::refusal(&error, (audience, shell.as_ref()), request, why.as_deref(), (id, now));
        server.protect(&mut reply);
        reply
    });
    if error.withheld().is_some() {
        event.detail = Event::text(&error.to_string());
    }
    // Of the other 5xx, the store logs its failures itself, and the rest are no failures of ours.
    if reply.status == StatusCode::INTERNAL_SERVER_ERROR {
        event.detail = chain(&error);
        let id = event.id.to_string();
        app.log.error("a request failed", &[("event", &id), ("path", &event.path), ("cause", &event.detail)]);
    }
    reply
}

/// The text of an error with all its causes, for operators.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size<A, B, C, F>(_: fn(A, B, C) -> F) -> usize {
        size_of::<F>()
    }

    /// It is moved into its box, and each request under way has one.
    #[test]
    fn what_an_answer_carries_for_the_case_that_there_is_an_error_is_small() {
        fn answering<'a>(app: &'a App, request: &'a mut Request, event: &'a mut Event) -> impl Future<Output = Reply> {
            answered(app, request, event)
        }
        let size = size(answering);
        assert!(size <= 640, "{size} bytes");
    }
}
