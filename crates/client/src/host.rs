//! One host of upstreams: the calls in progress, its circuit, and its last failure. All repositories share it.

use crate::circuit::{Admitted, Circuit, FailingPaths};
use crate::error::Error;
use crate::host_options::HostsOptions;
use crate::places::{Place, Places};
use crate::pool::Pool;
use http::Uri;
use std::future::poll_fn;
use std::hash::{BuildHasher, RandomState};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use telemetry::lock;
use telemetry::log::Incident;
use telemetry::{Bound, BoundName, Clock, Event, Log, Millis, Op, Recorder, Slot, Tick, under_way};
use tokio::sync::watch;
use tokio::time::timeout;

/// A host and its state.
#[derive(Debug)]
pub(crate) struct Host {
    /// `name:port`.
    name: String,
    number: u64,
    clock: Clock,
    options: HostsOptions,
    places: Arc<Places>,
    calls: Arc<Bound>,
    health: Mutex<Health>,
    /// The period in which the circuit is open, for the log.
    circuit_incident: Incident,
    log: Log,
    /// Raised when the host is found to hang. Calls that wait for its response then fail.
    hung: watch::Sender<u64>,
    hasher: RandomState,
    pub(crate) pool: Pool,
}

#[derive(Debug)]
struct Health {
    circuit: Circuit,
    failing_paths: FailingPaths,
    paused_until: Option<Millis>,
    trouble: Option<Trouble>,
    /// When it last responded.
    answered: Option<Tick>,
}

/// The last failure of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// When it happened.
    pub at: Millis,
    /// A description of the failure.
    pub what: String,
}

/// The state of a host, for operators.
#[derive(Debug, Clone)]
pub struct HostState {
    /// `name:port`.
    pub host: String,
    /// Its label in metrics, instead of its name.
    pub number: u64,
    /// Calls in progress.
    pub calls: u64,
    /// The limit for `calls`.
    pub calls_max: u64,
    /// Calls that wait for a slot.
    pub waiting: u64,
    /// Idle connections in the pool.
    pub kept: u64,
    /// The state of its circuit.
    pub circuit: Circuit,
    /// The end of the pause that the host requested.
    pub paused_until: Option<Millis>,
    /// The last failure, however long ago.
    pub trouble: Option<Trouble>,
}

impl Host {
    pub(crate) fn new(name: String, clock: Clock, log: Log, options: HostsOptions) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // Metrics show the number instead of the name: anybody may read metrics, and the name may be that of a private upstream.
        let number = NEXT.fetch_add(1, Relaxed);
        let which = number.to_string();
        Self {
            number,
            clock,
            options,
            places: Places::shared(options.calls),
            calls: Bound::new(BoundName::UpstreamCalls, &which, options.calls as u64),
            health: Mutex::new(Health {
                circuit: Circuit::Closed { failures: 0 },
                failing_paths: FailingPaths::default(),
                paused_until: None,
                trouble: None,
                answered: None,
            }),
            hung: watch::Sender::new(0),
            circuit_incident: Incident::default(),
            log,
            hasher: RandomState::new(),
            pool: Pool::new(&which, options.kept as u64, options.keep_for),
            name,
        }
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn register(&self, recorder: &Recorder) {
        recorder.register(self.calls.clone());
        recorder.register(self.pool.bound().clone());
    }

    pub(crate) fn unregister(&self, recorder: &Recorder) {
        recorder.unregister(&self.calls);
        recorder.unregister(self.pool.bound());
    }

    /// Whether it can be removed from the table without losing information.
    pub(crate) fn is_plain(&self) -> bool {
        let health = lock(&self.health);
        health.circuit == Circuit::Closed { failures: 0 } && health.paused_until.is_none()
    }

    pub(crate) fn state(&self) -> HostState {
        let health = lock(&self.health);
        let now = self.clock.now();
        HostState {
            host: self.name.clone(),
            number: self.number,
            calls: self.calls.used(),
            calls_max: self.places.all(),
            waiting: self.calls.waiters(),
            kept: self.pool.bound().used(),
            circuit: health.circuit,
            paused_until: health.paused_until.filter(|until| now < *until),
            trouble: health.trouble.clone(),
        }
    }

