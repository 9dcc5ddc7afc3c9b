//! Alerts: receivers are told of findings as they open and close.
//!
//! After each look, the open findings are compared with what each receiver was told ([`told`]), and it is told the difference ([`receiver`]). So a
//! restart, a receiver that was away and a finding that opened meanwhile are no special cases.

mod address;
mod alert;
mod alertmanager;
mod command;
mod context;
mod pagerduty;
mod receiver;
mod told;
mod webhook;

use crate::config::{self, RECEIVERS_MAX, Settings};
use crate::error::{Error, Result};
use alert::Alert;
pub(crate) use alert::Teller;
pub(crate) use context::Context;
use insight::ReceiverFact;
pub(crate) use receiver::Receiver;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::time::Duration;
use telemetry::{By, Event, LongJob, Metric, Tick};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The longest time between two heartbeats of the job.
pub(crate) const EVERY: Duration = Duration::from_secs(20);
/// How long a stop waits for messages under way, so that they are not sent again after it.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);
/// The id of the finding of a test.
const TEST: &str = "test@alerts";

/// The receivers of alerts.
#[derive(Debug)]
pub(crate) struct Alerts {
    receivers: Vec<Arc<Receiver>>,
    context: Arc<Context>,
    closing: Arc<AtomicBool>,
    ended: Notify,
    /// The runtime of work that no client waits for.
    back: Handle,
}

/// A receiver with its state.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReceiverState {
    /// Its name.
    name: String,
    /// `alertmanager`, `pagerduty`, `webhook` or `command`.
    kind: &'static str,
    /// Its host, or the program.
    to: String,
    /// The kinds of findings that it is told of.
    kinds: Vec<&'static str>,
    /// Whether its last message was taken; null before the first one.
    takes: Option<bool>,
    /// Open findings that it knows.
    open: usize,
    /// Findings that opened or closed and that it does not know yet.
    waiting: u64,
    /// Alerts that it took since the start, without tests.
    sent: u64,
    /// Attempts that failed since the start.
    failed: u64,
    /// When it took a message last.
    last_taken: Option<String>,
    /// When an attempt failed last.
    last_failed: Option<String>,
    /// Why.
    last_failure: Option<String>,
}

/// What became of a test.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Tested {
    /// The receiver.
    name: String,
    /// Its kind.
    kind: &'static str,
    /// Its host, or the program.
    to: String,
    /// Whether it took the alert and its end.
    arrived: bool,
    /// Why it did not; null if it did.
    why: Option<String>,
}

impl Alerts {
    /// The receivers of the settings, with their secrets.
    pub(crate) fn receivers(settings: &Settings) -> std::result::Result<Vec<Arc<Receiver>>, config::Error> {
        let folder = store::Layout::new(&settings.store.data).events().join("alerts");
        let one = |declared| Receiver::new(declared, &settings.references, &folder).map(Arc::new);
        settings.alerts.iter().take(RECEIVERS_MAX).map(one).collect()
    }

    /// These receivers, which are told nothing until [`run`].
    pub(crate) fn new(receivers: Vec<Arc<Receiver>>, context: Context, back: Handle) -> Arc<Self> {
        let (recorder, context) = (context.recorder.clone(), Arc::new(context));
        receivers.iter().for_each(|receiver| recorder.register(receiver.bound.clone()));
        let alerts = Arc::new(Self { receivers, context, closing: Arc::default(), ended: Notify::new(), back });
        let figures = |metric: Metric, figure: fn(&Receiver) -> f64| {
            let alerts: Weak<Self> = Arc::downgrade(&alerts);
            recorder.figures(metric, By::Label("to"), move || {
                let all = alerts.upgrade().map(|alerts| alerts.receivers.clone()).unwrap_or_default();
                all.iter().map(|receiver| (receiver.name.clone(), figure(receiver))).collect()
            });
        };
        if !alerts.receivers.is_empty() {
            let woken: Weak<Self> = Arc::downgrade(&alerts);
            alerts.context.findings.on_look(move || {
                let receivers = woken.upgrade().map(|alerts| alerts.receivers.clone()).unwrap_or_default();
                receivers.iter().for_each(|receiver| receiver.wake.notify_one());
            });
            let sent = "Findings that opened or closed and whose alerts a receiver took";
            figures(Metric::counter("alerts_sent_total", sent), |receiver| receiver.sent.load(Relaxed) as f64);
            let failed = "Attempts to send alerts to a receiver that failed";
            figures(Metric::counter("alerts_failed_total", failed), |receiver| receiver.failed.load(Relaxed) as f64);
            let open = "Open findings that a receiver of alerts knows";
            figures(Metric::gauge("alerts_open", open), |receiver| receiver.state().open as f64);
        }
        alerts
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.receivers.is_empty()
    }

