//! Whether the database answers, for all code that tells people about it, and counts of the work with it.

use crate::error::Error;
use crate::writer::group_membership::GroupMembership;
use crate::writer::revision::Revisions;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use telemetry::log::Incident;
use telemetry::{Clock, Log, Metric, Millis, Recorder, lock};

/// The state of the connection to the database.
#[derive(Debug)]
pub struct DatabaseState {
    url: String,
    clock: Clock,
    log: Log,
    is_away: AtomicBool,
    answers: OnceLock<Answers>,
    away: Mutex<Option<DatabaseAway>>,
    /// Told in the log once.
    incident: Incident,
    /// The database has rows that contradict the copy, or belongs to others.
    other: Incident,
    pub(super) counts: DatabaseCounts,
}

/// What all answers depend on. They tell when they may lack changes of other nodes, because the database cannot be used.
#[derive(Debug)]
pub(crate) struct Answers {
    pub(crate) revisions: Arc<Revisions>,
    pub(crate) membership: Arc<Mutex<GroupMembership>>,
}

impl Answers {
    fn raise(&self) {
        self.revisions.raise_settings(lock(&self.membership).repositories());
    }
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
}

impl DatabaseState {
    pub(super) fn new(url: &str, clock: Clock, log: Log, recorder: &Recorder) -> Arc<Self> {
        let state = Arc::new(Self {
            url: url.to_owned(),
            clock,
            log,
            is_away: AtomicBool::new(false),
            answers: OnceLock::new(),
            away: Mutex::default(),
            incident: Incident::default(),
            other: Incident::default(),
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
        self.incident.begin(|| {
            let text = "the database cannot be used: everything is read from this node's copy, and nothing is written";
            self.log.error(text, &[("database", &self.url), ("cause", &cause)]);
        });
    }

    /// It answers, and nobody has to act.
    pub(super) fn is_back(&self) {
        if !self.is_away() || self.other.is_on() {
            return;
        }
        self.set(None);
        self.incident.end(|| self.log.info("the database can be used again", &[("database", &self.url)]));
    }

    fn set(&self, cause: Option<&str>) {
        let mut away = lock(&self.away);
        let since = away.as_ref().map_or_else(|| self.clock.now(), |away| away.since);
        *away = cause.map(|cause| DatabaseAway { since, cause: cause.to_owned() });
        let is_away = away.is_some();
        drop(away);
        if self.is_away.swap(is_away, Ordering::AcqRel) != is_away {
            self.answers.get().into_iter().for_each(Answers::raise);
        }
    }

    /// Lets no answer from before hold when the database goes away or comes back.
    pub(crate) fn change_answers(&self, answers: Answers) {
        let _ = self.answers.set(answers);
    }

    /// It has another history than the copy, or is no database of ours: somebody has to act.
    pub(super) fn is_other(&self, error: &Error) {
        let cause = error.to_string();
        self.set(Some(&cause));
        self.other.begin(|| {
            let hint = error.hint().unwrap_or_default();
            self.log.error("nothing is written", &[("error", error), ("hint", &hint)]);
        });
    }

    /// It has the history of the copy.
    pub(super) fn is_ours(&self) {
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
        let state = self.clone();
        let away = Metric::gauge("database_away", "1 while the database cannot be used");
        recorder.figure(away, move || f64::from(u8::from(state.is_away())));
    }
}
