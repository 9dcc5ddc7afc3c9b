//! How many places a pool needs, so that nearly nobody waits: the arithmetic that findings and `daylight sizing` share.
//!
//! A pool is a queue with a number of servers. Erlang's formula C (1917) has the share of callers that wait where these come independently of
//! each other. Hayward's approximation divides places and load by the peakedness of the load, which is above 1 where callers come in bursts
//! and below 1 where each of them asks again only after an answer. The wait of the callers that wait is taken as exponential, and its mean is that of
//! Allen and Cunneen for services of any variability.

use telemetry::Histogram;

/// The part of the time of a service that a wait may take...
pub(crate) const WAIT: f64 = 0.1;
/// ... and the part of the callers that may wait for longer.
pub(crate) const LATE: f64 = 0.05;
/// The part of the seconds in which a pool is full that the size is enough for. The rest are its busiest ones.
const SECONDS: f64 = 0.95;
/// A load is never quite even.
const PEAKEDNESS_MIN: f64 = 0.05;
/// The most steps of the recurrence of Erlang's formula. A load of more places has their upper limit, which is next to no more.
const STEPS_MAX: f64 = 20_000.0;

/// The load of a pool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Load {
    /// The places that would be in use on average if nobody waited: callers of a second times the seconds of a service (Little's law).
    pub(crate) mean: f64,
    /// The variance of their number as a part of its mean: 1 for independent callers.
    pub(crate) peakedness: f64,
    /// The variance of the time of a service as a part of the square of its mean: 0 if all take the same time.
    pub(crate) service: f64,
}

impl Load {
    /// The same callers, so many times as often.
    pub(crate) fn times(self, times: f64) -> Self {
        Self { mean: self.mean * times, ..self }
    }

    /// The share of callers that wait for longer than [`WAIT`] of a service, with so many places, 0 to 1.
    pub(crate) fn late(&self, places: u64) -> f64 {
        let peakedness = self.peakedness.max(PEAKEDNESS_MIN);
        // A caller of a burst finds those of its burst that came before it, which an observer at a chance moment does not.
        let places = places as f64 - (peakedness - 1.0).max(0.0);
        if self.mean <= 0.0 {
            return 0.0;
        }
        if places <= self.mean {
            return 1.0;
        }
        let wait = erlang_c(places / peakedness, self.mean / peakedness);
        wait * (-WAIT * (places - self.mean) / self.variability()).exp()
    }

    /// How much the times between callers and those of services vary, 1 for exponential ones.
    fn variability(&self) -> f64 {
        let peakedness = self.peakedness.max(PEAKEDNESS_MIN);
        // With exponential services callers whose times vary by c have a peakedness of 1 + (c - 1) / 2 (Eckberg, 1983).
        let callers = peakedness.max(2.0 * peakedness - 1.0);
        ((callers + self.service) / 2.0).max(PEAKEDNESS_MIN / 2.0)
    }

    /// As many places as are enough even if all callers had to wait.
    fn upper(&self) -> f64 {
        let bursts = (self.peakedness - 1.0).max(0.0);
        self.mean + bursts + self.variability() * (1.0 / LATE).ln() / WAIT
    }

    /// The fewest places with which at most [`LATE`] of the callers wait for longer than [`WAIT`] of a service; at least one.
    pub(crate) fn places(&self) -> u64 {
        let first = (self.mean.floor() as u64).max(1);
        let last = (self.upper().floor() as u64 + 1).max(first);
        if last as f64 / self.peakedness.max(PEAKEDNESS_MIN) > STEPS_MAX {
            return last;
        }
        // More places never make it worse, so doubling finds enough and halving the fewest. Few steps leave the numbers small.
        let (mut few, mut enough, mut width) = (first, last, 1);
        while few + width < last && self.late(few + width) > LATE {
            few += width + 1;
            width *= 2;
        }
        enough = enough.min(few + width);
        while few < enough {
            let middle = few + (enough - few) / 2;
            if self.late(middle) <= LATE { enough = middle } else { few = middle + 1 }
        }
        enough
    }
}

/// The places that leave nearly no wait in a pool that is full. `demands`: what was in use and what was waited for, in each second in which all
/// places were taken. Callers that wait do not ask again, so this and not the rate of arrival tells how much is wanted, and how it varies.
pub(crate) fn when_full(capacity: u64, demands: &Histogram) -> u64 {
    // Half the width of a bucket is 2.2 %. A client that has its answer and has not asked again is not seen.
    let wanted = demands.quantile(SECONDS) as f64 * 1.022;
    (wanted.round() as u64 + 1).max(capacity + 1)
}

