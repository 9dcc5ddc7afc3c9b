//! The figures of a stretch of time. Figures of adjacent stretches add up.

use super::bounds::BoundsSeen;
use super::clients::ClientsSeen;
use super::hosts::HostsSeen;
use super::jobs::JobsSeen;
use super::machine::MachineSeen;
use super::members::MembersSeen;
use super::ops::OpsSeen;
use super::repositories::RepositoriesSeen;
use super::requests::RequestsSeen;
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
    /// Members of groups.
    pub(crate) members: MembersSeen,
    /// Requests by client.
    pub(crate) clients: ClientsSeen,
    /// Background jobs.
    pub(crate) jobs: JobsSeen,
    /// Bounds, sampled once a second.
    pub(crate) bounds: BoundsSeen,
    /// The machine and the pools of threads.
    pub(crate) machine: MachineSeen,
}

impl Window {
    /// Counts a finished event. The event that shows a fault best is stored.
    pub(crate) fn see(&mut self, event: &Glance<'_>) -> SamplingDecision {
        self.requests.see(event);
        self.repositories.see(event);
        self.clients.see(event);
        let mut shows = false;
        if !event.is_hit() {
            self.hosts.see(event);
            self.members.see(event);
            self.jobs.see(event);
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
        self.members.add(&other.members);
        self.clients.add(&other.clients);
        self.jobs.add(&other.jobs);
        self.bounds.add(&other.bounds);
        self.machine.add(&other.machine);
    }

    /// Its length in seconds, at least one.
    pub(crate) fn seconds(&self) -> f64 {
        self.length.as_secs_f64().max(1.0)
    }
}
