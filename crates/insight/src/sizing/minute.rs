//! What was wanted of one pool or limit in a minute, from samples of each second.

use super::staffing::{Load, WAIT, ample, when_full};
use telemetry::Histogram;

/// The fewest samples from which something is told.
pub(crate) const SAMPLES_MIN: u64 = 5;
/// A pool whose places were all taken in fewer of the seconds is not the reason for waits: its callers find no processor.
const FULL: f64 = 0.05;
/// In a pool that is limited by its size, the places are in use for this part of the time in which anything is.
const IN_USE: f64 = 0.95;

/// The figures of one second.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Second {
    /// The places that there are.
    pub(super) capacity: u64,
    /// Callers that are served or wait, when the sample is taken.
    pub(super) present: u64,
    /// Callers that came to be served within the second.
    pub(super) served: u64,
    /// The seconds for which places were in use within the second.
    pub(super) used_s: f64,
    /// The sum of the squares of the times of services, in square seconds; 0: it is not counted.
    pub(super) squares: f64,
    /// Callers that were turned away.
    pub(super) rejected: u64,
}

/// The figures of the minute under way.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenMinute {
    sums: Minute,
    demands: Histogram,
}

impl OpenMinute {
    pub(super) fn see(&mut self, second: &Second) {
        let Second { capacity, present, served, used_s, squares, rejected } = *second;
        let sums = &mut self.sums;
        sums.capacity = capacity;
        sums.samples += 1;
        sums.served += served;
        sums.used_s += used_s;
        sums.squares += squares;
        sums.rejected += rejected;
        sums.present += present as f64;
        sums.present_squares += (present as f64).powi(2);
        sums.served_squares += (served as f64).powi(2);
        sums.peak = sums.peak.max(present);
        if present > 0 || served > 0 || used_s > 0.0 {
            sums.active += 1;
            sums.active_used_s += used_s;
        }
        if present >= capacity && capacity > 0 {
            sums.full += 1;
            self.demands.record(present);
        }
    }

    /// The figures so far. `waits`: the waits of all callers that were served in it, in nanoseconds, if each has one.
    pub(super) fn minute(&self, waits: &Histogram) -> Minute {
        let mut minute = self.sums;
        minute.waits = waits.count();
        minute.wait_p95_s = waits.quantile(0.95) as f64 / 1e9;
        minute.wanted_full = when_full(minute.capacity, &self.demands);
        minute
    }

    pub(super) fn samples(&self) -> u64 {
        self.sums.samples
    }
}

/// What was wanted of one pool or limit in a minute.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Minute {
    /// The places that there were.
    pub(crate) capacity: u64,
    /// Samples, one a second.
    pub(crate) samples: u64,
    /// The samples among them in which all places were taken.
    pub(crate) full: u64,
    /// Callers that were served.
    pub(crate) served: u64,
    /// Callers that were turned away.
    pub(crate) rejected: u64,
    /// The most callers that were served or waited, in any sample.
    pub(crate) peak: u64,
    /// 95 % of the waits were no longer, in seconds.
    pub(crate) wait_p95_s: f64,
    /// The waits; 0: they are not counted.
    pub(crate) waits: u64,
    /// What a pool that is full in the busiest seconds needs.
    wanted_full: u64,
    /// Seconds in which somebody was served or waited, and the seconds for which places were in use in them.
    active: u64,
    active_used_s: f64,
    used_s: f64,
    /// The sum of the squares of the times of services, in square seconds.
    pub(super) squares: f64,
    present: f64,
    present_squares: f64,
    served_squares: f64,
}

/// Why a pool needs the places that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    /// From how much is wanted, and how it varies.
    Load,
    /// Callers waited as much as the size made them, so the figure is what was wanted at once while it was full.
    WhileFull,
}

/// The places that a pool needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) number: u64,
    pub(crate) basis: Basis,
}

impl Minute {
    /// The places in use on average.
    pub(crate) fn mean(&self) -> f64 {
        self.used_s / self.samples.max(1) as f64
    }

    /// Callers that were served or waited, on average. The busiest minute is the one in which they were most.
    pub(super) fn present(&self) -> f64 {
        self.present.max(self.used_s) / self.samples.max(1) as f64
    }

    /// The seconds of a service. `None`: nobody was served, or that is not counted.
    pub(crate) fn service_s(&self) -> Option<f64> {
        (self.served > 0 && self.used_s > 0.0).then(|| self.used_s / self.served as f64)
    }

    /// Callers that were served in a second.
    pub(crate) fn rate(&self) -> f64 {
        self.served as f64 / self.samples.max(1) as f64
    }

    /// The part of the samples in which all places were taken.
    pub(crate) fn full_share(&self) -> f64 {
        self.full as f64 / self.samples.max(1) as f64
    }

    /// Whether one wait in twenty was longer than a tenth of a service. `None`: it is not known.
    pub(crate) fn waits_long(&self) -> Option<bool> {
        let service = self.service_s().filter(|_| self.waits > 0)?;
        Some(self.wait_p95_s > WAIT * service)
    }

    /// Whether callers wait because all places are taken.
    pub(crate) fn is_narrow(&self) -> bool {
        self.full_share() >= FULL && self.waits_long().unwrap_or(true)
    }

