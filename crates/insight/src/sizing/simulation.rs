//! A pool as a simulation of its events: callers come, wait in order of arrival, and leave. It uses no clock and a fixed seed, so that a run
//! gives the same figures each time.

use super::staffing::{Load, WAIT};
use crate::random::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// When callers come, in mean times of a service.
#[derive(Debug, Clone, Copy)]
enum Arrivals {
    /// Independent callers, so many in the time of a service.
    Independent(f64),
    /// Bursts of so many callers, independent of each other; so many callers in the time of a service.
    Bursts(u64, f64),
    /// So many callers, each of which asks again after a pause of this mean after its answer.
    Clients(u64, f64),
}

/// How long services take; the mean is 1.
#[derive(Debug, Clone, Copy)]
enum Services {
    /// All take the same time.
    Fixed,
    Exponential,
    /// Nine of ten are short, and one takes ten times as long.
    Mixed,
}

/// The callers of a run, after those of its beginning.
const CALLERS: usize = 60_000;
const BEGINNING: usize = 6_000;

/// A number of 0 to 1, without 1.
fn part(random: &mut Random) -> f64 {
    random.below(1 << 32) as f64 / (1_u64 << 32) as f64
}

fn exponential(random: &mut Random, mean: f64) -> f64 {
    -mean * (1.0 - part(random)).ln()
}

impl Services {
    fn next(self, random: &mut Random) -> f64 {
        match self {
            Services::Fixed => 1.0,
            Services::Exponential => exponential(random, 1.0),
            Services::Mixed => (if part(random) < 0.9 { 1.0 } else { 10.0 }) * exponential(random, 1.0 / 1.9),
        }
    }

    /// The variance; the mean is 1.
    fn variability(self) -> f64 {
        match self {
            Services::Fixed => 0.0,
            Services::Exponential => 1.0,
            // The second moment is 2 (0.9 + 0.1 * 100) / 1.9^2.
            Services::Mixed => 2.0 * 10.9 / (1.9 * 1.9) - 1.0,
        }
    }
}

/// What a run shows.
#[derive(Debug)]
struct Ran {
    /// 95 % of the waits were no longer, in mean times of a service.
    wait: f64,
    /// The places that were in use on average, and the variance of their number as a part of that.
    mean: f64,
    peakedness: f64,
}

/// A moment, in an order for the heap.
#[derive(Debug, Clone, Copy, PartialEq)]
struct At(f64);

impl Eq for At {}

impl Ord for At {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for At {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Runs a pool of so many places.
fn run(places: usize, arrivals: Arrivals, services: Services) -> Ran {
    let mut random = Random::new(0x5eed);
    let (mut free, mut coming) = (BinaryHeap::new(), BinaryHeap::new());
    (0..places).for_each(|_| free.push(Reverse(At(0.0))));
    let mut now = 0.0;
    if let Arrivals::Clients(clients, pause) = arrivals {
        (0..clients).for_each(|_| coming.push(Reverse(At(exponential(&mut random, pause + 1.0)))));
    }
    let (mut waits, mut used): (Vec<f64>, Vec<(f64, f64)>) = (Vec::new(), Vec::new());
    let mut burst = 0;
    while waits.len() < BEGINNING + CALLERS {
        let at = match arrivals {
            Arrivals::Independent(load) => now + exponential(&mut random, 1.0 / load),
            Arrivals::Bursts(size, load) => {
                burst = (burst + 1) % size;
                if burst == 1 || size == 1 { now + exponential(&mut random, size as f64 / load) } else { now }
            }
            Arrivals::Clients(..) => coming.pop().map_or(now, |Reverse(At(at))| at),
        };
        now = at;
        let begins = free.pop().map_or(now, |Reverse(At(at))| at).max(now);
        let ends = begins + services.next(&mut random);
        free.push(Reverse(At(ends)));
        if let Arrivals::Clients(_, pause) = arrivals {
            coming.push(Reverse(At(ends + exponential(&mut random, pause))));
        }
        waits.push(begins - now);
        used.push((begins, ends));
    }
    let mut waits = waits.split_off(BEGINNING);
    waits.sort_by(f64::total_cmp);
    let (mean, variance) = presence(&used[BEGINNING..]);
    Ran { wait: waits[waits.len() * 95 / 100], mean, peakedness: variance / mean }
}

/// How many places were in use on average, and the variance.
fn presence(used: &[(f64, f64)]) -> (f64, f64) {
    let mut changes: Vec<(f64, f64)> = used.iter().flat_map(|(from, to)| [(*from, 1.0), (*to, -1.0)]).collect();
    changes.sort_by(|one, other| one.0.total_cmp(&other.0));
    // The beginning and the end of the run are without the callers before and after it.
    let (first, last) = (changes[changes.len() / 20].0, changes[changes.len() * 19 / 20].0);
    let (mut number, mut before, mut sum, mut squares) = (0.0, 0.0, 0.0, 0.0);
    for (at, change) in changes {
        let time = at.clamp(first, last) - f64::clamp(before, first, last);
        sum += number * time;
        squares += number * number * time;
        (number, before) = (number + change, at);
    }
    let mean = sum / (last - first);
    (mean, squares / (last - first) - mean * mean)
}

/// The callers and services of the runs.
const CASES: [(Arrivals, Services); 13] = [
    (Arrivals::Independent(0.8), Services::Fixed),
    (Arrivals::Independent(2.0), Services::Exponential),
    (Arrivals::Independent(9.0), Services::Fixed),
    (Arrivals::Independent(9.0), Services::Exponential),
    (Arrivals::Independent(9.0), Services::Mixed),
    (Arrivals::Independent(60.0), Services::Exponential),
    (Arrivals::Independent(300.0), Services::Mixed),
    (Arrivals::Bursts(3, 6.0), Services::Exponential),
    (Arrivals::Bursts(8, 20.0), Services::Fixed),
    (Arrivals::Bursts(16, 100.0), Services::Exponential),
    (Arrivals::Clients(12, 0.01), Services::Fixed),
    (Arrivals::Clients(40, 1.0), Services::Exponential),
    (Arrivals::Clients(200, 0.5), Services::Mixed),
];

#[test]
fn at_the_number_of_places_one_wait_in_twenty_is_long_and_at_six_tenths_of_it_more_are() {
    for (arrivals, services) in CASES {
        let free = run(2000, arrivals, services);
        let load = Load { mean: free.mean, peakedness: free.peakedness, service: services.variability() };
        let places = load.places();
        let [at, below] = [places, places * 6 / 10].map(|places| run(places.max(1) as usize, arrivals, services));
        assert!(at.wait <= WAIT, "{arrivals:?} {services:?}: {places} places, {at:?}");
        assert!(below.wait > WAIT, "{arrivals:?} {services:?}: {places} places, {below:?}");
    }
}
