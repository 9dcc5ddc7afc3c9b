//! One receiver of alerts: what it was told, what it does not know yet, and when it is tried again.
//!
//! A task of its own compares both after each look. So a receiver that hangs, fails or was away delays no other one, and needs no queue: what it
//! does not know is found again.

use super::address::{Address, NotTaken};
use super::alert::{Alert, is_shared};
use super::context::Context;
use super::told::{Looked, TOLD_MAX, Told};
use crate::config::{DeclaredReceiver, Error, References};
use insight::{FindingKind, FindingState, ReceiverFact, StateFile};
use sha2::{Digest as _, Sha256};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::{Bound, BoundName, Job, Log, Millis, Op, Outcome, Recorder, Tick, lock};
use tokio::sync::{Mutex as Turn, Notify};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// The lease of the node that tells what all nodes find alike.
const ALERTS: &str = "alerts";
/// The name of the job of each attempt.
const JOB: &str = "alert.send";
/// The name of the job that writes what it was told.
const KEEP: &str = "alert.keep";
/// The pause after the first failure; it doubles with each further one.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest one that the receiver does not ask for itself.
const PAUSE_MAX: Duration = Duration::from_secs(5 * 60);
/// The longest time between two comparisons.
const COMPARES: Duration = Duration::from_secs(60);

/// A receiver of alerts.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub(super) name: String,
    pub(super) kind: &'static str,
    kinds: Vec<FindingKind>,
    resend: Option<Duration>,
    pub(super) address: Address,
    file: StateFile,
    /// Its kind and address, hashed.
    of: String,
    pub(super) bound: Arc<Bound>,
    pub(super) wake: Notify,
    pub(super) sent: AtomicU64,
    pub(super) failed: AtomicU64,
    /// A test arrived, so its pause is over.
    arrived: AtomicBool,
    /// Of the test that is under way.
    pub(super) testing: Turn<()>,
    state: Mutex<State>,
}

/// Its state, for people.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// Alerts that it was told, and not the end of.
    pub(super) open: usize,
    /// When it took a message last.
    pub(super) taken: Option<Millis>,
    /// When an attempt failed last, and why.
    pub(super) failure: Option<(Millis, String)>,
    /// Since when each attempt failed, and how many did.
    pub(super) failing: Option<(Millis, u64)>,
    /// Open alerts that it refused for good.
    refused: u64,
}

/// When it is tried again and told again.
struct Turns {
    /// After so many failures in a row.
    failures: u32,
    until: Option<Tick>,
    resent: Option<Tick>,
    /// The file lacks what it was told.
    is_unsaved: bool,
}

impl Receiver {
    pub(super) fn new(declared: &DeclaredReceiver, references: &References, folder: &Path) -> Result<Self, Error> {
        let DeclaredReceiver { name, kind, url, command, .. } = declared;
        let of = Sha256::digest(format!("{}\n{url}\n{}", kind.as_str(), command.join("\n")));
        Ok(Self {
            name: name.clone(),
            kind: kind.as_str(),
            kinds: declared.kinds.clone(),
            resend: declared.resend,
            address: Address::of(declared, references)?,
            file: StateFile::new(folder.join(format!("{name}.json"))),
            of: data_encoding::HEXLOWER.encode(&of),
            // Each finding may have an end and a beginning that it does not know.
            bound: Bound::new(BoundName::AlertsWaiting, name, 2 * TOLD_MAX as u64),
            wake: Notify::new(),
            sent: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            arrived: AtomicBool::new(false),
            testing: Turn::new(()),
            state: Mutex::default(),
        })
    }