    /// The receivers, in the order of the file.
    pub(crate) fn list(&self) -> Vec<ReceiverState> {
        self.receivers.iter().map(|receiver| state(receiver)).collect()
    }

    /// The receivers that take no alerts.
    pub(crate) fn facts(&self) -> Vec<ReceiverFact> {
        self.receivers.iter().filter_map(|receiver| receiver.fact()).collect()
    }

    /// Sends a test and its end to each receiver, or to the one of this name, all at once. One test of a receiver runs at a time.
    pub(crate) async fn test(&self, name: Option<&str>) -> Result<Vec<Tested>> {
        if let Some(unknown) = name.filter(|name| self.receivers.iter().all(|one| one.name != **name)) {
            let nearest = config::nearest(unknown, self.receivers.iter().map(|one| one.name.as_str()));
            return Err(Error::NoSuchReceiver { name: Event::text(unknown), nearest });
        }
        let chosen = self.receivers.iter().filter(|one| name.is_none_or(|name| one.name == name));
        let alert = Alert::test(TEST.to_owned(), &self.context.teller, self.context.clock.now());
        // A caller that goes away does not stop a test, so that its end is sent.
        let begin = |receiver: &Arc<Receiver>| {
            let (receiver, alert, context) = (receiver.clone(), alert.clone(), self.context.clone());
            self.back.spawn(async move { tested(&context, &receiver, alert).await })
        };
        let tests: Vec<_> = chosen.map(begin).collect();
        let mut all = Vec::new();
        for test in tests {
            // One that panicked has no result.
            all.extend(test.await.ok());
        }
        Ok(all)
    }

    /// Waits for messages under way. Nothing is sent afterwards.
    pub(crate) fn close(&self, back: &Runtime) {
        if self.is_empty() || self.closing.swap(true, Relaxed) {
            return;
        }
        self.receivers.iter().for_each(|receiver| receiver.wake.notify_one());
        // A message that takes longer may be sent again after a restart, with the same key.
        let _ = back.block_on(async { timeout(STOP_TIMEOUT, self.ended.notified()).await });
    }
}

/// Tells the receivers of findings, as long as the server runs.
pub(crate) async fn run(alerts: Arc<Alerts>, job: Arc<LongJob>) {
    let begun = Tick::now();
    let mut tasks = JoinSet::new();
    for receiver in &alerts.receivers {
        tasks.spawn(receiver.clone().run(alerts.context.clone(), begun, alerts.closing.clone()));
    }
    loop {
        job.moved();
        match timeout(EVERY, tasks.join_next()).await {
            // The others end with it, and all begin again with what they were told.
            Ok(Some(Err(error))) => {
                if let Ok(panic) = error.try_into_panic() {
                    std::panic::resume_unwind(panic);
                }
            }
            Ok(None) => break,
            Ok(Some(Ok(()))) | Err(_) => {}
        }
    }
    alerts.ended.notify_one();
}

fn state(receiver: &Receiver) -> ReceiverState {
    let state = receiver.state();
    let (last_failed, last_failure) = state.failure.map(|(at, why)| (at.to_string(), why)).unzip();
    let has_any = state.taken.is_some() || state.failing.is_some();
    ReceiverState {
        name: receiver.name.clone(),
        kind: receiver.kind,
        to: receiver.address.shown(),
        kinds: receiver.kinds(),
        takes: has_any.then_some(state.failing.is_none()),
        open: state.open,
        waiting: receiver.bound.used(),
        sent: receiver.sent.load(Relaxed),
        failed: receiver.failed.load(Relaxed),
        last_taken: state.taken.map(|at| at.to_string()),
        last_failed,
        last_failure,
    }
}

/// Sends a test and its end, unless another test is under way. The end is tried twice, and once after a beginning whose answer was lost.
async fn tested(context: &Context, receiver: &Receiver, alert: Alert) -> Tested {
    let why = match receiver.testing.try_lock() {
        Err(_) => Some("another test of it is under way".to_owned()),
        Ok(_turn) => {
            let ended = [alert.ended(alert.since)];
            let begun = receiver.attempt(&context.recorder, &[alert], false).await;
            let mut end = Ok(());
            if begun.as_ref().err().is_none_or(|not_taken| !not_taken.is_untaken) {
                end = receiver.attempt(&context.recorder, &ended, false).await;
                if begun.is_ok() && end.is_err() {
                    end = receiver.attempt(&context.recorder, &ended, false).await;
                }
            }
            begun.and(end).err().map(|not_taken| not_taken.why)
        }
    };
    if why.is_none() {
        receiver.test_arrived(&context.log);
    }
    Tested {
        name: receiver.name.clone(),
        kind: receiver.kind,
        to: receiver.address.shown(),
        arrived: why.is_none(),
        why,
    }
}
