//! Divides the time of requests into the places where it was spent, and names the one that took most.

use super::inside::Inside;
use super::{Probe, ms};
use std::collections::BTreeMap;

/// The kernel repeats a lost attempt to connect after one second (RFC 6298 2.1).
const REPEATED_MS: f64 = 900.0;

/// A place where time is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Place {
    Name,
    Connect,
    Tls,
    Accept,
    Road,
    Outside,
    Inside,
    Body,
    /// Outside or inside: the server did not tell.
    Unknown,
}

impl Place {
    /// Its key in JSON.
    pub(super) fn key(self) -> &'static str {
        match self {
            Place::Name => "name",
            Place::Connect => "connect",
            Place::Tls => "tls",
            Place::Accept => "accept",
            Place::Road => "road",
            Place::Outside => "outside",
            Place::Inside => "inside",
            Place::Body => "body",
            Place::Unknown => "unknown",
        }
    }

    /// Its meaning.
    pub(super) fn doc(self) -> &'static str {
        match self {
            Place::Name => "resolving the name of the host, for a new connection",
            Place::Connect => {
                "connecting, beyond one round trip, for a new connection: lost attempts, which are repeated after 1 s"
            }
            Place::Tls => {
                "the TLS handshake, beyond one round trip, for a new connection; it includes the wait to be accepted"
            }
            Place::Accept => "how much longer the first request of a new connection waits: to be accepted",
            Place::Road => "one round trip to the host of the URL: the fastest connection",
            Place::Outside => {
                "between the round trip and the server: something in front of it holds the request, or a machine lacks processors"
            }
            Place::Inside => "in the server, until the first byte of the answer",
            Place::Body => "the body of the answer, beyond the time in which the server sent it",
            Place::Unknown => {
                "until the first byte of the answer, beyond one round trip; the server did not tell its part"
            }
        }
    }
}

/// Where the time of requests was spent, in milliseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Parts {
    /// The median of each place; of connecting the mean, because few attempts are lost.
    pub(super) places: BTreeMap<Place, f64>,
    /// Requests whose attempt to connect was repeated.
    pub(super) repeated: usize,
    /// The operations in the server, the longest first, each with its mean.
    pub(super) ops: Vec<(String, f64)>,
}

impl Parts {
    /// Divides the time of these requests. `insides` has the same places.
    pub(super) fn of(probes: &[Probe], insides: &[Option<Inside>]) -> Self {
        let mut parts = Self::default();
        let fresh: Vec<&Probe> = probes.iter().filter(|probe| !probe.times.reused).collect();
        let connects: Vec<f64> = fresh.iter().map(|probe| ms(probe.times.connect)).collect();
        let road = connects.iter().copied().reduce(f64::min).unwrap_or(0.0);
        parts.repeated = connects.iter().filter(|connect| **connect >= road + REPEATED_MS).count();
        parts.add(Place::Road, Some(road));
        parts.add(Place::Name, median(fresh.iter().map(|probe| ms(probe.times.resolve))));
        parts.add(Place::Connect, mean(connects.iter().map(|connect| connect - road)));
        let tls = fresh.iter().filter(|probe| probe.times.tls > 0);
        parts.add(Place::Tls, median(tls.map(|probe| (ms(probe.times.tls) - road).max(0.0))));

        let told: Vec<(&Probe, &Inside)> =
            probes.iter().zip(insides).filter_map(|(probe, inside)| Some((probe, inside.as_ref()?))).collect();
        let beyond = |probe: &Probe, inside: f64| (ms(probe.times.head) - road - inside).max(0.0);
        let outside = |reused: bool| {
            let of = told.iter().filter(move |(probe, _)| probe.times.reused == reused);
            median(of.map(|(probe, inside)| beyond(probe, inside.first_byte_ms)))
        };
        let (kept, new) = (outside(true), outside(false));
        parts.add(Place::Outside, kept.or(new));
        parts.add(Place::Accept, kept.zip(new).map(|(kept, new)| (new - kept).max(0.0)));
        parts.add(Place::Inside, median(told.iter().map(|(_, inside)| inside.first_byte_ms)));
        if told.is_empty() {
            parts.add(Place::Unknown, median(probes.iter().map(|probe| beyond(probe, 0.0))));
        }
        let body = |(probe, inside): (&Probe, &Option<Inside>)| {
            let sent = inside.as_ref().and_then(|inside| inside.body_ms).unwrap_or(0.0);
            (ms(probe.times.body) - sent).max(0.0)
        };
        parts.add(Place::Body, median(probes.iter().zip(insides).map(body)));
        parts.ops = ops(told.iter().map(|(_, inside)| *inside), told.len());
        parts
    }

