//! Whether the database answers, for all code that tells people about it, and counts of the work with it.

use crate::error::Error;
use crate::journal::clock_doubt::ClockDoubt;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use telemetry::log::{Causes, Incident};
use telemetry::{Clock, Log, Metric, Millis, Recorder, lock};

/// A node whose clock is off by more milliseconds writes nothing. The function `append` of the database has the same limit.
const OFF_MAX_MS: i64 = 5_000;

/// The state of the connection to the database.
#[derive(Debug)]
pub struct DatabaseState {
    url: String,
    clock: Clock,
    log: Log,
    is_away: AtomicBool,
    away: Mutex<Option<DatabaseAway>>,
    /// Told in the log once.
    incident: Incident,
    causes: Causes,
    /// The database has rows that contradict the copy, or belongs to others.
    other: Incident,
    /// The error that tells it.
    parted: Mutex<Option<Error>>,
    /// The copy has the changes of the database, as far as they were known, and is read while it is away.
    has_copy: AtomicBool,
    /// The database has a row that this program cannot take in.
    ahead: Incident,
    unfollowed: Mutex<Option<String>>,
    /// It answers, and cannot write.
    refuses: AtomicBool,
    /// By how many milliseconds the clock of this node is ahead of its clock at least, when that was last compared; negative: behind it.
    clock_off: AtomicI64,
    clock_doubted: Incident,
    pub(super) counts: DatabaseCounts,
}

/// Since when the database cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseAway {
    /// Since when.
    pub since: Millis,
    /// The cause, for people.
    pub cause: String,
}

/// Counts since the start.
#[derive(Debug, Default)]
pub(super) struct DatabaseCounts {
    pub(super) appends: AtomicU64,
    /// Appends before which others had written.
    pub(super) retries: AtomicU64,
    /// Appends whose answer was lost, and that were sent again.
    pub(super) lost_answers: AtomicU64,
    pub(super) connects: AtomicU64,
    pub(super) beats: AtomicU64,
}

impl DatabaseState {
    pub(super) fn new(url: &str, clock: Clock, log: Log, recorder: &Recorder) -> Arc<Self> {
        let state = Arc::new(Self {
            url: url.to_owned(),
            clock,
            log,
            is_away: AtomicBool::new(false),
            away: Mutex::default(),
            incident: Incident::default(),
            causes: Causes::default(),
            other: Incident::default(),
            parted: Mutex::default(),
            has_copy: AtomicBool::new(false),
            ahead: Incident::default(),
            unfollowed: Mutex::default(),
            refuses: AtomicBool::new(false),
            clock_off: AtomicI64::new(0),
            clock_doubted: Incident::default(),
            counts: DatabaseCounts::default(),
        });
        state.register(recorder);
        state
    }

    /// Whether the database cannot be used now.
    pub fn is_away(&self) -> bool {
        self.is_away.load(Ordering::Relaxed)
    }

    /// Since when it cannot be used, and why; `None`: it can.
    pub fn away(&self) -> Option<DatabaseAway> {
        lock(&self.away).clone()
    }

    /// Its URL, without a password.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// It does not answer, or refuses.
    pub(super) fn went_away(&self, cause: &str) {
        self.set(Some(cause));
        if self.causes.is_new(cause) {
            let mut text = "the database still cannot be used, for another cause than before";
            self.incident.begin(|| {
                text = match self.has_copy.load(Ordering::Acquire) {
                    true => {
                        "the database cannot be used: everything is read from this node's copy, and nothing is written"
                    }
                    false => "the database cannot be used, and a first start needs it: it is tried again",
                };
            });
            self.log.error(text, &[("database", &self.url), ("cause", &cause)]);
        }
    }

    /// The copy has its changes, as far as they are known.
    pub(super) fn is_copied(&self) {
        self.has_copy.store(true, Ordering::Release);
    }

    /// It answers, and nobody has to act.
    pub(super) fn is_back(&self) {
        if !self.is_away() || self.other.is_on() || self.is_refusing() {
            return;
        }
        self.set(None);
        self.causes.forget();
        self.incident.end(|| self.log.info("the database can be used again", &[("database", &self.url)]));
    }

    /// It answers, and cannot write. A new connection does not tell that it can again.
    pub(super) fn refuses(&self, cause: &str) {
        self.refuses.store(true, Ordering::Release);
        self.went_away(cause);
    }

    /// Whether it could not write when it was last tried.
    pub(super) fn is_refusing(&self) -> bool {
        self.refuses.load(Ordering::Acquire)
    }

    /// It has written something.
    pub(super) fn takes(&self) {
        if self.refuses.swap(false, Ordering::AcqRel) {
            self.is_back();
        }
    }

    /// The time of this node, to be compared with that of the database; `None`: somebody has set it, and it is not.
    pub(super) fn clock_ms(&self) -> Option<i64> {
        (!self.clock.is_set()).then(|| self.clock.now().0)
    }

