//! One backend of an application.

use super::health::{Check, Health, Rank};
use crate::options::AppOptions;
use crate::view::BackendView;
use client::Backend;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use telemetry::{Bound, BoundName, Recorder, Slot, Text, Tick, lock};

/// One backend of an application.
#[derive(Debug)]
pub(super) struct AppBackend {
    backend: Backend,
    app: String,
    /// Distinguishes the backends of all applications in this process.
    number: u64,
    /// Its URL.
    text: Text,
    recorder: Arc<Recorder>,
    /// Its open connections.
    bound: Arc<Bound>,
    /// How many of them may stay open.
    slots: u64,
    /// Requests under way.
    busy: AtomicU64,
    health: Mutex<Health>,
    /// Whether nothing speaks against it: then no request looks into `health`.
    is_good: AtomicBool,
}

impl AppBackend {
    /// The backend at place `at` of the settings, from 1.
    pub(super) fn new(backend: Backend, options: &AppOptions, at: usize, recorder: &Arc<Recorder>) -> Arc<Self> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        // So many requests may be under way, and another core may keep so many idle connections.
        let most = 2 * options.slots as u64;
        let bound = Bound::new(BoundName::AppConnections, &format!("{}/{at}", options.name), most);
        recorder.register(bound.clone());
        Arc::new(Self {
            app: options.name.clone(),
            number: NUMBERS.fetch_add(1, Relaxed),
            text: backend.name().into(),
            recorder: recorder.clone(),
            bound,
            slots: options.slots as u64,
            busy: AtomicU64::new(0),
            health: Mutex::default(),
            is_good: AtomicBool::new(true),
            backend,
        })
    }

    pub(super) fn name(&self) -> &str {
        self.backend.name()
    }

    pub(super) fn text(&self) -> &Text {
        &self.text
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn backend(&self) -> &Backend {
        &self.backend
    }

    pub(super) fn recorder(&self) -> &Arc<Recorder> {
        &self.recorder
    }

    /// Requests under way.
    pub(super) fn busy(&self) -> u64 {
        self.busy.load(Relaxed)
    }

    pub(super) fn begin(&self) {
        self.busy.fetch_add(1, Relaxed);
    }

    pub(super) fn end(&self) {
        self.busy.fetch_sub(1, Relaxed);
    }

    /// Whether one more idle connection may stay open.
    pub(super) fn has_room(&self) -> bool {
        self.bound.used() <= self.slots
    }

    pub(super) fn rank(&self, now: Tick) -> Rank {
        if self.is_good.load(Relaxed) { Rank::Usable } else { lock(&self.health).rank(now) }
    }

    /// A request tries it now.
    pub(super) fn tried(&self) {
        if !self.is_good.load(Relaxed) {
            lock(&self.health).tried(Tick::now());
        }
    }

    /// Takes a place among its open connections. `None`: there are more than were foreseen.
    pub(super) fn place(&self) -> Option<Slot> {
        self.bound.enter().ok()
    }

    /// It accepted a connection.
    pub(super) fn connected(&self) {
        if !self.is_good.load(Relaxed) {
            self.learn(Health::connected);
        }
    }

    /// It refused a connection, or the handshake failed.
    pub(super) fn refused(&self, why: &str) {
        self.learn(|health| health.refused(Tick::now(), self.recorder.clock().now(), why.to_owned()));
    }

    /// It gave no whole response.
    pub(super) fn failed(&self, why: String) {
        self.learn(|health| health.failed(self.recorder.clock().now(), why));
    }

    /// What its health path told.
    pub(super) fn checked(&self, check: Check) {
        self.learn(|health| health.checked(check, self.recorder.clock().now()));
    }

    fn learn(&self, learn: impl FnOnce(&mut Health)) {
        let mut health = lock(&self.health);
        learn(&mut health);
        let (was, is) = (self.is_good.swap(health.is_good(), Relaxed), health.is_good());
        let trouble = health.trouble().unwrap_or_default();
        drop(health);
        let log = self.recorder.log();
        match (was, is) {
            (true, false) => {
                log.warn("a backend is down", &[("app", &self.app), ("backend", &self.name()), ("why", &trouble)]);
            }
            (false, true) => log.info("a backend is up again", &[("app", &self.app), ("backend", &self.name())]),
            _ => {}
        }
    }

    pub(super) fn view(&self) -> BackendView {
        let health = lock(&self.health);
        BackendView {
            url: self.name().to_owned(),
            up: health.is_good(),
            trouble: health.trouble(),
            busy: self.busy(),
            connections: self.bound.used(),
        }
    }
}

/// An error with the error of the system behind it.
pub(super) fn with_cause(error: &client::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
