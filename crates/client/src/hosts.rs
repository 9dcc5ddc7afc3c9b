//! All hosts of upstreams.

use crate::host::{Host, HostState};
use crate::host_options::{Apart, HostsOptions};
use crate::resolve::Resolver;
use crate::ssrf::Networks;
use crate::target::Origin;
use crate::timeouts::Timeouts;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::{Millis, Recorder, lock};

/// The hosts that are called, for all upstreams together.
#[derive(Debug)]
pub struct Hosts {
    recorder: Arc<Recorder>,
    options: HostsOptions,
    resolver: Resolver,
    /// The nodes among which the calls to a host are divided.
    nodes: AtomicU64,
    table: Mutex<HashMap<HostKey, Arc<Host>>>,
}

/// A server, and what sets it apart.
type HostKey = (Origin, Option<Apart>);

/// The most hosts that are remembered. Redirects may lead to any number of them.
const HOSTS_MAX: usize = 512;

impl Hosts {
    /// No host yet.
    pub fn new(recorder: Arc<Recorder>, options: HostsOptions) -> Arc<Self> {
        Arc::new(Self {
            recorder,
            options,
            resolver: Resolver::Machine,
            nodes: AtomicU64::new(1),
            table: Mutex::default(),
        })
    }

    /// The same, with the addresses that a test sets.
    #[cfg(test)]
    pub(crate) fn with_table(
        recorder: Arc<Recorder>,
        options: HostsOptions,
        table: Arc<Mutex<HashMap<String, Vec<std::net::IpAddr>>>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            recorder,
            options,
            resolver: Resolver::Table(table),
            nodes: AtomicU64::new(1),
            table: Mutex::default(),
        })
    }

    /// Divides the calls to each host at a time by the number of nodes that call it. Call it again from time to time: calls under way go on.
    pub fn share(&self, nodes: u64) {
        self.nodes.store(nodes, Relaxed);
        lock(&self.table).values().for_each(|host| host.share(nodes));
    }

    /// The states of all hosts, by name.
    pub fn states(&self) -> Vec<HostState> {
        let mut states: Vec<_> = lock(&self.table).values().map(|host| host.state()).collect();
        states.sort_by(|one, other| one.host.cmp(&other.host));
        states
    }

    pub(crate) fn timeouts(&self) -> Timeouts {
        self.options.timeouts
    }

    pub(crate) fn wait_for_retry(&self) -> Duration {
        self.options.wait_for_retry
    }

    pub(crate) fn now(&self) -> Millis {
        self.recorder.clock().now()
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    pub(crate) fn networks(&self) -> Networks {
        self.options.networks
    }

    pub(crate) fn resolver(&self) -> &Resolver {
        &self.resolver
    }

    pub(crate) fn of(&self, origin: &Origin, apart: Option<Apart>) -> Arc<Host> {
        let key = (origin.clone(), apart);
        let mut table = lock(&self.table);
        if let Some(host) = table.get(&key) {
            return host.clone();
        }
        // Redirects may lead to any number of failing hosts. Remembering all of them would take up the table.
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
        let calls = apart.map_or(self.options.calls, |apart| apart.calls.max(1));
        let options = HostsOptions { calls, ..self.options };
        let name = host_name(origin, apart);
        let host = Arc::new(Host::new(name, self.recorder.clock().clone(), self.recorder.log(), options));
        host.share(self.nodes.load(Relaxed));
        // A host beyond the limit can be called, and its state is then forgotten.
        if table.len() < HOSTS_MAX {
            host.register(&self.recorder);
            table.insert(key, host.clone());
        }
        host
    }
}

/// The name of a host in states, events and metrics.
pub(crate) fn host_name(origin: &Origin, apart: Option<Apart>) -> String {
    apart.map_or_else(|| origin.to_string(), |apart| format!("{origin} ({})", apart.name))
}