    /// It told its time to a question that was sent at `sent_ms` by the clock of this node.
    pub(super) fn told_time(&self, theirs_ms: i64, sent_ms: Option<i64>) {
        let now_ms = self.clock_ms();
        // It was read between both moments, if the clock of this node is right.
        let off = sent_ms.zip(now_ms).map_or(0, |(sent, now)| (sent - theirs_ms).max(0) + (now - theirs_ms).min(0));
        self.is_off(off);
    }

    /// The clock of this node is ahead of its clock by so many milliseconds; negative: behind it.
    pub(super) fn is_off(&self, by_ms: i64) {
        self.clock_off.store(by_ms, Ordering::Release);
        match self.clock_doubt() {
            Some(doubt) => self.clock_doubted.begin(|| {
                let error = Error::Clock(doubt);
                let hint = error.hint().unwrap_or_default();
                self.log.error("nothing is written", &[("error", &error), ("hint", &hint)]);
            }),
            None => self.clock_doubted.end(|| self.log.info("the clock is right again: everything is written", &[])),
        }
    }

    /// Why the clock of this node cannot be believed, if that is so.
    pub fn clock_doubt(&self) -> Option<ClockDoubt> {
        let off = self.clock_off.load(Ordering::Acquire);
        (off.abs() > OFF_MAX_MS).then_some(ClockDoubt::OffFromDatabase(off))
    }

    fn set(&self, cause: Option<&str>) {
        let mut away = lock(&self.away);
        let since = away.as_ref().map_or_else(|| self.clock.now(), |away| away.since);
        *away = cause.map(|cause| DatabaseAway { since, cause: cause.to_owned() });
        self.is_away.store(away.is_some(), Ordering::Release);
    }

    /// Why changes of other nodes are not taken in any more, although the database has them, if that is so.
    pub fn unfollowed(&self) -> Option<String> {
        lock(&self.unfollowed).clone()
    }

    /// It has a row that this program cannot take in.
    pub(super) fn cannot_follow(&self, error: &Error) {
        *lock(&self.unfollowed) = Some(error.to_string());
        self.ahead.begin(|| {
            let hint = error.hint().unwrap_or_default();
            let text = "changes of other nodes are not taken in any more, and nothing is written";
            self.log.error(text, &[("error", error), ("hint", &hint)]);
        });
    }

    /// All its rows up to here were taken in.
    pub(super) fn follows(&self) {
        self.ahead.end(|| {
            *lock(&self.unfollowed) = None;
            self.log.info("changes of other nodes are taken in again", &[]);
        });
    }

    /// Whether it has another history than the copy, or is no database of ours, so that somebody has to act.
    pub fn has_parted(&self) -> bool {
        self.other.is_on()
    }

    /// The error that tells this; `None`: it is not so.
    pub(crate) fn parted(&self) -> Option<Error> {
        lock(&self.parted).clone()
    }

    /// It has another history than the copy, or is no database of ours: somebody has to act.
    pub(super) fn is_other(&self, error: &Error) {
        let cause = error.to_string();
        self.set(Some(&cause));
        *lock(&self.parted) = Some(error.clone());
        self.other.begin(|| {
            let hint = error.hint().unwrap_or_default();
            self.log.error("nothing is written", &[("error", error), ("hint", &hint)]);
        });
    }

    /// It has the history of the copy.
    pub(super) fn is_ours(&self) {
        *lock(&self.parted) = None;
        self.other.end(|| self.log.info("the database has the history of this node: everything is written", &[]));
        self.is_back();
    }

    fn register(self: &Arc<Self>, recorder: &Recorder) {
        let figure = |metric, read: fn(&Self) -> &AtomicU64| {
            let state = self.clone();
            recorder.figure(metric, move || read(&state).load(Ordering::Relaxed) as f64);
        };
        let doc = "Transactions that were sent to the database";
        figure(Metric::counter("database_appends_total", doc), |state| &state.counts.appends);
        let doc = "Transactions that were decided again because another node had written";
        figure(Metric::counter("database_retries_total", doc), |state| &state.counts.retries);
        let doc = "Transactions that were sent to the database again because the answer did not come";
        figure(Metric::counter("database_lost_answers_total", doc), |state| &state.counts.lost_answers);
        let doc = "Connections to the database";
        figure(Metric::counter("database_connects_total", doc), |state| &state.counts.connects);
        let doc = "Beats: statements that tell the other nodes of this one, and this one of them";
        figure(Metric::counter("database_beats_total", doc), |state| &state.counts.beats);
        let state = self.clone();
        let away = Metric::gauge("database_away", "1 while the database cannot be used");
        recorder.figure(away, move || f64::from(u8::from(state.is_away())));
    }
}
