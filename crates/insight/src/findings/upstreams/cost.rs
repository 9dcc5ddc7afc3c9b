//! What checks of upstreams and pools share: what requests lost to a host, and the floor below which nothing is told.

use crate::findings::check::Lost;
use crate::signals::hosts::HostSeen;
use crate::signals::seen::Seen;
use telemetry::Op;

/// The smallest part of the time of all requests that is told.
const SHARE: f64 = 0.01;
/// The fewest seconds in five minutes that are told.
const FLOOR_S: f64 = 5.0;

/// The part of the time of all requests that was lost, if it is worth telling.
pub(super) fn share(seen: &Seen, lost: &Lost) -> Option<f64> {
    let share = part(seen, lost.recent_s);
    (share >= SHARE && lost.recent_s >= FLOOR_S).then_some(share)
}

/// The part that these seconds are of the time of all requests.
pub(super) fn part(seen: &Seen, seconds: f64) -> f64 {
    (seconds * 1e9 / seen.recent.requests.all.nanos.max(1) as f64).min(1.0)
}

/// The seconds that requests waited for these operations of the calls to a host, by the repository that was asked: that of the upstream, or a
/// group with it. A request that joined a download late waited less for it, and all never longer than for all downloads.
pub(super) fn of_host(seen: &Seen, host: &HostSeen, ops: &[Op]) -> Lost {
    let mut lost = Vec::new();
    for (name, waited) in host.waited(ops) {
        let askers = askers(seen, name);
        let all: f64 = askers.iter().map(|(_, seconds)| seconds).sum();
        if all == 0.0 {
            lost.push((name, waited));
        }
        let waited = waited.min(all);
        lost.extend(askers.into_iter().map(|(asker, seconds)| (asker, waited * seconds / all.max(f64::MIN_POSITIVE))));
    }
    Lost::of(lost)
}

/// The repositories through which a remote one was asked, with the seconds that their requests waited for upstreams.
fn askers<'a>(seen: &'a Seen, name: &str) -> Vec<(&'a str, f64)> {
    let waits = [Op::FlightWait, Op::UpstreamWait, Op::UpstreamPause, Op::UpstreamFirstByte, Op::UpstreamBody];
    let seconds = |asked: &str| {
        let of = seen.recent.repositories.of(asked);
        of.map_or(0.0, |of| waits.iter().map(|op| of.nanos(*op)).sum::<u64>() as f64 / 1e9)
    };
    let repositories = seen.facts.repositories.iter();
    let own = repositories.filter(|one| one.name == name || one.leaves.iter().any(|leaf| leaf == name));
    own.map(|one| (&*one.name, seconds(&one.name))).filter(|(_, seconds)| *seconds > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::super::staged;
    use super::*;

    #[test]
    fn what_a_host_costs_is_lost_where_it_is_asked_and_never_more_than_the_waits_there() {
        let mut seen = staged::server(100);
        let host = staged::host(&mut seen);
        host.wait("central", Op::UpstreamWait, 60_000_000_000);
        let host = host.clone();
        let lost = of_host(&seen, &host, &[Op::UpstreamWait]);
        assert_eq!((lost.recent_s, lost.by_repository.len()), (60.0, 1), "nothing is known about requests");
        staged::waited(&mut seen, "central", 10);
        staged::waited(&mut seen, "company", 30);
        let lost = of_host(&seen, &host, &[Op::UpstreamWait]);
        assert_eq!((lost.recent_s, lost.by_repository["company"]), (40.0, 30.0));
        assert_eq!(share(&seen, &lost), Some(0.4));
        assert_eq!(share(&seen, &Lost::recent(4.9)), None);
    }
}
