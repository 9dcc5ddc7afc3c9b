//! How many of many events a listener gets: each one, until there are too many in a second.

use crate::random::Random;
use telemetry::Millis;

/// Chooses a sample of the events that a listener could not read anyway.
#[derive(Debug)]
pub(super) struct Throttle {
    /// The second of the events, since the epoch.
    second: i64,
    /// Events in this second, and those of them that were chosen.
    matched: u32,
    chosen: u32,
    /// In the second before, an event was chosen of so many.
    before: u32,
    /// Events since the last chosen one.
    since: u32,
    /// The event that is chosen next, counted from the last one.
    next: u32,
    random: Random,
    /// Whether an event of this second was left out, and whether that was noticed.
    left_out: Option<bool>,
}

impl Default for Throttle {
    fn default() -> Self {
        Self {
            second: i64::MIN,
            matched: 0,
            chosen: 0,
            before: 1,
            since: 0,
            next: 1,
            random: Random::default(),
            left_out: None,
        }
    }
}

impl Throttle {
    /// The number of events that are chosen in each second that has more. A person reads a few, and a program that needs all of them says so.
    pub(super) const EACH_SECOND: u32 = 200;

    /// How many events this one stands for, which began at `at`. 0: it is left out.
    pub(super) fn weigh(&mut self, at: Millis) -> u32 {
        let second = at.seconds();
        // The events of several threads come in turns, and an event comes when it ends, so a second may seem to go back. If the clock was
        // set back, it stays so.
        if second > self.second || second < self.second.saturating_sub(2) {
            let follows = second == self.second.saturating_add(1);
            self.before = if follows { self.matched.div_ceil(Self::EACH_SECOND).max(1) } else { 1 };
            (self.second, self.matched, self.chosen, self.left_out) = (second, 0, 0, None);
            self.next = self.next.min(self.since.saturating_add(self.distance()));
        }
        self.matched = self.matched.saturating_add(1);
        self.since = self.since.saturating_add(1);
        if self.since < self.next {
            self.left_out.get_or_insert(false);
            return 0;
        }
        self.chosen += 1;
        self.next = self.distance();
        std::mem::take(&mut self.since)
    }

    /// Whether an event of this second was left out. Said once for each second.
    pub(super) fn begins_to_sample(&mut self) -> bool {
        self.left_out.as_mut().is_some_and(|said| !std::mem::replace(said, true))
    }

    /// From a chosen event to the next one: on average as in the second before, and more once there were enough in this one. A fixed
    /// distance could be a multiple of a client's period.
    fn distance(&mut self) -> u32 {
        let doublings = (self.chosen / Self::EACH_SECOND).min(20);
        let average = self.before.max(1 << doublings).min(1 << 20);
        1 + self.random.below(u64::from(2 * average - 1)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The weights of the chosen ones of `count` events in each of the seconds.
    fn weights(counts: &[u32]) -> Vec<Vec<u32>> {
        let mut throttle = Throttle::default();
        let second = |(at, count): (usize, &u32)| {
            (0..*count).map(|_| throttle.weigh(Millis(at as i64 * 1000))).filter(|weight| *weight > 0).collect()
        };
        counts.iter().enumerate().map(second).collect()
    }

    #[test]
    fn an_event_long_after_a_flood_is_chosen() {
        let mut throttle = Throttle::default();
        assert!((0..50_000).any(|_| throttle.weigh(Millis(0)) == 0));
        assert!(throttle.weigh(Millis(60_000)) > 0);
        assert_eq!(throttle.weigh(Millis(60_001)), 1);
    }

    #[test]
    fn a_few_are_all_chosen_and_of_a_flood_the_same_number_in_each_second() {
        assert_eq!(weights(&[200, 200]), [vec![1; 200], vec![1; 200]]);
        let flood = weights(&[50_000, 50_000, 50_000, 50]);
        assert!((200..2_500).contains(&flood[0].len()), "{}", flood[0].len());
        for second in &flood[1..3] {
            assert!((150..300).contains(&second.len()), "{}", second.len());
        }
        let after = weights(&[50_000, 50, 50]);
        assert_eq!(after[2][1..], [1; 49], "a quiet second ends the sample");
    }

    proptest! {
        #[test]
        fn the_weights_add_up_to_the_events_but_for_those_after_the_last(counts in prop::collection::vec(0_u32..3_000, 1..20)) {
            let weights: Vec<u32> = weights(&counts).concat();
            let (seen, sum): (u32, u32) = (counts.iter().sum(), weights.iter().sum());
            let most = weights.iter().max().copied().unwrap_or(1);
            prop_assert!(sum <= seen && seen - sum <= 2 * most.max(32), "{seen} {sum} {most}");
        }

        #[test]
        fn the_first_event_that_is_left_out_in_a_second_is_noticed_once(counts in prop::collection::vec(0_u32..3_000, 1..20)) {
            let mut throttle = Throttle::default();
            for (at, count) in counts.iter().enumerate() {
                let left_out: Vec<bool> = (0..*count)
                    .map(|_| (throttle.weigh(Millis(at as i64 * 1000)), throttle.begins_to_sample()))
                    .filter_map(|(weight, noticed)| (weight == 0).then_some(noticed))
                    .collect();
                prop_assert!(left_out.iter().enumerate().all(|(at, noticed)| *noticed == (at == 0)));
            }
        }
    }
}
