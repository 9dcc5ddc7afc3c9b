//! A server, as all cores know it: whether it is asked, and its bounds.

use super::Trouble;
use crate::options::PagesOptions;
use crate::view::PageServerView;
use client::{PageServer, Secret};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::{Bound, BoundName, Recorder, Text, Tick, lock};

/// How long a server that failed is not asked. Then one read tries it.
pub(super) const DOWN: Duration = Duration::from_secs(1);
/// The most reads of a server that are in progress, of all cores.
const READS_MAX: u64 = 1024;

/// A server.
#[derive(Debug)]
pub(super) struct Host {
    server: PageServer,
    /// Distinguishes the servers of all applications in this process.
    number: usize,
    app: Text,
    credentials: Option<Secret>,
    timeout: Duration,
    value_bytes: usize,
    recorder: Arc<Recorder>,
    connections: Arc<Bound>,
    reads: Arc<Bound>,
    /// When it is tried again, in ticks. 0: nothing speaks against it.
    down_until: AtomicU64,
    /// Why it is not asked.
    cause: Mutex<Trouble>,
    /// Its last failure, in words.
    trouble: Mutex<Option<String>>,
}

impl Host {
    /// The server at place `at` of the settings, from 1.
    pub(super) fn new(
        server: PageServer,
        app: &Text,
        at: usize,
        options: &PagesOptions,
        recorder: &Arc<Recorder>,
    ) -> Arc<Self> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let cores = std::thread::available_parallelism().map_or(64, |cores| cores.get() as u64);
        // A core may open the next connection while the last one ends.
        let which = format!("{app}/{at}");
        let connections = Bound::new(BoundName::AppPageConnections, &which, 2 * cores);
        let reads = Bound::new(BoundName::AppPageReads, &which, READS_MAX);
        recorder.register(connections.clone());
        recorder.register(reads.clone());
        Arc::new(Self {
            server,
            number: NUMBERS.fetch_add(1, Relaxed) as usize,
            app: app.clone(),
            credentials: options.credentials.clone(),
            timeout: options.timeout,
            value_bytes: options.value_bytes,
            recorder: recorder.clone(),
            connections,
            reads,
            down_until: AtomicU64::new(0),
            cause: Mutex::new(Trouble::Unreachable),
            trouble: Mutex::default(),
        })
    }

    pub(super) fn server(&self) -> &PageServer {
        &self.server
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// The number of its process. In containers, two servers may have the same process number and second of their start.
    pub(super) fn instance(&self, told: u64) -> u64 {
        told ^ (self.number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    pub(super) fn credentials(&self) -> Option<&Secret> {
        self.credentials.as_ref()
    }

    /// How long a read waits.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The most bytes of a value.
    pub(super) fn value_bytes(&self) -> usize {
        self.value_bytes
    }

    pub(super) fn connections(&self) -> &Arc<Bound> {
        &self.connections
    }

    pub(super) fn reads(&self) -> &Arc<Bound> {
        &self.reads
    }

    /// Whether it may be asked now: it works, or this caller is the one that tries it. If not, why: only a server that cannot be reached is
    /// `Unreachable`.
    pub(super) fn can_use(&self, now: Tick) -> Result<(), Trouble> {
        let until = self.down_until.load(Relaxed);
        if until == 0 {
            return Ok(());
        }
        let next = now.plus(DOWN).0.max(1);
        if now.0 >= until && self.down_until.compare_exchange(until, next, Relaxed, Relaxed).is_ok() {
            return Ok(());
        }
        Err(*lock(&self.cause))
    }

    /// It gave a reply.
    pub(super) fn works(&self) {
        if self.down_until.load(Relaxed) != 0 && self.down_until.swap(0, Relaxed) != 0 {
            let fields: [(&str, &dyn std::fmt::Display); 2] = [("app", &self.app), ("server", &self.server.name())];
            self.recorder.log().info("a server of pages is up again", &fields);
        }
    }

    /// It cannot be used: it is not asked for a moment.
    pub(super) fn failed(&self, cause: Trouble, why: String) {
        *lock(&self.cause) = cause;
        let until = Tick::now().plus(DOWN).0.max(1);
        if self.down_until.swap(until, Relaxed) == 0 {
            let name = self.server.name();
            let fields: [(&str, &dyn std::fmt::Display); 3] = [("app", &self.app), ("server", &name), ("why", &why)];
            self.recorder.log().warn("a server of pages is down", &fields);
        }
        self.noted(why);
    }

    /// It refused a command, or a connection to it ended. It is still asked.
    pub(super) fn noted(&self, why: String) {
        *lock(&self.trouble) = Some(why);
    }

    /// Its state, for operators.
    pub(super) fn view(&self) -> PageServerView {
        PageServerView {
            url: self.server.name().to_owned(),
            up: self.down_until.load(Relaxed) == 0,
            trouble: lock(&self.trouble).clone(),
            connections: self.connections.used(),
            busy: self.reads.used(),
        }
    }
}
