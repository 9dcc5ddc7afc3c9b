//! Until when this node's copy may be called fresh: it has every change that was acknowledged anywhere.
//!
//! A beat tells the number of the last change. Once all changes up to it have taken effect here, the copy is trusted until
//! [`TRUST`] after the beat was sent. Every answer compares that moment with the clock, because a process that was stopped gets no
//! timer before its first request. Past that moment answers are the same, and say that changes of others may be missing.

use super::rhythm::TRUST;
use crate::journal::record::Seq;
use crate::writer::group_membership::GroupMembership;
use crate::writer::revision::Revisions;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use telemetry::log::Incident;
use telemetry::{Log, Tick, lock};
use tokio::sync::Notify;

/// No answer needs to look at the clock.
const ALWAYS: u64 = u64::MAX;
/// The most beats whose changes are awaited: a minute of them.
const BEATS_MAX: usize = 256;

/// Whether the copy is trusted.
#[derive(Debug)]
pub struct Freshness {
    /// The moment at which trust ends; [`ALWAYS`] without a database, and while answers say that they may be stale.
    until: AtomicU64,
    is_stale: AtomicBool,
    began: Tick,
    state: Mutex<State>,
    answers: OnceLock<Answers>,
    log: Log,
    stale: Incident,
    /// There is a moment at which something is due.
    due: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    /// The changes up to this one have taken effect.
    seen: Seq,
    until: Tick,
    /// What beats told, and when they were sent, where the changes up to it are not there yet.
    beats: VecDeque<(Seq, Tick)>,
}

/// What all answers depend on.
#[derive(Debug)]
pub(crate) struct Answers {
    pub(crate) revisions: Arc<Revisions>,
    pub(crate) membership: Arc<Mutex<GroupMembership>>,
}

impl Freshness {
    /// Of a store without a database.
    pub fn always() -> Arc<Self> {
        Arc::new(Self::new(false, Log::silent(), Arc::default()))
    }

    /// Of a store that others change, too. It is stale until its first beat.
    pub(super) fn by_beats(log: Log, due: Arc<Notify>) -> Arc<Self> {
        Arc::new(Self::new(true, log, due))
    }

    fn new(is_stale: bool, log: Log, due: Arc<Notify>) -> Self {
        Self {
            until: AtomicU64::new(ALWAYS),
            is_stale: AtomicBool::new(is_stale),
            began: Tick::now(),
            state: Mutex::default(),
            answers: OnceLock::new(),
            log,
            stale: Incident::default(),
            due,
        }
    }

    /// Whether an answer that was made before, and whose stamp holds, may still say what it says. Ask before comparing the stamp.
    pub fn lets_hold(&self) -> bool {
        let until = self.until.load(Ordering::Acquire);
        until == ALWAYS || Tick::now().0 < until
    }

    /// Whether the copy has every change that was acknowledged before this call. If not, stamps from before do not hold any more.
    pub fn is_fresh(&self) -> bool {
        let until = self.until.load(Ordering::Acquire);
        if until != ALWAYS && Tick::now().0 >= until {
            self.end();
        }
        !self.is_stale.load(Ordering::Acquire)
    }

    /// For how long trust has ended, or has not begun since the start; `None`: it has not ended.
    pub(super) fn stale_for(&self) -> Option<Duration> {
        if self.is_fresh() {
            return None;
        }
        let until = lock(&self.state).until.max(self.began);
        Some(Duration::from_nanos(Tick::now().since(until)))
    }

    /// Trust may have ended.
    fn end(&self) {
        let state = lock(&self.state);
        if self.is_stale.load(Ordering::Acquire) || Tick::now() < state.until {
            return;
        }
        self.is_stale.store(true, Ordering::Release);
        // Until all are raised, no answer from before is given.
        self.raise();
        self.until.store(ALWAYS, Ordering::Release);
        self.stale.begin(|| {
            let text = "answers may lack changes of other nodes, and say so: this node has not followed for a second";
            self.log.warn(text, &[("last", &state.seen.0)]);
        });
    }

    /// Whether trust has not ended. If it has, this node tells that it calls no answer fresh, and others wait for it no more: so what earlier
    /// beats told must not begin trust again.
    pub(super) fn keeps_trust(&self) -> bool {
        let mut state = lock(&self.state);
        let has_trust = Tick::now() < state.until;
        if !has_trust {
            state.beats.clear();
        }
        has_trust
    }

    /// A beat that was sent at `sent` told that the last change is `last`.
    pub(super) fn beat(&self, last: Seq, sent: Tick) {
        let mut state = lock(&self.state);
        if last <= state.seen {
            return self.trust(&mut state, sent);
        }
        if state.beats.len() == BEATS_MAX {
            state.beats.pop_front();
        }
        state.beats.push_back((last, sent));
    }

    /// All changes up to `seq` have taken effect.
    pub(super) fn saw(&self, seq: Seq) {
        let mut state = lock(&self.state);
        state.seen = seq.max(state.seen);
        let mut newest = None;
        while let Some((_, sent)) = state.beats.front().copied().filter(|(last, _)| *last <= state.seen) {
            newest = Some(sent);
            state.beats.pop_front();
        }
        if let Some(sent) = newest {
            self.trust(&mut state, sent);
        }
    }

    /// What beats told over a connection that has ended says nothing about the next one.
    pub(super) fn forget_beats(&self) {
        lock(&self.state).beats.clear();
    }

    fn trust(&self, state: &mut State, sent: Tick) {
        let until = sent.plus(TRUST);
        if until <= state.until || until <= Tick::now() {
            return;
        }
        state.until = until;
        // Before anything is called fresh it is known until when.
        self.until.store(until.0, Ordering::Release);
        let was_stale = self.is_stale.swap(false, Ordering::AcqRel);
        if was_stale {
            self.raise();
            self.due.notify_one();
            self.stale.end(|| self.log.info("answers have the changes of all nodes again", &[("last", &state.seen.0)]));
        }
    }

    /// Looks whether trust has ended. Returns when it will.
    pub(super) fn end_overdue(&self) -> Option<Tick> {
        self.is_fresh().then(|| lock(&self.state).until)
    }

    /// Lets no answer from before hold when trust ends or comes back.
    pub(crate) fn change_answers(&self, answers: Answers) {
        let _ = self.answers.set(answers);
    }

    fn raise(&self) {
        if let Some(answers) = self.answers.get() {
            answers.revisions.raise_settings(lock(&answers.membership).repositories());
        }
    }
}