/// The same with a reserve, for advice that is followed once: what was wanted while callers waited may be less than what they would want.
pub(crate) fn when_full_with_reserve(capacity: u64, demands: &Histogram) -> u64 {
    ample(demands.quantile(SECONDS) as f64).max(capacity + 1)
}

/// The places for a demand on average of which little else is known, with a reserve. Arrivals vary by the square root of their number, so
/// twice that is added (square-root staffing; Halfin and Whitt, 1981).
pub(crate) fn ample(wanted: f64) -> u64 {
    (wanted + 2.0 * wanted.sqrt()).ceil() as u64
}

/// Erlang's formula C: the share of independent callers that wait, for a number of places that may be no whole one.
fn erlang_c(places: f64, load: f64) -> f64 {
    if places <= load {
        return 1.0;
    }
    let lost = erlang_b(places, load);
    lost / (1.0 - load / places * (1.0 - lost))
}

/// Erlang's formula B: the share of callers that find all places taken, where those are turned away. Between whole numbers of places below one
/// it is interpolated; the recurrence reduces the error of that at each step.
fn erlang_b(places: f64, load: f64) -> f64 {
    let part = places.fract();
    let mut lost = (load / (1.0 + load)).powf(part);
    for step in 1..=places.floor() as u64 {
        let places = part + step as f64;
        lost = load * lost / (places + load * lost);
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formulas_have_the_values_of_tables() {
        // Ten places and a load of seven: 7.9 % are turned away, or 22.2 % wait.
        assert!((erlang_b(10.0, 7.0) - 0.0787).abs() < 0.0005, "{}", erlang_b(10.0, 7.0));
        assert!((erlang_c(10.0, 7.0) - 0.2217).abs() < 0.0005, "{}", erlang_c(10.0, 7.0));
        assert_eq!(erlang_c(7.0, 7.0), 1.0);
        let between = erlang_b(10.5, 7.0);
        assert!(erlang_b(11.0, 7.0) < between && between < erlang_b(10.0, 7.0), "{between}");
    }

    #[test]
    fn the_fewest_places_are_enough_and_one_less_is_not() {
        let load = |mean, peakedness, service| Load { mean, peakedness, service };
        for mean in [0.01, 0.3, 1.0, 4.0, 9.0, 31.0, 200.0, 5000.0] {
            for (peakedness, service) in [(1.0, 1.0), (1.0, 0.0), (0.0, 0.0), (4.0, 1.0), (1.0, 9.0)] {
                let load = load(mean, peakedness, service);
                let places = load.places();
                assert!(load.late(places) <= LATE, "{load:?}: {places}");
                assert!(places == 1 || load.late(places - 1) > LATE, "{load:?}: {places}");
                assert!(load.times(2.0).places() >= places, "{load:?}: {places}");
            }
        }
        let places = [0.0, 1.0, 9.0, 100.0].map(|mean| load(mean, 1.0, 1.0).places());
        assert_eq!(places, [1, 4, 15, 113], "about square-root staffing, less for many");
        assert!(load(9.0, 4.0, 1.0).places() > 20 && load(9.0, 0.0, 0.0).places() == 10, "bursts, and even loads");
    }

    #[test]
    fn a_huge_load_has_an_upper_limit_that_is_next_to_no_more() {
        let load = |mean| Load { mean, peakedness: 1.0, service: 1.0 };
        let (just, beyond) = (load(19_900.0).places(), load(1e6).places());
        assert!((19_900..19_900 + 31).contains(&just), "{just}");
        assert!((1_000_000..1_000_000 + 32).contains(&beyond), "{beyond}");
        let bursts = Load { mean: 3.0, peakedness: 40.0, service: 9.0 };
        assert!(bursts.late(bursts.upper() as u64 + 1) <= LATE, "{bursts:?}");
    }

    #[test]
    fn a_full_pool_needs_what_was_wanted_in_nearly_all_seconds() {
        let pool = |wanted: &[u64]| {
            let mut demands = Histogram::default();
            wanted.iter().for_each(|wanted| demands.record(*wanted));
            when_full(2, &demands)
        };
        assert_eq!(
            (pool(&[64; 10]), pool(&[9; 100]), pool(&[]), pool(&[1000; 5])),
            (65, 10, 3, 1025),
            "buckets are 4.4 % wide"
        );
        let mut demands = Histogram::default();
        demands.record_many(9, 100);
        assert_eq!(
            (ample(4.0), when_full_with_reserve(2, &demands), when_full_with_reserve(30, &demands)),
            (8, 15, 31)
        );
    }
}
