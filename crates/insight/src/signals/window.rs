//! The figures of a stretch of time. Figures of adjacent stretches add up.

use super::bounds::BoundsSeen;
use super::caches::CachesSeen;
use super::clients::ClientsSeen;
use super::database::DatabaseSeen;
use super::hosts::HostsSeen;
use super::jobs::JobsSeen;
use super::machine::MachineSeen;
use super::members::MembersSeen;
use super::normal::NormalSeen;
use super::ops::OpsSeen;
use super::outside::OutsideSeen;
use super::pools::PoolsSeen;
use super::reasons::ReasonsSeen;
use super::repositories::RepositoriesSeen;
use super::requests::RequestsSeen;
use super::serial::SerialsSeen;
use super::telemetry::TelemetrySeen;
use std::time::Duration;
use telemetry::{Because, Glance, Kind, SamplingDecision};

/// The figures of a stretch of time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Window {
    /// Its length.
    pub(crate) length: Duration,
    /// Requests, in sum and by cost class.
    pub(crate) requests: RequestsSeen,
    /// The operations of requests.
    pub(crate) ops: OpsSeen,
    /// Requests by repository.
    pub(crate) repositories: RepositoriesSeen,
    /// Calls by host of upstreams.
    pub(crate) hosts: HostsSeen,
    /// Requests that waited for many downloads one after another.
    pub(crate) serials: SerialsSeen,
    /// Members of groups.
    pub(crate) members: MembersSeen,
    /// Requests without an answer, by reason.
    pub(crate) reasons: ReasonsSeen,
    /// Requests by client.
    pub(crate) clients: ClientsSeen,
    /// Time before requests reached the server.
    pub(crate) outside: OutsideSeen,
    /// Background jobs.
    pub(crate) jobs: JobsSeen,
    /// Bounds, sampled once a second.
    pub(crate) bounds: BoundsSeen,
    /// Pools of threads, sampled once a second.
    pub(crate) pools: PoolsSeen,
    /// Caches, and their reuse curves.
    pub(crate) caches: CachesSeen,
    /// The reader threads of the truth database.
    pub(crate) database: DatabaseSeen,
    /// The machine and the pools of threads.
    pub(crate) machine: MachineSeen,
    /// The server's observation of itself.
    pub(crate) telemetry: TelemetrySeen,
    /// Figures for baselines, which are taken out before windows are summed up.
    pub(crate) normal: NormalSeen,
}

impl Window {
    /// Counts a finished event. `path`: the hash of its path. The event that shows a fault best is stored.
    pub(crate) fn see(&mut self, event: &Glance<'_>, path: u64) -> SamplingDecision {
        self.normal.see(event);
        let mut shows = self.requests.see(event);
        self.repositories.see(event);
        shows |= self.clients.see(event, path);
        if event.more.is_some() {
            shows |= self.outside.see(event);
        }
        if !event.is_hit() {
            shows |= self.hosts.see(event);
            shows |= self.serials.see(event);
            shows |= self.members.see(event);
            self.jobs.see(event);
            shows |= self.reasons.see(event);
            if event.figures.kind == Kind::Request {
                let ops = event.ops.iter().chain(event.members.iter().flat_map(|member| &member.ops));
                for (op, tally) in ops {
                    shows |= self.ops.see(*op, *tally, event.figures.id);
                }
            }
        }
        if shows { SamplingDecision::store(1, Because::Evidence) } else { SamplingDecision::DROP }
    }

    /// Adds the figures of another stretch.
    pub(crate) fn add(&mut self, other: &Self) {
        self.length += other.length;
        self.requests.add(&other.requests);
        self.ops.add(&other.ops);
        self.repositories.add(&other.repositories);
        self.hosts.add(&other.hosts);
        self.serials.add(&other.serials);
        self.members.add(&other.members);
        self.reasons.add(&other.reasons);
        self.clients.add(&other.clients);
        self.outside.add(&other.outside);
        self.jobs.add(&other.jobs);
        self.bounds.add(&other.bounds);
        self.pools.add(&other.pools);
        self.caches.add(&other.caches);
        self.database.add(&other.database);
        self.machine.add(&other.machine);
        self.telemetry.add(&other.telemetry);
    }

    /// Its length in seconds, at least one.
    pub(crate) fn seconds(&self) -> f64 {
        self.length.as_secs_f64().max(1.0)
    }
}
