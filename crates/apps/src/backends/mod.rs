//! The backends of an application.

mod backend;
mod choice;
mod health;
mod idle;
mod lease;
mod watch;

pub(crate) use lease::{ConnectionPlace, Lease};

use crate::options::{AppOptions, BadApp};
use crate::view::BackendView;
use backend::AppBackend;
use choice::{BACKENDS_MAX, Tried};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use telemetry::{Event, MemberRecord, MemberSaid, Op, Reason, Recorder, Tick};
use tokio::time::sleep;

/// How long a request tries one backend after the other, if none refuses at once.
const ALL_WITHIN: Duration = Duration::from_secs(15);
/// How often the port of a command that starts is tried.
const START_PAUSE: Duration = Duration::from_millis(50);

/// The backends of an application.
#[derive(Debug)]
pub(crate) struct Backends {
    all: Vec<Arc<AppBackend>>,
    /// Where the choice between backends with equally many requests begins.
    next: AtomicUsize,
    /// When the command of the application has had enough time to start. `None`: it runs already.
    start_ends: Option<Tick>,
    /// A backend has accepted a connection.
    started: AtomicBool,
    watch: Option<watch::HealthPath>,
}

/// There is no backend for a request.
#[derive(Debug)]
pub(crate) enum NoBackend {
    /// None accepts connections. The detail is for operators.
    Down(String),
    /// The command of the application had not opened its port in time.
    Starting,
}

impl Backends {
    /// The backends of these settings. Their bounds are registered at `recorder`.
    pub(crate) fn new(options: &AppOptions, recorder: &Arc<Recorder>) -> Result<Arc<Self>, BadApp> {
        let bad = |what: String, hint| BadApp { app: options.name.clone(), what, hint };
        if options.to.is_empty() {
            return Err(bad("it has no backend".to_owned(), "name one with `to`, such as `http://127.0.0.1:3000`"));
        }
        if options.to.len() > BACKENDS_MAX {
            return Err(bad(format!("it has more than {BACKENDS_MAX} backends"), "name fewer"));
        }
        let mut all: Vec<Arc<AppBackend>> = Vec::new();
        for url in &options.to {
            let hint = "a backend is `http://HOST:PORT`, `https://HOST:PORT` or `unix:/PATH`";
            let backend = client::Backend::new(url).map_err(|error| bad(error.to_string(), hint))?;
            if all.iter().any(|other| other.name() == backend.name()) {
                return Err(bad(format!("it has the backend `{url}` twice"), "name each backend once"));
            }
            all.push(AppBackend::new(backend, options, all.len() + 1, recorder));
        }
        let watch = match &options.health {
            Some(path) => Some(watch::HealthPath::new(path, &options.hosts).map_err(|what| {
                bad(what, "`health` is a path, such as `/up`; 2xx and 3xx are healthy, 503 asks for no new requests")
            })?),
            None => None,
        };
        let start_ends = options.starts_within.map(|within| Tick::now().plus(within));
        Ok(Arc::new(Self {
            all,
            next: AtomicUsize::new(0),
            start_ends,
            started: AtomicBool::new(start_ends.is_none()),
            watch,
        }))
    }

    /// A connection to the backend that has the fewest requests under way, among the usable ones. An idle one, unless it must be
    /// `fresh`. Backends that cannot be used are tried when no other is left.
    pub(crate) async fn lease(&self, fresh: bool, event: &mut Event) -> Result<Lease, NoBackend> {
        let started = self.started.load(Relaxed);
        let lease = match started {
            true => self.lease_of_any(fresh, event).await,
            false => self.lease_of_first(event).await,
        };
        if !started && lease.is_ok() {
            self.started.store(true, Relaxed);
        }
        lease
    }

    async fn lease_of_any(&self, fresh: bool, event: &mut Event) -> Result<Lease, NoBackend> {
        let (mut tried, mut began) = (Tried::default(), None);
        let mut why = String::new();
        while let Some(at) = choice::next(&self.all, tried, || self.next.fetch_add(1, Relaxed)) {
            tried = tried.with(at);
            let began = *began.get_or_insert_with(Tick::now);
            match self.all[at].lease(fresh, event).await {
                Ok(lease) => return Ok(lease),
                Err(error) => why = error,
            }
            let mut record = MemberRecord::new(self.all[at].name(), MemberSaid::Failed, Some(Reason::AppDown));
            record.detail.clone_from(&why);
            event.absorb(record);
            if Tick::now() > began.plus(ALL_WITHIN) {
                break;
            }
        }
        Err(NoBackend::Down(why))
    }

    /// Waits until the command of the application has opened its port.
    async fn lease_of_first(&self, event: &mut Event) -> Result<Lease, NoBackend> {
        loop {
            for backend in &self.all {
                match backend.connect(event).await {
                    Ok(lease) => return Ok(lease),
                    Err(refusal) if refusal.nothing_listens => {}
                    Err(refusal) => return Err(NoBackend::Down(refusal.why)),
                }
            }
            if !self.is_starting() {
                return Err(NoBackend::Starting);
            }
            event.during(Op::AppConnect, sleep(START_PAUSE)).await;
        }
    }

    /// Watches their health. Never ends; to be run in the background.
    pub(crate) async fn watch(self: Arc<Self>) {
        let Some(path) = &self.watch else { return std::future::pending().await };
        let mut watches: Vec<_> =
            self.all.iter().map(|backend| Box::pin(watch::watch(backend, path, || self.is_starting()))).collect();
        std::future::poll_fn(|cx| {
            for watch in &mut watches {
                let _ = watch.as_mut().poll(cx);
            }
            std::task::Poll::<()>::Pending
        })
        .await
    }

    /// Their states, for operators.
    pub(crate) fn view(&self) -> Vec<BackendView> {
        self.all.iter().map(|backend| backend.view()).collect()
    }

    /// Whether the command of the application has not opened its port yet, and still has time to do so.
    pub(crate) fn is_starting(&self) -> bool {
        !self.started.load(Relaxed) && self.start_ends.is_some_and(|ends| Tick::now() < ends)
    }
}

#[cfg(test)]
mod tests;
