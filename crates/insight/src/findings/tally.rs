//! Seconds that requests lost, by the kind of request, so that two times with another load and another mix can be compared.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The share of the seconds before for which there must be as many requests of their kind afterwards.
const COVERED: f64 = 0.8;
/// The part of the requests before that must have come again.
const AGAIN: f64 = 0.5;
/// So many requests of a kind are enough, whatever came before.
const ENOUGH: f64 = 10_000.0;
/// Fewer say nothing.
const FEWEST: f64 = 3.0;

/// Requests of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Their number.
    pub(crate) requests: f64,
    /// The seconds that they waited.
    pub(crate) seconds: f64,
}

/// Requests by kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tallies(pub(crate) BTreeMap<String, Tally>);

impl Tallies {
    /// Requests of one kind alone.
    pub(crate) fn one(requests: f64, seconds: f64) -> Self {
        let mut all = Self::default();
        all.count("all", requests, seconds);
        all
    }

    /// Adds requests of a kind. Figures may be below zero where they are estimates.
    pub(crate) fn count(&mut self, kind: &str, requests: f64, seconds: f64) {
        if requests != 0.0 || seconds != 0.0 {
            let mine = self.0.entry(kind.to_owned()).or_default();
            (mine.requests, mine.seconds) = (mine.requests + requests, mine.seconds + seconds);
        }
    }

    /// Adds all requests of another stretch.
    pub(crate) fn add(&mut self, other: &Self) {
        other.0.iter().for_each(|(kind, tally)| self.count(kind, tally.requests, tally.seconds));
    }

    /// The number of all requests.
    pub(crate) fn requests(&self) -> f64 {
        self.0.values().map(|tally| tally.requests).sum()
    }

    /// The seconds of all requests.
    pub(crate) fn seconds(&self) -> f64 {
        self.0.values().map(|tally| tally.seconds).sum()
    }

    /// The seconds that as many requests of the same kinds as these would lose less if each waited as long as those of `after`.
    /// `None`: too few came of the kinds that had lost most.
    pub(crate) fn spared(&self, after: &Self) -> Option<f64> {
        let (mut all, mut covered, mut spared) = (0.0, 0.0, 0.0);
        for (kind, before) in &self.0 {
            let needs = (before.requests * AGAIN).clamp(FEWEST, ENOUGH);
            // Only sums are clamped: what was estimated at a look may be below zero.
            all += before.seconds.max(0.0);
            let Some(later) = after.0.get(kind).filter(|later| later.requests >= needs) else { continue };
            covered += before.seconds.max(0.0);
            spared += before.seconds.max(0.0) - later.seconds.max(0.0) / later.requests * before.requests.max(0.0);
        }
        (all > 0.0 && covered >= COVERED * all).then(|| spared * all / covered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kinds: &[(&str, f64, f64)]) -> Tallies {
        let mut all = Tallies::default();
        kinds.iter().for_each(|(kind, requests, seconds)| all.count(kind, *requests, *seconds));
        all
    }

    #[test]
    fn the_comparison_holds_at_another_load_and_another_mix() {
        let before = of(&[("fetched", 100.0, 200.0), ("cached", 900.0, 9.0)]);
        // Half the load, and nearly all of it cached: each request of a kind waits as before.
        let same = of(&[("fetched", 50.0, 100.0), ("cached", 4500.0, 45.0)]);
        assert!(before.spared(&same).unwrap().abs() < 1e-9);
        let better = of(&[("fetched", 400.0, 40.0), ("cached", 900.0, 9.0)]);
        assert!((before.spared(&better).unwrap() - 190.0).abs() < 1e-9);
        let worse = of(&[("fetched", 100.0, 300.0), ("cached", 900.0, 9.0)]);
        assert!((before.spared(&worse).unwrap() + 100.0).abs() < 1e-9);
    }

    #[test]
    fn estimates_below_zero_count_in_sums_so_that_noise_is_no_loss() {
        let before = Tallies::one(100.0, 50.0);
        let mut after = Tallies::default();
        for seconds in [3.0, -3.0, 4.0, -4.0, 2.0, -2.0] {
            after.add(&Tallies::one(20.0, seconds));
        }
        assert_eq!(before.spared(&after), Some(50.0));
        after.add(&Tallies::one(0.0, -9.0));
        assert_eq!((after.seconds(), before.spared(&after)), (-9.0, Some(50.0)), "nobody gets more than all of it");
    }

    #[test]
    fn there_is_no_verdict_before_enough_requests_of_the_kinds_that_lost_most() {
        let before = of(&[("fetched", 100.0, 190.0), ("cached", 900.0, 10.0)]);
        assert_eq!(before.spared(&of(&[("cached", 5000.0, 5.0)])), None);
        assert_eq!(before.spared(&of(&[("fetched", 49.0, 1.0), ("cached", 900.0, 9.0)])), None);
        assert!(before.spared(&of(&[("fetched", 50.0, 1.0)])).is_some(), "what has no request afterwards is left out");
        assert_eq!(Tallies::default().spared(&before), None, "nothing was lost");
        let busy = Tallies::one(1e9, 1e6);
        assert!(busy.spared(&Tallies::one(10_000.0, 1.0)).is_some());
        let few = Tallies::one(4.0, 20.0);
        assert_eq!((few.spared(&Tallies::one(2.0, 0.0)), few.spared(&Tallies::one(3.0, 0.0))), (None, Some(20.0)));
    }
}
