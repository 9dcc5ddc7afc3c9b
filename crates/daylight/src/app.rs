//! Everything a request may need, in one place, made once.

use crate::access::{Access, Caller};
use crate::answer::answer;
use crate::class::{Class, Classes, Place};
use crate::config::References;
use crate::error::Error;
use crate::recent_paths::RecentPaths;
use crate::{reply, route};
use front::{Handler, Pages, Reply, Request};
use http::StatusCode;
use repository::{Ask, Repositories};
use std::sync::Arc;
use std::time::Duration;
use store::{Stamp, Store};
use telemetry::{Clock, Event, Log, Op, Recent, Recorder, Tick};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How long is waited for sinks that are busy.
const PATIENCE: Duration = Duration::from_secs(1);

/// What every part of the line shares.
#[derive(Debug)]
pub struct App {
    /// Complete answers. The front gives them out before it asks for anything else.
    pub pages: Pages<Stamp>,
    /// Access control: tokens and their scopes.
    pub access: Arc<Access>,
    /// What there is.
    pub repositories: Repositories,
    /// Blobs, truth, journal.
    pub store: Arc<Store>,
    /// What is recorded.
    pub recorder: Arc<Recorder>,
    /// Events of a while, for who has the id of one.
    pub recent: Arc<Recent>,
    /// The paths that clients requested within the last day.
    pub recent_paths: Arc<RecentPaths>,
    /// The process log.
    pub log: Log,
    /// The time of day.
    pub clock: Clock,
    /// How many requests of a kind may be under way.
    pub classes: Classes,
    /// What the settings of repositories may refer to.
    pub references: References,
    /// Where clients reach it, without a slash at the end.
    pub url: String,
    /// Whether a conformance suite may have its wishes.
    pub conformance: bool,
    /// The largest upload, in bytes.
    pub max_upload_bytes: u64,
    /// How long a form may take to arrive.
    pub form_time: Duration,
}

impl App {
    /// A place in a cost class for this request, or the error that there is none.
    pub async fn enter(&self, class: Class, request: &Request, event: &mut Event) -> Result<Place, Error> {
        let token = self.access.holder(&request.headers, event).await?;
        self.classes.enter(class, request.client, token)
    }

    /// Keeps a reply as a page, if it may be one: `stamp` says what it was made from. The caller matters only where the
    /// repository is private: then it is a page of theirs alone, and ends when their token changes.
    pub fn keep(
        &self,
        request: &Request,
        reply: &Reply,
        ask: &Ask<'_>,
        who: &Caller,
        stamp: Option<Stamp>,
        event: &mut Event,
    ) {
        let public = !ask.repository.record.private;
        let stamp = if public { stamp } else { stamp.and_then(|stamp| stamp.join(&who.stamp)) };
        if let Some(stamp) = stamp {
            self.pages.keep(request, reply, public, stamp, event);
        }
    }

    /// Whether this process can answer. Looks at nothing but its own memory and, where that is out of date, the
    /// truth database. It answers while it can read; what it cannot do meanwhile stands below the first line, without names: anybody
    /// may ask.
    pub async fn ready(&self, event: &mut Event) -> Result<Reply, Error> {
        let hosts = self.repositories.upstreams(event).await?;
        let mut text = "ready\n".to_owned();
        if let Some(why) = self.store.read_only() {
            text += &format!("degraded: read-only: {why}\n");
        }
        let alone = hosts.iter().filter(|(host, _)| !matches!(host.circuit, client::Circuit::Closed { .. })).count();
        if alone > 0 {
            text += &format!(
                "degraded: upstreams: {alone} of {} failed again and again, and are left alone\n",
                hosts.len()
            );
        }
        Ok(reply::text(text))
    }
}

impl App {
    /// Waits until the sinks have what has ended by now.
    pub(crate) async fn recorded(&self, event: &mut Event) {
        let (marker, passed) = oneshot::channel::<()>();
        let began = Tick::now();
        self.recorder.mark(Arc::new(marker));
        // It is dropped when all of them are done, which one that hangs is not.
        let _ = timeout(PATIENCE, passed).await;
        event.add(Op::EventsWait, Tick::now().since(began));
    }
}

impl Handler for App {
    type Stamp = Stamp;

    fn pages(&self) -> Option<&Pages<Stamp>> {
        Some(&self.pages)
    }

    fn is_vital(&self, request: &Request) -> bool {
        route::is_vital(&request.method, request.path())
    }

    async fn answer(&self, request: &mut Request, event: &mut Event) -> Reply {
        match answer(self, request, event).await {
            Ok(reply) => reply,
            Err(error) => self.refuse(&error, request, event),
        }
    }
}

impl App {
    /// The answer to a question for something that is not there, where that is proven; any other error comes back.
    pub(crate) fn missing(&self, error: repository::Error, ask: &Ask<'_>, event: &mut Event) -> Result<Reply, Error> {
        use repository::Error::{Missing, NoSuchFile, NoSuchPackage};
        if !matches!(error, NoSuchPackage | NoSuchFile(_) | Missing { .. }) {
            return Err(error.into());
        }
        event.reason = Some(error.reason());
        Ok(event.time(Op::ReplyMake, || reply::missing(&error.into(), ask)))
    }

    fn refuse(&self, error: &Error, request: &Request, event: &mut Event) -> Reply {
        event.reason = Some(error.reason());
        let reply = reply::refusal(error, request, self.clock.now());
        // Others of the 5xx are the store's to say, once, or the answer to what cannot be done.
        if reply.status == StatusCode::INTERNAL_SERVER_ERROR {
            event.detail = chain(error);
            let id = event.id.to_string();
            self.log.error("a request failed", &[("event", &id), ("path", &event.path), ("cause", &event.detail)]);
        }
        reply
    }
}

/// An error with everything behind it, for operators.
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
