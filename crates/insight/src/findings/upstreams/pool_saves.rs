//! How much of the waits for a place a pool of another size saves.

use crate::findings::gauge::Gauge;
use crate::findings::saves::{Saves, waits_left};
use telemetry::Histogram;

/// What a pool of another size saves.
pub(super) struct PoolSaves<'a> {
    waited_s: f64,
    /// The places now, and the advised ones.
    places: (u64, u64),
    /// Places for one unit of the setting.
    each: u64,
    demands: &'a Histogram,
}

/// What a pool of another size saves of these seconds of waits. `demands`: what was in use and
/// what was waited for, in each second in which all places were taken.
pub(super) fn waits_saved(waited_s: f64, places: (u64, u64), demands: &Histogram) -> PoolSaves<'_> {
    PoolSaves { waited_s, places, each: 1, demands }
}

impl PoolSaves<'_> {
    /// The setting counts the places of each of so many parts.
    pub(super) fn each(self, each: u64) -> Self {
        Self { each, ..self }
    }

    /// As measured by this gauge.
    pub(super) fn of(&self, gauge: Gauge) -> Saves {
        let (now, to) = self.places;
        let saved = |places: f64| self.waited_s * (1.0 - self.left(places));
        let each = self.each.max(1);
        Saves::new(saved(to as f64), gauge).at_values(now / each, to.div_ceil(each), |value| saved(value * each as f64))
    }

    /// The part of the waits that is left with so many places.
    fn left(&self, places: f64) -> f64 {
        let now = self.places.0 as f64;
        let (mut left, mut all) = (0.0, 0.0);
        for bucket in self.demands.buckets() {
            let (wanted, waits) =
                (bucket.upper as f64, bucket.count as f64 * (bucket.upper as f64 / now.max(1.0) - 1.0).max(0.0));
            left += waits * waits_left(wanted, now, places);
            all += waits;
        }
        // Without a second in which somebody waited, nobody knows better than that the advised number is enough.
        let (now, to) = (now, self.places.1 as f64);
        if all > 0.0 { left / all } else { ((to - places) / (to - now).max(1.0)).clamp(0.0, 1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_places_save_most_and_the_advised_ones_nearly_all() {
        let mut demands = Histogram::default();
        demands.record_many(64, 10);
        let saves = waits_saved(60.0, (2, 80), &demands).of(Gauge::Database);
        assert!((59.0..=60.0).contains(&saves.recent_s), "{}", saves.recent_s);
        let at = |to: u64| saves.scaled(&2.into(), Some(&80.into()), &to.into());
        assert!(at(12) > 40.0 && at(12) < at(31) && at(31) < 60.0, "{} {}", at(12), at(31));
        let none = Histogram::default();
        assert_eq!(waits_saved(60.0, (2, 4), &none).of(Gauge::Database).recent_s, 60.0);
    }
}