    fn add(&mut self, place: Place, ms: Option<f64>) {
        self.places.extend(ms.map(|ms| (place, ms)));
    }

    /// The time that was spent at a place.
    pub(super) fn at(&self, place: Place) -> f64 {
        self.places.get(&place).copied().unwrap_or(0.0)
    }

    /// The place where most time was spent.
    pub(super) fn verdict(&self) -> (Place, f64) {
        let most = self.places.iter().max_by(|(_, one), (_, other)| one.total_cmp(other));
        most.map_or((Place::Unknown, 0.0), |(place, ms)| (*place, *ms))
    }
}

/// The operations of requests by their means.
fn ops<'a>(insides: impl Iterator<Item = &'a Inside>, count: usize) -> Vec<(String, f64)> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, ms) in insides.flat_map(|inside| &inside.ops) {
        *sums.entry(name).or_default() += ms;
    }
    let mut ops: Vec<(String, f64)> =
        sums.into_iter().map(|(name, sum)| (name.to_owned(), sum / count as f64)).collect();
    ops.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    ops
}

/// The median; `None` of nothing.
pub(super) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        _ if values.is_empty() => None,
        0 => Some((values[middle - 1] + values[middle]) / 2.0),
        _ => Some(values[middle]),
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use client::CallTimes;

    /// A request: how long connecting and the head took, in milliseconds. Without connecting its connection was open.
    fn probe(connect: u64, head: u64) -> Probe {
        let nanos = |ms: u64| ms * 1_000_000;
        let times =
            CallTimes { reused: connect == 0, connect: nanos(connect), head: nanos(head), ..CallTimes::default() };
        Probe { times, status: 200, event: String::new(), told_ms: None }
    }

    fn inside(ms: f64) -> Option<Inside> {
        Some(Inside { first_byte_ms: ms, ..Inside::default() })
    }

    fn verdict(probes: &[Probe], inside_ms: f64) -> (Place, f64) {
        Parts::of(probes, &vec![inside(inside_ms); probes.len()]).verdict()
    }

    #[test]
    fn time_goes_to_the_place_where_it_was_spent() {
        // A proxy holds each request.
        assert_eq!(verdict(&[probe(2, 412), probe(0, 412)], 10.0), (Place::Outside, 400.0));
        // The server is slow.
        assert_eq!(verdict(&[probe(2, 412), probe(0, 412)], 400.0), (Place::Inside, 400.0));
        // The server is far away.
        assert_eq!(verdict(&[probe(80, 90), probe(0, 90)], 5.0), (Place::Road, 80.0));
        // New connections wait until they are accepted.
        assert_eq!(verdict(&[probe(2, 212), probe(0, 12)], 10.0), (Place::Accept, 200.0));
        // One of four attempts to connect was lost.
        let lost = [probe(1001, 2), probe(1, 2), probe(1, 2), probe(1, 2)];
        assert_eq!(verdict(&lost, 1.0), (Place::Connect, 250.0));
        assert_eq!(Parts::of(&lost, &[inside(1.0), None, None, None]).repeated, 1);
    }

    #[test]
    fn without_the_time_inside_nothing_is_told_apart() {
        let probes = [probe(2, 102), probe(0, 102)];
        assert_eq!(Parts::of(&probes, &[None, None]).verdict(), (Place::Unknown, 100.0));
        assert_eq!(Parts::of(&[], &[]).verdict(), (Place::Road, 0.0));
    }

    #[test]
    fn a_handshake_and_a_body_have_places_of_their_own() {
        let mut slow = probe(2, 5);
        slow.times.tls = 102_000_000;
        assert_eq!(verdict(&[slow], 1.0), (Place::Tls, 100.0));
        let mut long = probe(2, 5);
        long.times.body = 900_000_000;
        assert_eq!(verdict(&[long], 1.0), (Place::Body, 900.0));
    }

    #[test]
    fn the_median_lies_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), Some(2.0));
        assert_eq!((median([1.0, 2.0].into_iter()), median([].into_iter())), (Some(1.5), None));
    }
}
