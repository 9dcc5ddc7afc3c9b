//! Over 200 generated hours of healthy servers, at most one finding opens.

use super::server::{Server, facts, millis};
use super::traffic::Traffic;
use crate::random::Random;
use std::collections::BTreeMap;
use std::sync::Arc;
use telemetry::{Bound, BoundName, Millis};

/// The length of a step, in seconds: half of the shortest stretch of the windows.
const STEP: u64 = 30;
/// Steps between two looks. A server looks more often, which a debug build would do for a minute.
const LOOK: u64 = 10;
/// Hours of each server.
const HOURS: u64 = 25;

/// A server with its own habits.
struct Healthy {
    server: Server,
    traffic: Traffic,
    random: Random,
    /// Requests in a step at the busiest time of the day.
    rate: u64,
    bounds: Vec<Arc<Bound>>,
    /// Steps until a spike ends.
    spike: u64,
    opened: BTreeMap<String, String>,
}

impl Healthy {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            random.next();
        }
        let (repositories, hosts) = (6 + random.below(18), 1 + random.below(4));
        let mut bounds: Vec<_> =
            [(BoundName::TruthReaders, 4), (BoundName::FileThreads, 8), (BoundName::WorkThreads, 64)]
                .map(|(name, capacity)| Bound::new(name, "", capacity))
                .into();
        bounds.extend((0..hosts).map(|number| Bound::new(BoundName::UpstreamCalls, &number.to_string(), 32)));
        let facts = facts(repositories as usize, hosts as usize);
        let now = Millis(1_793_534_400_000 + random.below(24).cast_signed() * 3_600_000);
        let server = Server::new(now, facts, bounds.iter().cloned());
        let traffic = Traffic {
            random: Random::new(random.next()),
            repositories,
            hosts,
            clients: 3 + random.below(40),
            packages: 50 + random.below(2000),
            // Some hosts are slow, always.
            slowest_ms: [50, 300, 900][random.below(3) as usize],
            hits: 30 + random.below(65),
            misses: 1 + random.below(8),
            gone: None,
        };
        let rate = 2 + random.below(20);
        Self { server, traffic, random, rate, bounds, spike: 0, opened: BTreeMap::new() }
    }

    /// Half a minute passes.
    fn step(&mut self, of_run: u64) {
        let hour = self.server.now.0 / 3_600_000 % 24;
        // A quiet night and a busy day.
        let share = if (7..19).contains(&hour) { 70 + self.random.below(30) } else { 2 + self.random.below(10) };
        if self.spike == 0 && self.random.below(600) == 0 {
            self.spike = 2 + self.random.below(6);
        }
        let times = if self.spike > 0 { 10 } else { 1 };
        self.spike = self.spike.saturating_sub(1);
        self.traffic.gone = (self.random.below(500) == 0).then(|| self.random.below(self.traffic.hosts));
        let usual = self.traffic.misses;
        // After a start nothing is in memory.
        if of_run < 10 {
            self.traffic.misses = usual * 5;
        }
        let requests = self.rate * share * times / 100;
        for _ in 0..self.random.below(2 * requests + 1) {
            self.traffic.request(&mut self.server);
        }
        self.traffic.misses = usual;
        if hour == 3 && self.random.below(30) == 0 {
            self.traffic.job(&mut self.server, "retention", 20 * 60);
            self.traffic.job(&mut self.server, "backup", 600);
        }
        self.traffic.job(&mut self.server, "maintenance", 1);
        let busy = (requests / 20).min(6);
        for tenth in 1..=STEP / 10 {
            for bound in &self.bounds {
                bound.observe(self.random.below(busy + 1).min(bound.capacity()));
                if busy > 3 && self.random.below(20) == 0 {
                    bound.waited(self.random.below(millis(2)));
                }
            }
            self.server.sample(10, tenth == STEP / 10);
        }
        let (run, starved) = (millis(2 + requests), self.random.below(millis(1 + requests / 8)));
        self.server.machine(|sampled| {
            let machine = &mut sampled.machine;
            (machine.nanos, machine.run_nanos, machine.starved_nanos) = (STEP * 1_000_000_000, run, starved);
            (machine.own_nanos, machine.descriptors) = (run, (200 + busy, 65_536));
            machine.probes = (3, millis(3), 0);
        });
    }

    fn look(&mut self) {
        self.server.look(true);
        for entry in self.server.states.entries.values().filter(|entry| entry.opened.is_some()) {
            let (id, sentence) = (entry.finding.id.clone(), &entry.finding.sentence);
            self.opened.entry(id).or_insert_with(|| format!("{sentence} ({} s lost)", entry.lost.recent_s));
        }
    }
}

/// The findings that open in so many hours of a server.
fn opened(seed: u64, steps: u64) -> Vec<String> {
    let mut healthy = Healthy::new(seed);
    let mut of_run = 0;
    for step in 0..HOURS * 3600 / STEP {
        healthy.step(of_run);
        of_run += 1;
        if step.is_multiple_of(steps) {
            healthy.look()
        } else {
            healthy.server.sum()
        }
        // A deployment.
        if healthy.random.below(1500) == 0 {
            healthy.server.restart();
            of_run = 0;
        }
    }
    healthy.opened.into_iter().map(|(id, sentence)| format!("seed {seed}: {id}: {sentence}")).collect()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the long tests are asked for by a variable of the environment")]
fn over_two_hundred_healthy_hours_at_most_one_finding_opens() {
    // Further seeds for the long tests: `DAYLIGHT_HEALTHY=100` for 2,500 hours with a look every half minute.
    let more = std::env::var("DAYLIGHT_HEALTHY").map_or(0, |seeds| seeds.parse::<u64>().unwrap());
    let seeds: Vec<(u64, u64)> =
        (1..=8).map(|seed| (seed, LOOK)).chain((0..more).map(|seed| (1000 + seed, 1))).collect();
    let all: Vec<String> = std::thread::scope(|scope| {
        let of =
            |seeds: &[(u64, u64)]| seeds.iter().flat_map(|(seed, steps)| opened(*seed, *steps)).collect::<Vec<_>>();
        let threads: Vec<_> =
            seeds.chunks(seeds.len().div_ceil(4)).map(|seeds| scope.spawn(move || of(seeds))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let most = 1 + more as usize * HOURS as usize / 200;
    assert!(all.len() <= most, "{}", all.join("\n"));
}

#[test]
fn the_generated_hours_reach_the_checks() {
    let mut healthy = Healthy::new(1);
    // A night has too few requests for this.
    (healthy.rate, healthy.traffic.misses) = (100, 50);
    for of_run in 0..3 * 3600 / STEP {
        healthy.step(of_run);
        healthy.server.sum();
    }
    healthy.look();
    let seen = &healthy.server.seen;
    let requests = seen.hour.requests.all.requests;
    assert!(requests > 50 && seen.hour.requests.all.hits < requests, "{requests}");
    assert!(seen.hour.hosts.0.values().any(|host| host.calls > 0));
    assert!(seen.hour.members.all().next().is_some());
    assert!(seen.hour.bounds.of(BoundName::TruthReaders, "").is_some_and(|bound| bound.samples > 100));
    assert!(seen.hour.clients.iter().count() > 1 && seen.recent.machine.run_nanos > 0);
}