    /// Divides the calls at a time by this number of nodes, each of which makes as many.
    pub(crate) fn share(&self, nodes: u64) {
        self.places.set(self.options.calls.div_ceil(usize::try_from(nodes.max(1)).unwrap_or(usize::MAX)));
    }

    /// Waits at most `limit` for a slot. Fails at once while the host is paused or its circuit is open.
    pub(crate) async fn enter(self: &Arc<Self>, limit: Duration, event: &mut Event) -> Result<CallSlot, Error> {
        self.may_be_called()?;
        let place = match self.places.try_take() {
            Some(place) => {
                // Each call has a wait, if only of nothing, as the jobs of pools of threads have.
                self.calls.waited(0);
                place
            }
            None => self.wait(limit, event).await?,
        };
        // There are at most as many places as units in the bound, so this takes a unit.
        let slot = self.calls.enter().ok();
        let admitted = self.admit()?;
        let (host, began, hung) = (self.clone(), Tick::now(), self.hung.subscribe());
        Ok(CallSlot { host, admitted, began, hung, told: false, _slot: slot, _place: place })
    }

    /// Whether the host's last call failed, so that the next call is a trial.
    pub(crate) fn is_in_doubt(&self) -> bool {
        !matches!(lock(&self.health).circuit, Circuit::Closed { .. })
    }

    async fn wait(&self, limit: Duration, event: &mut Event) -> Result<Place, Error> {
        let crowded = || Error::Crowded { host: self.name.clone() };
        if self.calls.waiters() >= self.options.waiting as u64 {
            self.calls.reject();
            return Err(crowded());
        }
        let began = Tick::now();
        let (waiting, _under_way) = (self.calls.wait(), under_way(Op::UpstreamWait));
        let place = timeout(limit, self.places.take()).await;
        drop(waiting);
        event.add(Op::UpstreamWait, Tick::now().since(began));
        place.map_err(|_| crowded())
    }

    /// Checks the pause and the circuit, without starting a trial.
    fn may_be_called(&self) -> Result<(), Error> {
        let mut health = lock(&self.health);
        health.obey(&self.name, self.clock.now())?;
        let mut looked = health.circuit;
        looked.admit(self.clock.now()).map(drop).map_err(|until| health.left_alone(&self.name, until))
    }

    fn admit(&self) -> Result<Admitted, Error> {
        let mut health = lock(&self.health);
        health.obey(&self.name, self.clock.now())?;
        health.circuit.admit(self.clock.now()).map_err(|until| health.left_alone(&self.name, until))
    }

    /// Logs when the circuit opens and when it closes. A failed trial is not logged.
    fn tell(&self, health: &Health) {
        match health.circuit {
            Circuit::Closed { .. } => self.circuit_incident.end(|| {
                let text = format!("the circuit of {} closed: it responds again", self.options.called);
                self.log.info(&text, &[("host", &self.name)]);
            }),
            Circuit::Open { until, .. } => self.circuit_incident.begin(|| {
                let why = health.trouble.as_ref().map_or("", |trouble| &trouble.what);
                let fields: [(&str, &dyn std::fmt::Display); 3] =
                    [("host", &self.name), ("why", &why), ("until", &until)];
                let text = format!("the circuit of {} opened after repeated failures", self.options.called);
                self.log.warn(&text, &fields);
            }),
            Circuit::Trial { .. } => {}
        }
    }
}

impl Health {
    fn obey(&mut self, host: &str, now: Millis) -> Result<(), Error> {
        match self.paused_until {
            Some(until) if now < until => Err(Error::Paused { host: host.to_owned(), until }),
            _ => {
                self.paused_until = None;
                Ok(())
            }
        }
    }

    fn left_alone(&self, host: &str, until: Option<Millis>) -> Error {
        let last = self.trouble.as_ref().map(|trouble| trouble.what.clone()).unwrap_or_default();
        Error::LeftAlone { host: host.to_owned(), until, last }
    }
}

/// A call to a host, within the limit. The owner reports the call's result.
#[derive(Debug)]
pub(crate) struct CallSlot {
    pub(crate) host: Arc<Host>,
    admitted: Admitted,
    began: Tick,
    hung: watch::Receiver<u64>,
    told: bool,
    // Returned before the place admits the next call.
    _slot: Option<Slot>,
    _place: Place,
}

