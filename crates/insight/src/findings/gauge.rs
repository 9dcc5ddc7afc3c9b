//! By which figures it is measured what the advice of a finding saves: all waits to which a wait could be moved, and not only the one that the
//! finding names.

use super::tally::Tallies;
use crate::signals::members::GroupSeen;
use crate::signals::window::Window;
use serde::{Deserialize, Serialize};
use telemetry::{BoundName, CacheName, Class, Op, PoolName};

/// What a refused request costs its client at least, in seconds: it asks again after `Retry-After`.
const REFUSED_S: f64 = 1.0;

/// The figures that tell what requests lose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Gauge {
    /// Waits for calls to a host, from the wait for a place to the head of the response: with more calls at once the upstream may be slower.
    Host(String),
    /// Waits for a thread of a pool, and its work. The names of the pool and of its bound.
    Pool(String, String),
    /// Waits for members of a group that had nothing.
    Group(String),
    /// The same of all groups.
    Groups,
    /// The time in which a group asked three members or more.
    Wide(String),
    /// Lookups of a cache for what was asked for before, beyond the time of a hit.
    Cache(String),
    /// Queries of the truth database, whose threads wait for its file.
    Database,
    /// Requests that a bound refused. Its name and what distinguishes it.
    Refused(String, String),
}

impl Gauge {
    /// The gauge of a group.
    pub(crate) fn group(name: &str) -> Self {
        Self::Group(name.to_owned())
    }

    /// The requests of a stretch, and what they lost.
    pub(crate) fn read(&self, window: &Window) -> Tallies {
        match self {
            Self::Host(name) => window.hosts.of(name).map_or_else(Tallies::default, |host| {
                Tallies::one(host.calls as f64, host.waited(&parts_of_calls()).map(|(_, seconds)| seconds).sum())
            }),
            Self::Pool(pool, bound) => pool_waits(window, pool, bound),
            Self::Group(name) => {
                let mut all = Tallies::default();
                window.members.group(name).into_iter().for_each(|group| waits(group, &mut all));
                all.count("missing", missing(window, name), 0.0);
                all
            }
            Self::Groups => {
                let mut all = Tallies::default();
                for (name, group) in &window.members.groups {
                    waits(group, &mut all);
                    all.count("missing", missing(window, name), 0.0);
                }
                all
            }
            Self::Wide(name) => {
                let mut all = Tallies::default();
                for (kind, waited) in window.members.group(name).into_iter().flat_map(|group| group.wide_by_call()) {
                    all.count(kind, waited.requests as f64, waited.nanos as f64 / 1e9);
                }
                all
            }
            Self::Cache(name) => cache(window, name),
            Self::Database => {
                let (database, queries) = (window.database, window.ops.of(Op::TruthRead));
                // Jobs read it, too.
                let of_requests = (queries.nanos as f64 / database.busy_nanos.max(1) as f64).min(1.0);
                Tallies::one(queries.runs as f64, database.blocked_nanos() as f64 / 1e9 * of_requests)
            }
            Self::Refused(name, which) => refused(window, name, which),
        }
    }
}

/// Requests through a group that found a file or a document, and what they waited in vain.
fn waits(group: &GroupSeen, into: &mut Tallies) {
    for (kind, waited) in group.in_vain() {
        into.count(kind, waited.requests as f64, waited.nanos as f64 / 1e9);
    }
}

/// Requests of a repository for what it has not. A rule may answer them without asking any member, so they are counted apart from these.
fn missing(window: &Window, repository: &str) -> f64 {
    window.repositories.of(repository).map_or(0.0, |of| of.requests.missing as f64)
}

fn pool_waits(window: &Window, pool: &str, bound: &str) -> Tallies {
    let pool = PoolName::ALL.iter().find(|name| name.as_str() == pool).and_then(|name| window.pools.of(*name));
    let Some(bound) = BoundName::ALL.iter().find(|name| name.as_str() == bound) else { return Tallies::default() };
    let (mut requests, mut nanos) = (0, pool.map_or(0, |pool| pool.nanos));
    for (_, bound) in window.bounds.named(*bound) {
        requests += bound.waits.count();
        nanos += bound.waits.sum();
    }
    Tallies::one(requests as f64, nanos as f64 / 1e9)
}

fn cache(window: &Window, name: &str) -> Tallies {
    let name = CacheName::ALL.iter().find(|cache| cache.as_str() == name);
    let Some(curve) = name.and_then(|name| window.caches.curve(*name)) else { return Tallies::default() };
    let missed = curve.missed(0, u64::MAX);
    // An estimate from a sample, which may be below zero in a short time: the sum of many is right only with these.
    let lost = missed.nanos - missed.lookups * curve.answer_nanos();
    Tallies::one(curve.again(), lost / 1e9)
}

fn refused(window: &Window, name: &str, which: &str) -> Tallies {
    let Some(name) = BoundName::ALL.iter().find(|bound| bound.as_str() == name) else { return Tallies::default() };
    let class = Class::ALL.iter().find(|class| *name == BoundName::Requests && class.as_str() == which);
    let requests = class.map_or(window.requests.all, |class| *window.requests.of(*class)).requests;
    let rejected = window.bounds.of(*name, which).map_or(0, |bound| bound.rejected);
    Tallies::one(requests.max(rejected) as f64, rejected as f64 * REFUSED_S)
}

/// The parts of a call for which a change of pools and connections matters. The time of the body depends on the file.
fn parts_of_calls() -> Vec<Op> {
    Op::OF_CALLS.into_iter().filter(|op| *op != Op::UpstreamBody).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals::bounds::BoundSeen;
    use crate::signals::hosts::HostSeen;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_wait_that_moved_from_the_pool_to_the_upstream_is_a_wait() {
        let at = |wait, head| {
            let mut window = Window::default();
            let mut host = HostSeen::default();
            host.calls = 10;
            host.wait("central", Op::UpstreamWait, wait);
            host.wait("central", Op::UpstreamFirstByte, head);
            host.wait("central", Op::UpstreamBody, 50 * S);
            window.hosts.0.insert("repo.example.org:443".into(), host);
            Gauge::Host("repo.example.org:443".to_owned()).read(&window)
        };
        assert_eq!(at(20 * S, S), Tallies::one(10.0, 21.0));
        assert_eq!(at(20 * S, S).spared(&at(0, 21 * S)), Some(0.0));
    }

    #[test]
    fn a_refused_request_costs_a_second_among_those_of_its_class() {
        let mut window = Window::default();
        window.requests.of_mut(Class::Uploads).requests = 40;
        let bound = BoundSeen { rejected: 30, ..BoundSeen::default() };
        window.bounds.0.insert((BoundName::Requests, Class::Uploads.as_str().into()), bound);
        let gauge = Gauge::Refused("requests".to_owned(), Class::Uploads.as_str().to_owned());
        assert_eq!(gauge.read(&window), Tallies::one(40.0, 30.0));
    }

    #[test]
    fn what_is_not_there_lost_nothing() {
        let name = || "none".to_owned();
        let all = [
            Gauge::Host(name()),
            Gauge::Pool(name(), name()),
            Gauge::Group(name()),
            Gauge::Groups,
            Gauge::Wide(name()),
            Gauge::Cache(name()),
            Gauge::Database,
            Gauge::Refused(name(), name()),
        ];
        for gauge in all {
            assert_eq!(gauge.read(&Window::default()), Tallies::default(), "{gauge:?}");
        }
    }
}
