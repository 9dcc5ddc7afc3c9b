//! Everything that requests need, made once at the start.

use crate::access::{Access, Caller};
use crate::acme::Acme;
use crate::alerts::Alerts;
use crate::app_front::served_apps::ServedApps;
use crate::class::{Classes, Permit};
use crate::config::{References, ServerTiming};
use crate::error::Result;
use crate::findings::gathered::Gathered;
use crate::otlp::Otlp;
use crate::reply::{self, explain_link};
use crate::route::Content;
use crate::route::public_url::PublicUrls;
use crate::serve::certificate::Certificate;
use crate::statsd::Statsd;
use crate::uses::last_uses::LastUses;
use crate::uses::recent_paths::RecentPaths;
use front::{Pages, Reply, Request, Validity};
use insight::{Findings, Insight, Profiler, SettingFact, Tail, Watch};
use repository::{Ask, Repositories, Services};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use store::{Stamp, Store};
use telemetry::{Class, Clock, Event, Log, Op, RecentEvents, Recorder, Tick, under_way, works_in};
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

/// How long [`App::flush_sinks`] waits for sinks that are busy.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// The state that all requests share.
#[derive(Debug)]
pub struct App {
    /// The pages: complete answers, which the front serves before it asks anything else.
    pub pages: Pages,
    /// Access control.
    pub access: Arc<Access>,
    /// The repositories.
    pub repositories: Repositories,
    /// Blobs, the truth database, and the journal.
    pub store: Arc<Store>,
    /// Metrics and events.
    pub recorder: Arc<Recorder>,
    /// Recent events, by their ids.
    pub recent: Arc<RecentEvents>,
    /// The events that are kept for questions.
    pub insight: Arc<Insight>,
    /// Faults with their causes, their costs, and the changes that would help.
    pub findings: Arc<Findings>,
    /// Takes profiles.
    pub profiler: Profiler,
    /// Whether serving goes on.
    pub watch: Arc<Watch>,
    /// The settings, for findings.
    pub settings: Vec<SettingFact>,
    /// Warnings about settings that do not fit together, for findings.
    pub warnings: Vec<String>,
    /// The state between two rounds in which findings are told about the program.
    pub(crate) gathered: Gathered,
    /// The paths that clients requested within the last day.
    pub recent_paths: Arc<RecentPaths>,
    /// The listeners to live events.
    pub tail: Arc<Tail>,
    /// Sends events and figures to an OpenTelemetry receiver, if there is one.
    pub(crate) otlp: Option<Arc<Otlp>>,
    /// Sends figures to a statsd server, if there is one.
    pub(crate) statsd: Option<Arc<Statsd>>,
    /// The last downloads of versions that are not written yet.
    pub last_uses: Arc<LastUses>,
    /// The process log.
    pub log: Log,
    /// The time of day.
    pub clock: Clock,
    /// The limits on concurrent requests.
    pub classes: Classes,
    /// The secrets that the settings of repositories may refer to.
    pub references: References,
    /// The URLs by which clients reach the server.
    pub urls: PublicUrls,
    /// Whether the calls of a conformance suite are answered.
    pub conformance: bool,
    /// Wakes the regular work after the time of day was set.
    pub time_was_set: Notify,
    /// The largest upload, in bytes.
    pub max_upload_bytes: u64,
    /// Who gets the header `Server-Timing`.
    pub server_timing: ServerTiming,
    /// How long a small body may take to arrive.
    pub form_time: Duration,
    /// Gets the certificate of the server, where the settings name an authority.
    pub(crate) acme: OnceLock<Arc<Acme>>,
    /// The certificates that the server shows. Empty without TLS.
    pub(crate) certificates: OnceLock<Vec<Arc<Certificate>>>,
    /// Who is told of findings as they open and close.
    pub(crate) alerts: OnceLock<Arc<Alerts>>,
    /// The applications in front of which it stands. Empty: it is a server of repositories.
    pub(crate) apps: OnceLock<ServedApps>,
}