impl CallSlot {
    /// The result of an exchange, unless another call finds in the meantime that the host hangs.
    pub(crate) async fn unless_hung<T>(&self, exchange: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let (mut hung, mut exchange) = (self.hung.clone(), pin!(exchange));
        let mut hung = pin!(hung.changed());
        poll_fn(|cx| match exchange.as_mut().poll(cx) {
            Poll::Ready(came) => Poll::Ready(came),
            Poll::Pending if self.admitted == Admitted::AsTrial => Poll::Pending,
            Poll::Pending => hung.as_mut().poll(cx).map(|_| {
                let health = lock(&self.host.health);
                let until = match health.circuit {
                    Circuit::Open { until, .. } => Some(until),
                    Circuit::Closed { .. } | Circuit::Trial { .. } => None,
                };
                Err(health.left_alone(&self.host.name, until))
            }),
        })
        .await
    }

    /// The head of the response for `path` has arrived. Returns the end of the pause, if the response asks for one.
    pub(crate) fn answered(&mut self, path: &Uri, status: u16, retry_after: Option<&str>) -> Option<Millis> {
        let now = self.host.clock.now();
        let options = self.host.options;
        let mut health = lock(&self.host.health);
        self.told = true;
        health.answered = Some(Tick::now());
        let mut paused_until = None;
        if matches!(status, 429 | 503) {
            let asked = retry_after.and_then(|text| crate::retry_after::read(text, now));
            let pause = asked.or_else(|| (status == 429).then_some(options.pause));
            let until = pause.map(|pause| now.plus(pause.min(options.pause_max)));
            health.paused_until = until.max(health.paused_until);
            paused_until = health.paused_until;
        }
        if status < 500 {
            health.circuit.succeeded();
            health.failing_paths.forget();
        } else if health.failing_paths.add(self.host.hasher.hash_one(path)) {
            health.circuit.failed(self.admitted, now, &options.circuit);
        } else if self.admitted == Admitted::AsTrial {
            // The path was broken before the circuit opened, so this response does not show whether the host works.
            health.circuit.abandoned(now);
        }
        if status == 429 || status >= 500 {
            health.trouble = Some(Trouble { at: now, what: format!("it responded with {status}") });
        }
        self.host.tell(&health);
        paused_until
    }

    /// There was no response, or only a part of one.
    pub(crate) fn failed(&mut self, error: &Error) {
        let now = self.host.clock.now();
        let mut health = lock(&self.host.health);
        if error.tells_of_host() {
            self.told = true;
            let options = &self.host.options.circuit;
            // A host that answered other calls in the meantime does not hang: only this path is slow.
            let hangs = error.is_silence() && health.answered.is_none_or(|answered| answered < self.began);
            if hangs {
                health.circuit.hung(self.admitted, now, options);
                self.host.hung.send_modify(|times| *times += 1);
            } else {
                health.circuit.failed(self.admitted, now, options);
            }
            health.trouble = Some(Trouble { at: now, what: error.to_string() });
            self.host.tell(&health);
        }
    }
}

impl Drop for CallSlot {
    fn drop(&mut self) {
        if self.admitted == Admitted::AsTrial && !self.told {
            lock(&self.host.health).circuit.abandoned(self.host.clock.now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_calls_at_a_time_are_divided_among_nodes_and_those_under_way_go_on() {
        let options = HostsOptions { calls: 4, waiting: 0, ..HostsOptions::default() };
        let host = Arc::new(Host::new("a:443".to_owned(), Clock::default(), Log::silent(), options));
        let (event, limit) = (&mut Event::job("test", Millis(0)), Duration::ZERO);
        let mut slots = Vec::new();
        for _ in 0..3 {
            slots.push(host.enter(limit, event).await.unwrap());
        }
        host.share(3);
        assert_eq!(host.state().calls_max, 3, "three are under way");
        assert!(host.enter(limit, event).await.is_err());
        slots.pop();
        assert_eq!(host.state().calls_max, 2, "the third part of four, rounded up");
        assert!(host.enter(limit, event).await.is_err());
        host.share(1);
        assert_eq!(host.state().calls_max, 4);
        slots.push(host.enter(limit, event).await.unwrap());
        slots.push(host.enter(limit, event).await.unwrap());
        assert!(host.enter(limit, event).await.is_err());
        host.share(99);
        slots.clear();
        assert_eq!(host.state().calls_max, 1, "each has one at least");
    }
}