    pub(super) fn kinds(&self) -> Vec<&'static str> {
        self.kinds.iter().map(|kind| kind.as_str()).collect()
    }

    pub(super) fn state(&self) -> State {
        lock(&self.state).clone()
    }

    /// What findings are told about it. `None`: it takes alerts, or there are none for it.
    pub(super) fn fact(&self) -> Option<ReceiverFact> {
        let State { failure, failing, open, refused, .. } = self.state();
        let ((since, attempts), (_, why), waiting) = (failing?, failure?, self.bound.used());
        let is_owed = waiting > 0 || refused > 0 || self.resend.is_some() && open > 0;
        is_owed.then(|| ReceiverFact { name: self.name.clone(), since, why, attempts, waiting, refused })
    }

    /// A test and its end arrived.
    pub(super) fn test_arrived(&self, log: &Log) {
        self.takes_again(&mut lock(&self.state), log);
        self.arrived.store(true, Relaxed);
        self.wake.notify_one();
    }

    fn takes_again(&self, state: &mut State, log: &Log) {
        if let Some((since, attempts)) = state.failing.take() {
            let fields: &[(&str, &dyn std::fmt::Display)] =
                &[("receiver", &self.name), ("since", &since), ("failed_attempts", &attempts)];
            log.info("a receiver takes alerts again", fields);
        }
    }

    /// Tells it of findings until `closing`.
    pub(super) async fn run(self: Arc<Self>, context: Arc<Context>, begun: Tick, closing: Arc<AtomicBool>) {
        let mut told = Told::load(&self.file, &self.of, &context.log);
        lock(&self.state).open = told.open();
        let mut turns = Turns { failures: 0, until: None, resent: None, is_unsaved: false };
        while !closing.load(Relaxed) {
            // Before the first look nobody knows which findings are open.
            if context.findings.overview().checks > 0 {
                let mut looked = looked(&context, begun);
                if !context.leases.holds(ALERTS) {
                    looked.open.retain(|finding| !is_shared(&finding.key));
                    told.leave_shared();
                }
                self.tell(&context, &looked, &mut told, &mut turns, &closing).await;
            }
            let _ = timeout(turns.next(self.resend), self.wake.notified()).await;
        }
        if turns.is_unsaved {
            self.keep(&context, &told, &mut turns).await;
        }
    }

    /// Tells it what it does not know.
    async fn tell(&self, context: &Context, looked: &Looked, told: &mut Told, turns: &mut Turns, closing: &AtomicBool) {
        told.keep_refused(looked);
        lock(&self.state).refused = told.refused() as u64;
        let unknown = told.unknown(&self.name, &self.kinds, looked, &context.teller);
        self.bound.observe(unknown.len() as u64);
        if turns.is_unsaved {
            self.keep(context, told, turns).await;
        }
        if self.arrived.swap(false, Relaxed) {
            (turns.failures, turns.until) = (0, None);
        }
        if turns.until.is_some_and(|until| Tick::now() < until) {
            return;
        }
        let mut left = unknown.len();
        let is_due = turns.is_due(self.resend);
        let again = if is_due { told.again(looked) } else { Vec::new() };
        // What has ended is not told to go on.
        let goes_on = |alert: &Alert| !unknown.iter().any(|other| other.id == alert.id);
        let again: Vec<Alert> = again.into_iter().filter(|alert| goes_on(alert)).collect();
        for batch in unknown.chunks(self.address.batch()) {
            let mut batch: Vec<Alert> = batch.iter().filter(|alert| told.has_room_for(alert)).cloned().collect();
            if batch.is_empty() {
                self.bound.reject();
                continue;
            }
            if !self.tell_batch(context, &mut batch, told, turns).await {
                return;
            }
            left = left.saturating_sub(batch.len());
            self.bound.observe(left as u64);
            if closing.load(Relaxed) {
                return;
            }
        }
        for batch in again.chunks(self.address.batch()) {
            let sent = self.attempt(&context.recorder, batch, true).await;
            if !self.is_done(context, &sent, turns) || closing.load(Relaxed) {
                return;
            }
        }
        if is_due {
            turns.resent = Some(Tick::now());
        }
    }

    /// Sends a batch. The attempt is written down before, because its answer may be lost, and the result after it. Returns whether it needs no further attempt.
    async fn tell_batch(&self, context: &Context, batch: &mut [Alert], told: &mut Told, turns: &mut Turns) -> bool {
        let marked = told.attempt(batch);
        if !marked.is_empty() {
            self.keep(context, told, turns).await;
        }
        let sent = self.attempt(&context.recorder, batch, false).await;
        let is_done = self.is_done(context, &sent, turns);
        let has_changed = match &sent {
            Ok(()) => {
                told.add(batch);
                true
            }
            Err(not_taken) => {
                if not_taken.is_for_good {
                    told.refuse(batch);
                    lock(&self.state).refused = told.refused() as u64;
                }
                if not_taken.is_untaken {
                    told.unmark(&marked);
                }
                not_taken.is_for_good || not_taken.is_untaken && !marked.is_empty()
            }
        };
        if has_changed {
            self.keep(context, told, turns).await;
        }
        is_done
    }

    /// Whether the message needs no further attempt.
    fn is_done(&self, context: &Context, sent: &Result<(), NotTaken>, turns: &mut Turns) -> bool {
        let now = context.clock.now();
        let mut state = lock(&self.state);
        match sent {
            Ok(()) => {
                (turns.failures, turns.until, state.taken) = (0, None, Some(now));
                self.takes_again(&mut state, &context.log);
                true
            }
            Err(not_taken) => {
                let (since, attempts) = state.failing.unwrap_or((now, 0));
                if attempts == 0 {
                    let fields: &[(&str, &dyn std::fmt::Display)] =
                        &[("receiver", &self.name), ("why", &not_taken.why)];
                    let text = match not_taken.is_for_good {
                        true => "a receiver does not take alerts; what it refused is not sent again",
                        false => "a receiver does not take alerts; it is tried again",
                    };
                    context.log.warn(text, fields);
                }
                state.failure = Some((now, not_taken.why.clone()));
                state.failing = Some((since, attempts + 1));
                if not_taken.is_for_good {
                    return true;
                }
                let usual = PAUSE.saturating_mul(1 << turns.failures.min(10)).min(PAUSE_MAX);
                turns.failures = turns.failures.saturating_add(1);
                turns.until = Some(Tick::now().plus(not_taken.pause.unwrap_or_default().max(usual)));
                false
            }
        }
    }

    /// One attempt, with its event.
    pub(super) async fn attempt(
        &self,
        recorder: &Arc<Recorder>,
        alerts: &[Alert],
        again: bool,
    ) -> Result<(), NotTaken> {
        let mut job = Job::begin(recorder, JOB);
        job.asked(&format!("alerts/{}", self.name));
        job.subject.kind = self.kind;
        let ended = alerts.iter().filter(|alert| alert.ended.is_some()).count();
        let begun = alerts.len() - ended;
        job.detail = match again {
            true => format!("{begun} told again"),
            false => format!("{begun} opened, {ended} closed"),
        };
        let sent = job.during(Op::AlertSend, self.address.send(&self.name, alerts)).await;
        match &sent {
            Ok(()) => {
                let new = if again { 0 } else { alerts.iter().filter(|alert| !alert.is_test).count() as u64 };
                self.sent.fetch_add(new, Relaxed);
                job.end(Outcome::Done);
            }
            Err(not_taken) => {
                self.failed.fetch_add(1, Relaxed);
                job.reason = Some(not_taken.reason);
                job.detail = format!("{}: {}", job.detail, not_taken.why);
                job.end(Outcome::Failed);
            }
        }
        sent
    }

    /// Writes what it was told. Without that a restart tells it again, with the same keys. A failure is told once, and the next call tries again.
    async fn keep(&self, context: &Context, told: &Told, turns: &mut Turns) {
        lock(&self.state).open = told.open();
        let (file, bytes) = (self.file.clone(), told.bytes());
        let mut job = Job::begin(&context.recorder, KEEP);
        job.asked(&format!("alerts/{}", self.name));
        let write = spawn_blocking(move || file.write(&bytes?));
        let written = job.during(Op::AlertSend, write).await.unwrap_or_else(|stopped| Err(stopped.into()));
        job.end_as(&written);
        let was_unsaved = std::mem::replace(&mut turns.is_unsaved, written.is_err());
        if let Some(error) = written.err().filter(|_| !was_unsaved) {
            let fields: &[(&str, &dyn std::fmt::Display)] =
                &[("receiver", &self.name), ("file", &self.file), ("why", &error)];
            context
                .log
                .warn("what a receiver of alerts was told cannot be written, so a restart tells it again", fields);
        }
    }
}

