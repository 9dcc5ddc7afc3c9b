//! Counts and times of requests by cost class and outcome, without an allocation for each request.

use telemetry::{Class, Glance, Kind, Outcome};

/// The most times of one class and outcome that are kept. Of more requests every second, fourth ... is kept.
const TIMES_MAX: usize = 64;
/// The classes, and requests without one.
const CLASSES: usize = Class::ALL.len() + 1;

/// What was counted.
#[derive(Debug)]
pub(super) struct Sums {
    /// By class and outcome.
    requests: Vec<Requests>,
    /// By outcome.
    jobs: [u64; Outcome::ALL.len()],
}

/// The requests of one class and outcome.
#[derive(Debug, Clone, Default)]
pub(super) struct Requests {
    /// Their number.
    pub(super) count: u64,
    /// The bytes of their bodies.
    pub(super) received_bytes: u64,
    /// The bytes of the bodies of the responses.
    pub(super) sent_bytes: u64,
    /// Some of their durations, in microseconds.
    pub(super) micros: Vec<u64>,
    /// One of so many durations is kept.
    stride: u64,
}

impl Default for Sums {
    fn default() -> Self {
        Self { requests: vec![Requests::default(); CLASSES * Outcome::ALL.len()], jobs: [0; Outcome::ALL.len()] }
    }
}

impl Sums {
    /// Counts an event.
    pub(super) fn add(&mut self, event: &Glance<'_>) {
        let figures = event.figures;
        let outcome = figures.outcome.unwrap_or(Outcome::Failed) as usize;
        match figures.kind {
            Kind::Job => self.jobs[outcome] += 1,
            Kind::Request => {
                let class = figures.class.map_or(0, |class| class as usize + 1);
                let requests = &mut self.requests[class * Outcome::ALL.len() + outcome];
                requests.received_bytes += figures.bytes_in;
                requests.sent_bytes += figures.bytes_out;
                requests.time(figures.duration / 1000);
            }
            Kind::Probe => {}
        }
    }

    /// The classes and outcomes that had requests. Pages and connections without a request have no class.
    pub(super) fn requests(&self) -> impl Iterator<Item = (&'static str, &'static str, &Requests)> {
        let filled = self.requests.iter().enumerate().filter(|(_, requests)| requests.count > 0);
        filled.map(|(at, requests)| {
            let (class, outcome) = (at / Outcome::ALL.len(), at % Outcome::ALL.len());
            let class = class.checked_sub(1).map_or("none", |class| Class::ALL[class].as_str());
            (class, Outcome::ALL[outcome].as_str(), requests)
        })
    }

    /// The outcomes that jobs had, with their numbers.
    pub(super) fn jobs(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = Outcome::ALL.iter().zip(self.jobs);
        all.filter(|(_, count)| *count > 0).map(|(outcome, count)| (outcome.as_str(), count))
    }
}

impl Requests {
    /// Counts a request. When there is no room for its time, every second kept time goes.
    fn time(&mut self, micros: u64) {
        self.stride = self.stride.max(1);
        if self.count.is_multiple_of(self.stride) {
            if self.micros.len() == TIMES_MAX {
                let mut number = 0;
                self.micros.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.stride *= 2;
            }
            if self.count.is_multiple_of(self.stride) {
                self.micros.push(micros);
            }
        }
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_many_requests_are_an_even_sample_and_their_number_is_exact() {
        for count in [1, 63, 64, 65, 1000, 100_000] {
            let mut requests = Requests::default();
            (0..count).for_each(|micros| requests.time(micros));
            assert_eq!(requests.count, count);
            let kept = requests.micros.len();
            assert!(kept <= TIMES_MAX && (kept as u64 == count || kept >= TIMES_MAX / 2), "{count}: {kept}");
            // Each is as far from the next as all others.
            let gap = requests.micros.get(1).map_or(1, |second| second - requests.micros[0]);
            assert!(requests.micros.windows(2).all(|two| two[1] - two[0] == gap), "{:?}", requests.micros);
        }
    }
}
