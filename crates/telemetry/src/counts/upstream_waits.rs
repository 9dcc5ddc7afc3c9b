//! How long requests waited for each host of upstreams, compared with the time that all requests took.

use crate::histogram::recent::Recent;
use crate::prometheus::metrics_view::OTHER;
use crate::recorder::glance::Glance;
use crate::{Op, Tally, Tick};
use std::collections::HashMap;

/// The most hosts that are counted one by one. The others count together.
const HOSTS_MAX: usize = 50;

/// Sums of nanoseconds of the last quarter of an hour, by the minute in which a request ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct UpstreamWaits {
    /// The durations of all requests.
    requests: Recent<u64>,
    /// The waits by host.
    hosts: HashMap<Box<str>, Recent<u64>>,
}

impl UpstreamWaits {
    /// Counts a request.
    pub(crate) fn add(&mut self, event: &Glance<'_>) {
        let (began, duration) = (event.figures.began, event.figures.duration);
        let ended = Tick(began.0.saturating_add(duration));
        if let Some(sum) = self.requests.at(ended) {
            *sum += duration;
        }
        if let Some(used) = event.more.and_then(|more| more.upstream.as_ref()) {
            self.wait(&used.host, waited(event.ops, duration), ended);
        }
        for member in event.members {
            if let Some(used) = &member.upstream {
                self.wait(&used.host, waited(&member.ops, duration), ended);
            }
        }
    }

    fn wait(&mut self, host: &str, nanos: u64, ended: Tick) {
        if nanos == 0 || host.is_empty() {
            return;
        }
        let known = self.hosts.contains_key(host);
        let host = if known || self.hosts.len() < HOSTS_MAX { host } else { OTHER };
        let sums = match self.hosts.get_mut(host) {
            Some(sums) => sums,
            None => self.hosts.entry(host.into()).or_default(),
        };
        if let Some(sum) = sums.at(ended) {
            *sum += nanos;
        }
    }

    /// The part of the time of all requests that they waited for a host, in the quarter of an hour that ends at `now`. `None`: no request
    /// ended in it.
    pub(crate) fn share(&self, host: &str, now: Tick) -> Option<f64> {
        let all: u64 = self.requests.until(now).sum();
        let waited: u64 = self.hosts.get(host).map_or(0, |sums| sums.until(now).sum());
        (all > 0).then(|| waited as f64 / all as f64)
    }

    /// Adds those of another table.
    pub(crate) fn merge(&mut self, other: &Self) {
        let add = |mine: &mut u64, theirs: &u64| *mine += *theirs;
        self.requests.merge(&other.requests, add);
        for (host, theirs) in &other.hosts {
            self.hosts.entry(host.clone()).or_default().merge(theirs, add);
        }
    }
}

/// The time among these ops that is a wait for an upstream: for a download, for a call, or for the rest of a file that still arrives. No
/// request waits longer than it takes.
fn waited(ops: &[(Op, Tally)], duration: u64) -> u64 {
    let waits = |op: Op| matches!(op, Op::FlightWait | Op::BodyWait) || Op::OF_CALLS.contains(&op);
    ops.iter().filter(|(op, _)| waits(*op)).map(|(_, tally)| tally.nanos).sum::<u64>().min(duration)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Figures, MemberRecord, MemberSaid, Millis, UpstreamUse};

    fn request(waits: u64, duration: u64, host: &str) -> Event {
        let mut event = *Event::request(Millis(1), Tick(0));
        event.duration = duration;
        event.add(Op::FlightWait, waits);
        event.upstream_mut().host = host.into();
        event
    }

    fn count(waits: &mut UpstreamWaits, event: &Event) {
        waits.add(&Glance::of(event, &Figures::of(event)));
    }

    #[test]
    fn the_share_of_a_host_is_what_requests_waited_for_it_of_all_their_time() {
        let mut waits = UpstreamWaits::default();
        assert_eq!(waits.share("a:443", Tick(0)), None);
        count(&mut waits, &request(80, 100, "a:443"));
        count(&mut waits, &request(0, 60, ""));
        let mut group = *Event::request(Millis(1), Tick(0));
        group.duration = 40;
        group.add(Op::MembersAsk, 40);
        for (name, host, nanos) in [("x", "a:443", 10), ("y", "b:80", 40)] {
            let used = UpstreamUse { host: host.into(), ..UpstreamUse::default() };
            let ops = vec![(Op::FlightWait, Tally { count: 1, vain: 0, nanos })];
            group.absorb(MemberRecord {
                ops,
                upstream: Some(Box::new(used)),
                ..MemberRecord::new(name, MemberSaid::Hit, None)
            });
        }
        count(&mut waits, &group);
        let share = |host| (waits.share(host, Tick(0)).unwrap() * 1000.0).round();
        assert_eq!((share("a:443"), share("b:80"), share("c:80")), (450.0, 200.0, 0.0));
        assert_eq!(waits.share("a:443", Tick(16 * 60_000_000_000)), None, "that was long ago");
    }

    #[test]
    fn hosts_beyond_the_limit_count_together_and_tables_add_up() {
        let (mut one, mut other) = (UpstreamWaits::default(), UpstreamWaits::default());
        (0..HOSTS_MAX + 10).for_each(|n| count(&mut one, &request(1, 1, &format!("h{n}:1"))));
        count(&mut other, &request(5, 10, "h0:1"));
        one.merge(&other);
        let share = |host| (one.share(host, Tick(0)).unwrap() * 70.0).round();
        assert_eq!((share("h0:1"), share("h49:1"), share(OTHER)), (6.0, 1.0, 10.0));
        assert_eq!(waited(&[(Op::FlightWait, Tally { count: 1, vain: 0, nanos: 9 })], 7), 7);
    }
}
