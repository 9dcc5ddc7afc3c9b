//! All hosts that upstreams are on.

use crate::circuit::CircuitOptions;
use crate::host::{Host, HostState};
use crate::resolve::Resolver;
use crate::target::Origin;
use crate::{Networks, Patience};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use telemetry::Recorder;

/// How hosts are treated: each of them alike, whoever calls.
#[derive(Debug, Clone, Copy)]
pub struct HostsOptions {
    /// Calls to one host at a time.
    pub calls: usize,
    /// Calls that wait for a place there, at most.
    pub waiting: usize,
    /// Connections to one host that are kept for the next call.
    pub kept: usize,
    /// For so long.
    pub keep_for: Duration,
    /// When one that fails is left alone.
    pub circuit: CircuitOptions,
    /// How long a host is not called that says 429 and not for how long.
    pub pause: Duration,
    /// No host is obeyed longer than this.
    pub pause_max: Duration,
    /// How long calls may take.
    pub patience: Patience,
    /// In which networks upstreams may be.
    pub networks: Networks,
}

impl Default for HostsOptions {
    fn default() -> Self {
        Self {
            calls: 32,
            waiting: 1024,
            kept: 16,
            keep_for: Duration::from_secs(45),
            circuit: CircuitOptions::default(),
            pause: Duration::from_secs(5),
            pause_max: Duration::from_secs(3600),
            patience: Patience::default(),
            networks: Networks::default(),
        }
    }
}

/// The hosts that are called, for all upstreams together.
#[derive(Debug)]
pub struct Hosts {
    recorder: Arc<Recorder>,
    options: HostsOptions,
    resolver: Resolver,
    table: Mutex<HashMap<Origin, Arc<Host>>>,
}

/// Hosts that are remembered. Redirects may lead to any number of them.
const HOSTS_MAX: usize = 512;

impl Hosts {
    /// None yet.
    pub fn new(recorder: Arc<Recorder>, options: HostsOptions) -> Arc<Self> {
        Arc::new(Self { recorder, options, resolver: Resolver::Machine, table: Mutex::default() })
    }

    /// The same, with the addresses of names that a test says.
    #[cfg(test)]
    pub(crate) fn with_table(
        recorder: Arc<Recorder>,
        options: HostsOptions,
        table: Arc<Mutex<HashMap<String, Vec<std::net::IpAddr>>>>,
    ) -> Arc<Self> {
        Arc::new(Self { recorder, options, resolver: Resolver::Table(table), table: Mutex::default() })
    }

    /// How each of them stands, in order of name.
    pub fn states(&self) -> Vec<HostState> {
        let mut states: Vec<_> = self.table().values().map(|host| host.state()).collect();
        states.sort_by(|one, other| one.host.cmp(&other.host));
        states
    }

    pub(crate) fn patience(&self) -> Patience {
        self.options.patience
    }

    pub(crate) fn networks(&self) -> Networks {
        self.options.networks
    }

    pub(crate) fn resolver(&self) -> &Resolver {
        &self.resolver
    }

    pub(crate) fn of(&self, origin: &Origin) -> Arc<Host> {
        let mut table = self.table();
        if let Some(host) = table.get(origin) {
            return host.clone();
        }
        // A redirect may lead to hosts that only fail. If what is known of those were kept for good, they would take all room.
        for plain_alone in [true, false] {
            if table.len() < HOSTS_MAX {
                break;
            }
            table.retain(|_, host| {
                let stays = Arc::strong_count(host) > 1 || plain_alone && !host.is_plain();
                if !stays {
                    host.unregister(&self.recorder);
                }
                stays
            });
        }
        let host =
            Arc::new(Host::new(origin.to_string(), (self.recorder.clock().clone(), self.recorder.log()), self.options));
        // One more than are remembered is called all the same, and forgotten.
        if table.len() < HOSTS_MAX {
            host.register(&self.recorder);
            table.insert(origin.clone(), host.clone());
        }
        host
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Origin, Arc<Host>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
