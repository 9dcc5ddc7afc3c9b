//! Which node does the work that one node does for all of them: a lease for each kind of it.
//!
//! A lease saves doubled work, and nothing relies on it for more: every change is decided against the whole journal, and what a late holder
//! does to object storage is harmless. So it has no number that its changes would have to name.

use super::beat::LeaseRow;
use super::nodes::Row;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::{Tick, lock};
use tokio::sync::Notify;

/// How long a lease is certain after the beat that told of it was sent. Others may take it later ([`super::rhythm::GONE`]).
const CERTAIN: Duration = Duration::from_secs(2);
/// How long a lease is wanted after it was asked for.
const WANTED: Duration = Duration::from_secs(300);

/// The leases that this node asks for.
#[derive(Debug)]
pub struct Leases {
    /// `None`: there are no other nodes.
    wanted: Option<Mutex<BTreeMap<String, Wanted>>>,
    /// As the last beat saw them.
    rows: Mutex<Vec<LeaseRow>>,
    /// Wakes the thread that beats.
    wake: Arc<Notify>,
}

/// A lease that this node asks for.
#[derive(Debug)]
struct Wanted {
    asked: Tick,
    /// Until when it is held.
    held: Tick,
}

impl Leases {
    /// All leases of a node that has no others.
    pub fn alone() -> Arc<Self> {
        Arc::new(Self { wanted: None, rows: Mutex::default(), wake: Arc::default() })
    }

    pub(super) fn shared(wake: Arc<Notify>) -> Arc<Self> {
        Arc::new(Self { wanted: Some(Mutex::default()), rows: Mutex::default(), wake })
    }

    /// Whether this node does the work `name` now; without a database always. From now on the node wants the lease, until it has not been
    /// asked for a minute. So ask again before each round, and between the steps of a long one.
    pub fn holds(&self, name: &str) -> bool {
        let Some(wanted) = &self.wanted else { return true };
        let (mut wanted, now) = (lock(wanted), Tick::now());
        if let Some(of) = wanted.get_mut(name) {
            of.asked = now;
            return now < of.held;
        }
        wanted.insert(name.to_owned(), Wanted { asked: now, held: Tick(0) });
        drop(wanted);
        self.wake.notify_one();
        false
    }

    /// Whether there are no other nodes, because there is no database.
    pub(crate) fn is_alone(&self) -> bool {
        self.wanted.is_none()
    }

    /// The name of each lease, and the node that has it or had it last, as the last beat saw them.
    pub fn holders(&self) -> Vec<(String, String)> {
        lock(&self.rows).iter().map(|lease| (lease.name.clone(), lease.node.clone())).collect()
    }

    /// The leases that this node wants and no living node of `nodes` has.
    pub(super) fn free(&self, nodes: &[Row]) -> Vec<String> {
        let rows = lock(&self.rows);
        let lives = |lease: &LeaseRow| nodes.iter().any(|node| node.lives_as(&lease.node, &lease.instance));
        let is_held = |name: &str| rows.iter().any(|lease| lease.name == name && lives(lease));
        let wanted = self.wanted.iter().flat_map(|wanted| lock(wanted).keys().cloned().collect::<Vec<_>>());
        wanted.filter(|name| !is_held(name)).collect()
    }

    /// A beat of `instance` that was sent at `sent` told of these leases. Returns the ones that this node has and does not want any more;
    /// `ends`: it wants none.
    pub(super) fn are(&self, leases: Vec<LeaseRow>, instance: &str, sent: Tick, ends: bool) -> Vec<String> {
        let Some(wanted) = &self.wanted else { return Vec::new() };
        let mut wanted = lock(wanted);
        wanted.retain(|_, of| !ends && sent < of.asked.plus(WANTED));
        let own = leases.iter().filter(|lease| lease.instance == instance).map(|lease| &lease.name);
        let unwanted = own.filter(|name| !wanted.contains_key(*name)).cloned().collect();
        for (name, of) in wanted.iter_mut() {
            let is_held = leases.iter().any(|lease| lease.name == *name && lease.instance == instance);
            of.held = if is_held { sent.plus(CERTAIN) } else { Tick(0) };
        }
        *lock(&self.rows) = leases;
        unwanted
    }
}