    /// The places for so many times this minute. Where all waits are counted and are short, so many as there were are enough for it once.
    pub(crate) fn places(&self, times: f64) -> Places {
        let (load, is_narrow) = (self.load(), self.is_narrow());
        let in_use = self.active_used_s / (self.active * self.capacity).max(1) as f64;
        if is_narrow && in_use >= IN_USE {
            let number = ((self.wanted_full as f64 * times).ceil() as u64).max(load.times(times).places());
            return Places { number, basis: Basis::WhileFull };
        }
        let number = load.times(times).places();
        let number = if is_narrow {
            // The model would have it that nobody waits long.
            number.max((self.capacity as f64 * times).floor() as u64 + 1)
        } else {
            let wanted = (self.peak as f64 * times).ceil() as u64;
            number.min(wanted.max(1)).min(((self.capacity as f64 * times).ceil() as u64).max(1))
        };
        Places { number, basis: Basis::Load }
    }

    /// The places for so many times this minute of a limit that turns callers away. `each_s`: the seconds that a place is taken.
    pub(crate) fn limit(&self, times: f64, each_s: f64) -> u64 {
        // Little's law: the callers that were turned away would have taken so many places more.
        let lost = self.rejected as f64 / self.samples.max(1) as f64 * each_s;
        let wanted = ample((self.present() + lost) * times).max((self.peak as f64 * times).ceil() as u64).max(1);
        if self.rejected > 0 { wanted.max(self.capacity + 1) } else { wanted }
    }

    /// The load, and how it varies.
    fn load(&self) -> Load {
        let samples = self.samples.max(1) as f64;
        let variance = |sum: f64, squares: f64| (squares / samples - (sum / samples).powi(2)).max(0.0);
        let peakedness = |sum: f64, squares: f64| variance(sum, squares) / (sum / samples).max(f64::MIN_POSITIVE);
        // While nobody waits, the places in use show how callers come. Otherwise the queue hides it.
        let peakedness = match self.is_narrow() {
            false if self.present > 0.0 => peakedness(self.present, self.present_squares),
            false => 1.0,
            true => peakedness(self.served as f64, self.served_squares).clamp(1.0, 16.0),
        };
        let service = match (self.service_s(), self.squares > 0.0) {
            (Some(mean), true) => (self.squares / self.served as f64 / (mean * mean) - 1.0).clamp(0.0, 25.0),
            _ => 1.0,
        };
        Load { mean: self.mean(), peakedness, service }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A minute in which these many were present each second, and all waits were so long in services of 0.2 s.
    fn minute(capacity: u64, present: impl Fn(u64) -> u64, wait_s: f64) -> Minute {
        let (mut open, mut waits) = (OpenMinute::default(), Histogram::default());
        for second in 0..60 {
            let present = present(second);
            let used_s = present.min(capacity) as f64;
            let served = (used_s * 5.0) as u64;
            waits.record_many((wait_s * 1e9) as u64, served);
            open.see(&Second { capacity, present, served, used_s, ..Second::default() });
        }
        open.minute(&waits)
    }

    #[test]
    fn a_pool_that_clients_fill_needs_a_place_for_each_of_them() {
        let full = minute(4, |_| 32, 1.4);
        assert_eq!(full.places(1.0), Places { number: 33, basis: Basis::WhileFull });
        assert_eq!((full.places(2.0).number, full.mean(), full.service_s()), (66, 4.0, Some(0.2)));
    }

    #[test]
    fn a_pool_that_nobody_waits_for_needs_what_was_in_use_and_no_more() {
        let even = minute(64, |_| 32, 0.0);
        assert_eq!(even.places(1.0), Places { number: 32, basis: Basis::Load });
        assert!((60..=66).contains(&even.places(2.0).number), "{:?}", even.places(2.0));
        let uneven = minute(64, |second| [2, 9, 14, 6, 8, 12][second as usize % 6], 0.0);
        assert!((12..=15).contains(&uneven.places(1.0).number), "{:?}", uneven.places(1.0));
        let idle = minute(64, |_| 0, 0.0);
        assert_eq!((idle.places(1.0).number, idle.places(2.0).number, idle.waits_long()), (1, 1, None));
    }

    #[test]
    fn waits_outweigh_the_model_where_all_places_are_taken_now_and_then() {
        // It would have six places be enough for two callers.
        let bursts = |second: u64| if second.is_multiple_of(10) { 6 } else { 2 };
        let waited = minute(6, bursts, 0.1);
        assert!(waited.is_narrow() && waited.places(1.0).number >= 7, "{:?}", waited.places(1.0));
        let elsewhere = minute(9, bursts, 0.1);
        assert_eq!(
            (elsewhere.waits_long(), elsewhere.is_narrow()),
            (Some(true), false),
            "its callers wait for a processor"
        );
        assert!(elsewhere.places(1.0).number <= 6, "{:?}", elsewhere.places(1.0));
    }

    #[test]
    fn a_limit_leaves_room_above_the_most_at_once() {
        let mut open = OpenMinute::default();
        for second in 0..60 {
            let present = if second == 7 { 40 } else { 9 };
            open.see(&Second { capacity: 50, present, ..Second::default() });
        }
        let limit = open.minute(&Histogram::default());
        assert_eq!((limit.limit(1.0, 0.5), limit.limit(2.0, 0.5)), (40, 80));
        let turned_away = Minute { rejected: 60 * 30, ..limit };
        assert_eq!(
            (limit.capacity, turned_away.limit(1.0, 2.0)),
            (50, 87),
            "9.5 places, and 30 a second for two seconds"
        );
    }
}