impl App {
    /// The parts that all repositories share.
    pub(crate) fn services(&self) -> &Services {
        self.repositories.services()
    }

    /// Reserves a place for a request in its cost class. Fails where the class is full.
    pub async fn enter(&self, class: Class, request: &Request, event: &mut Event) -> Result<Permit> {
        let token = self.holder_in(class, request, event).await?;
        self.classes.enter(class, request.client, token)
    }

    /// Waits until the small body of a request has arrived, for which [`Upload::collect`](front::Upload::collect) then does not wait. A slow
    /// client occupies no place for work, and as many others as arrive meanwhile can end its body.
    pub async fn receive(&self, limit: u64, request: &mut Request, event: &mut Event) -> Result<()> {
        if request.upload.is_none() {
            return Ok(());
        }
        let token = self.holder_in(Class::Forms, request, event).await?;
        let body = self.classes.receive(request.client, token);
        let until = async { drop(timeout(self.form_time, body.ended()).await) };
        Ok(request.upload.hold(limit, until, event).await?)
    }

    /// Records the class of a request, and finds the token that would hold a place in it.
    async fn holder_in(&self, class: Class, request: &Request, event: &mut Event) -> Result<Option<u64>> {
        event.class = Some(class);
        works_in(class);
        if let Some(arrival) = event.more.as_mut().and_then(|more| more.arrival.as_mut()) {
            arrival.class_used = self.classes.used(class);
        }
        Ok(self.access.holder(&request.headers, event).await?)
    }

    /// Caches a reply as a page, if it may be one. `stamp` is the revision that it was made from. A page of a private repository is for
    /// the token of its caller only, and expires when that token changes.
    pub fn keep(
        &self,
        request: &Request,
        reply: &Reply,
        ask: &Ask<'_>,
        caller: &Caller,
        stamp: Option<Stamp>,
        event: &mut Event,
    ) {
        let public = !ask.repository.record.private;
        let stamp = if public { stamp } else { stamp.and_then(|stamp| stamp.join(&caller.stamp)) };
        if let Some(stamp) = stamp {
            let valid = || -> Arc<Validity> {
                let (revisions, freshness) = (self.store.revisions().clone(), self.store.freshness().clone());
                Arc::new(move |now| freshness.lets_hold() && revisions.holds(&stamp, now))
            };
            self.pages.keep(request, reply, public, &valid, event);
        }
    }

    /// Waits until the sinks have written all events that are finished now.
    pub(crate) async fn flush_sinks(&self, event: &mut Event) {
        let (marker, passed) = oneshot::channel::<()>();
        let (began, _waiting) = (Tick::now(), under_way(Op::EventsWait));
        self.recorder.mark(Arc::new(marker));
        // The marker is dropped when all sinks are done. A sink that hangs is not waited for.
        let _ = timeout(FLUSH_TIMEOUT, passed).await;
        event.add(Op::EventsWait, Tick::now().since(began));
    }

    /// The reply to a request for something that does not exist, where that is certain. Returns any other error. It may become a page for
    /// all clients, so it links to the explanation only where all of them reach the server by the URL of the settings.
    pub(crate) fn missing(
        &self,
        error: repository::Error,
        ask: &Ask<'_>,
        url: &Content,
        event: &mut Event,
    ) -> Result<Reply> {
        use repository::Error::{Guarded, Missing, NoSuchFile, NoSuchPackage, Unlisted};
        if !matches!(error, NoSuchPackage | NoSuchFile(_) | Missing { .. } | Unlisted(_) | Guarded { .. }) {
            return Err(error.into());
        }
        event.reason = Some(error.reason());
        Ok(event.time(Op::ReplyMake, || {
            let why = if self.urls.is_configured() { explain_link::of_path(url, &self.urls) } else { None };
            reply::missing(&error.into(), ask, why.as_deref())
        }))
    }
}
