//! Whether calls to a host take longer when more of them are made at once: then the host is the bottleneck, and more calls only wait there.

/// The fewest seconds with calls from which this is told.
const SECONDS_MIN: f64 = 5.0;
/// How much the number of calls at once must vary: its standard deviation as a part of its mean.
const SPREAD_MIN: f64 = 0.2;
/// The correlation from which on it is no accident.
const CORRELATION_MIN: f64 = 0.5;
/// The growth of the time with the calls at once, both as parts of their means: 1 if the host works on one call after another, 0 if it has
/// room for all.
const GROWTH_MIN: f64 = 0.5;

/// Sums over seconds with calls. x: calls in progress. y: the seconds that each took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Concurrency {
    seconds: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Concurrency {
    /// A second in which so many calls ended, which took so long in all.
    pub(crate) fn of(calls: u64, nanos: u64) -> Self {
        if calls == 0 {
            return Self::default();
        }
        // Little's law: the calls in progress on average are the time that the calls of a second took.
        let x = nanos as f64 / 1e9;
        let y = x / calls as f64;
        Self { seconds: 1.0, x, y, xx: x * x, xy: x * y, yy: y * y }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.seconds += other.seconds;
        self.x += other.x;
        self.y += other.y;
        self.xx += other.xx;
        self.xy += other.xy;
        self.yy += other.yy;
    }

    /// Whether calls take longer the more are made at once.
    pub(crate) fn slows_down(&self) -> bool {
        let n = self.seconds;
        if n < SECONDS_MIN {
            return false;
        }
        let (x, y) = (self.x / n, self.y / n);
        let (spread, other) = (self.xx / n - x * x, self.yy / n - y * y);
        let both = self.xy / n - x * y;
        if spread.sqrt() < SPREAD_MIN * x || other <= 0.0 {
            return false;
        }
        both / (spread * other).sqrt() >= CORRELATION_MIN && both / spread * x / y >= GROWTH_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slows_down(seconds: impl IntoIterator<Item = (u64, u64)>) -> bool {
        let mut sum = Concurrency::default();
        seconds.into_iter().for_each(|(calls, ms)| sum.add(&Concurrency::of(calls, calls * ms * 1_000_000)));
        sum.slows_down()
    }

    #[test]
    fn a_host_that_makes_one_call_after_another_slows_down_and_one_with_room_does_not() {
        // Ten calls a second, whether two or eight are made at once.
        assert!(slows_down((2..=8).map(|at_once| (10, at_once * 100))));
        assert!(!slows_down((2..=8).map(|at_once| (at_once * 5, 200))));
        assert!(!slows_down((2..=4).map(|at_once| (10, at_once * 100))), "too few seconds");
        assert!(!slows_down([(10, 200); 30]), "it is never called otherwise");
    }
}
