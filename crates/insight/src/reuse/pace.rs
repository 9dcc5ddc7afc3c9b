//! How fast sampled keys are used: whether so many uses came within a second that fewer keys are enough.

use telemetry::Tick;

/// Counts uses of sampled keys since a moment.
#[derive(Debug)]
pub(super) struct Pace {
    /// So many uses within a second are too many.
    most: u32,
    uses: u32,
    since: Tick,
}

impl Pace {
    /// `most`: so many uses within a second are too many.
    pub(super) const fn new(most: u32) -> Self {
        Self { most, uses: 0, since: Tick(0) }
    }

    /// Counts a use at this time. Returns whether the last uses came within a second.
    pub(super) fn is_busy(&mut self, now: Tick) -> bool {
        self.uses += 1;
        if self.uses < self.most {
            return false;
        }
        self.uses = 0;
        now.since(std::mem::replace(&mut self.since, now)) < 1_000_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_uses_within_a_second_are_busy_and_fewer_are_not() {
        let (mut pace, second) = (Pace::new(4), 1_000_000_000);
        let uses = |pace: &mut Pace, at: u64| (0..4).map(|_| pace.is_busy(Tick(at))).collect::<Vec<_>>();
        assert_eq!(uses(&mut pace, 5 * second), [false; 4], "the first ones begin the count");
        assert_eq!(uses(&mut pace, 6 * second - 1), [false, false, false, true]);
        assert_eq!(uses(&mut pace, 7 * second - 1), [false; 4]);
    }
}
