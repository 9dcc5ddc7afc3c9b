//! What sizing reads besides the loads: settings, the machine, sizes of caches, widths of groups. It is taken at a look of the findings.

use crate::findings::caches::needed::{CacheSize, cache_sizes};
use crate::findings::caches::room::memory;
use crate::signals::facts::Facts;
use crate::signals::seen::Seen;
use std::sync::Arc;
use telemetry::Class;

/// What sizing reads besides the loads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    pub(super) facts: Arc<Facts>,
    /// Caches with the sizes that their reuse curves of the last hour say are enough.
    pub(super) caches: Vec<CacheSize>,
    /// Groups, each with the most members that it asked for one answer in the last day.
    pub(super) groups: Vec<(Box<str>, u64)>,
    /// The seconds of a request of each cost class, on average over the last hour, and of all requests.
    pub(super) seconds: Vec<(&'static str, f64)>,
    pub(super) seconds_of_all: f64,
    /// The processor time of this process for each request of the last day, in seconds. `None`: there were none.
    pub(super) processor_s: Option<f64>,
    /// The most resident memory of the last day, and the bytes of it that bounds account for now.
    pub(super) resident_bytes: u64,
    pub(super) bounded_bytes: u64,
    /// Memory that nothing uses. `None`: the kernel does not tell.
    pub(super) unused_bytes: Option<u64>,
    /// The processors of the quota of its cgroup, if it has one.
    pub(super) quota: Option<f64>,
}

impl Surroundings {
    pub(crate) fn of(seen: &Seen) -> Self {
        let mean = |nanos: u64, requests: u64| nanos as f64 / 1e9 / requests.max(1) as f64;
        let class = |class: &Class| {
            let of = seen.hour.requests.of(*class);
            (class.as_str(), mean(of.nanos, of.requests))
        };
        let (all, day) = (seen.hour.requests.all, &seen.day);
        let groups = day.members.groups.iter().map(|(name, group)| (Box::from(&**name), group.asked_most));
        let mut groups: Vec<(Box<str>, u64)> = groups.filter(|(_, asked)| *asked > 0).collect();
        groups.sort();
        let machine = seen.machine.as_deref();
        let resident = machine.and_then(|machine| machine.process.resident_bytes).unwrap_or(0);
        let earlier = seen.trends.resident.iter().map(|(_, bytes)| *bytes as u64).max().unwrap_or(0);
        Self {
            facts: seen.facts.clone(),
            caches: cache_sizes(seen),
            groups,
            seconds: Class::ALL.iter().map(class).collect(),
            seconds_of_all: mean(all.nanos, all.requests),
            processor_s: (day.requests.all.requests > 0 && day.machine.own_nanos > 0)
                .then(|| mean(day.machine.own_nanos, day.requests.all.requests)),
            resident_bytes: resident.max(earlier),
            bounded_bytes: seen.trends.bounded.back().map_or(0, |(_, bytes)| *bytes as u64),
            unused_bytes: machine.and_then(memory),
            quota: machine.and_then(|machine| Some(machine.cpu?.limit)),
        }
    }

    /// The value of a setting that is a number.
    pub(super) fn setting(&self, key: &str) -> Option<u64> {
        self.facts.setting(key)?.number
    }
}