impl Turns {
    /// Whether it is to be told again what goes on.
    fn is_due(&self, resend: Option<Duration>) -> bool {
        let passed =
            |resend: Duration| self.resent.is_none_or(|at| u128::from(Tick::now().since(at)) >= resend.as_nanos());
        resend.is_some_and(passed)
    }

    /// How long there is nothing to do, unless somebody says so.
    fn next(&self, resend: Option<Duration>) -> Duration {
        let now = Tick::now();
        let left = |at: Tick| Duration::from_nanos(at.since(now));
        let pause = self.until.map(left).filter(|left| !left.is_zero());
        let again = resend.map(|time| self.resent.map_or(time, |at| left(at.plus(time))));
        // A failed one is not told again before its pause has ended.
        pause.or(again).unwrap_or(COMPARES).clamp(Duration::from_millis(10), COMPARES)
    }
}

/// The findings of the last look.
fn looked(context: &Context, begun: Tick) -> Looked {
    let findings = |state: FindingState| context.findings.list(&[state]).into_iter();
    Looked {
        open: findings(FindingState::Open).collect(),
        muted: findings(FindingState::Muted).map(|finding| finding.id).collect(),
        // The newest is first; a later entry of the map would replace it.
        closed: findings(FindingState::Closed)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .map(|one| (one.id, one.since))
            .collect(),
        now: context.clock.now(),
        uptime: Duration::from_nanos(Tick::now().since(begun)),
    }
}
