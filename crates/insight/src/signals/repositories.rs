//! Figures of requests by repository.

use super::requests::RequestCounts;
use super::worst::Worst;
use crate::hash::FastMap;
use telemetry::{Glance, Kind, Op};

/// The most repositories with figures of their own. Requests of further ones are in the sum of all requests only.
const REPOSITORIES_MAX: usize = 4096;

/// The figures of one repository.
#[derive(Debug, Clone, Default)]
pub(crate) struct RepositorySeen {
    /// Its requests.
    pub(crate) requests: RequestCounts,
    /// The time of its requests in each operation, members of groups included, in nanoseconds.
    pub(crate) ops: Vec<(Op, u64)>,
    /// Its slowest request.
    pub(crate) worst: Worst,
}

impl RepositorySeen {
    /// The time of its requests in an operation, in nanoseconds.
    pub(crate) fn nanos(&self, op: Op) -> u64 {
        self.ops.iter().find(|(ran, _)| *ran == op).map_or(0, |(_, nanos)| *nanos)
    }

    /// Adds time in an operation.
    pub(crate) fn spend(&mut self, op: Op, nanos: u64) {
        match self.ops.iter_mut().find(|(ran, _)| *ran == op) {
            Some((_, mine)) => *mine += nanos,
            None => self.ops.push((op, nanos)),
        }
    }

    fn add(&mut self, other: &Self) {
        self.requests.add(&other.requests);
        other.ops.iter().for_each(|(op, nanos)| self.spend(*op, *nanos));
        self.worst.add(&other.worst);
    }
}

/// The repositories that had requests, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct RepositoriesSeen(pub(crate) FastMap<Box<str>, RepositorySeen>);

impl RepositoriesSeen {
    /// The figures of a repository. `None`: it had no request.
    pub(crate) fn of(&self, name: &str) -> Option<&RepositorySeen> {
        self.0.get(name)
    }

    /// The seconds that requests spent in an operation, by repository.
    pub(crate) fn seconds(&self, op: Op) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(move |(name, seen)| (&**name, seen.nanos(op) as f64 / 1e9)).filter(|(_, s)| *s > 0.0)
    }

    pub(crate) fn see(&mut self, event: &Glance<'_>) {
        if event.figures.kind != Kind::Request || event.repository.is_empty() {
            return;
        }
        let is_full = self.0.len() >= REPOSITORIES_MAX;
        let seen = match self.0.get_mut(event.repository) {
            Some(seen) => seen,
            None if is_full => return,
            None => self.0.entry(event.repository.into()).or_default(),
        };
        seen.requests.see(event);
        seen.worst.see(event.figures.duration, event.figures.id);
        if event.is_hit() {
            return;
        }
        for (op, tally) in event.ops.iter().chain(event.members.iter().flat_map(|member| &member.ops)) {
            seen.spend(*op, tally.nanos);
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (name, theirs) in &other.0 {
            let is_full = self.0.len() >= REPOSITORIES_MAX;
            match self.0.get_mut(name) {
                Some(mine) => mine.add(theirs),
                None if is_full => {}
                None => drop(self.0.insert(name.clone(), theirs.clone())),
            }
        }
    }
}
