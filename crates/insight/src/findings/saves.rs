//! What the advice of a finding saves, at the advised value and at others.

use super::gauge::Gauge;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the advice of a finding saves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Saves {
    /// The seconds of the last five minutes that the advised value would have saved.
    pub(crate) recent_s: f64,
    /// By which figures it is measured.
    pub(crate) gauge: Gauge,
    /// Other values of a setting that is a number, in ascending order, each with the seconds that it would have saved.
    #[serde(default)]
    points: Vec<(f64, f64)>,
}

impl Saves {
    /// So many seconds of five minutes at the advised value. Between the present value and that one, savings grow evenly.
    pub(crate) fn new(recent_s: f64, gauge: Gauge) -> Self {
        Self { recent_s, gauge, points: Vec::new() }
    }

    /// The same for a check that knows the seconds at other values of the setting, of which this samples eight up to twice the advised one.
    pub(crate) fn at_values(self, from: u64, to: u64, seconds: impl Fn(f64) -> f64) -> Self {
        let (from, to) = (from as f64, to as f64);
        let step = |part: f64| from + (to - from) * part;
        let points =
            [0.0, 0.125, 0.25, 0.375, 0.5, 0.75, 1.0, 2.0].map(|part| (step(part), seconds(step(part)).max(0.0)));
        Self { points: points.to_vec(), ..self }
    }

    /// The seconds of five minutes that a value would have saved that is perhaps not the advised one. A value that is no number counts as the advised one.
    pub(crate) fn scaled(&self, from: &Value, advised: Option<&Value>, to: &Value) -> f64 {
        let numbers = (from.as_f64(), advised.and_then(Value::as_f64), to.as_f64());
        let (Some(from), Some(advised), Some(to)) = numbers else { return self.recent_s };
        if to == advised {
            return self.recent_s;
        }
        if let [(first, _), .., (last, most)] = self.points[..] {
            if to <= first || to >= last {
                return if to <= first { 0.0 } else { most };
            }
            let after = self.points.iter().position(|(value, _)| *value >= to).unwrap_or(1).max(1);
            let ((low, less), (high, more)) = (self.points[after - 1], self.points[after]);
            return less + (more - less) * (to - low) / (high - low).max(f64::MIN_POSITIVE);
        }
        let part = (to - from) / (advised - from);
        if part.is_finite() { self.recent_s * part.clamp(0.0, 1.0) } else { self.recent_s }
    }
}

/// The part of the waits for a place that is left if there are `value` places instead of `places`, where so much was wanted at once. Clients
/// that wait send no further requests, so each of `wanted` waits for the ones before it (Little's law): `wanted / places - 1` times the time
/// that a place is used.
pub(crate) fn waits_left(wanted: f64, places: f64, value: f64) -> f64 {
    let waits = |places: f64| (wanted / places.max(1.0) - 1.0).max(0.0);
    if waits(places) > 0.0 { (waits(value) / waits(places)).min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-6
    }

    #[test]
    fn a_promise_is_scaled_to_the_value_that_was_set() {
        let saves = Saves::new(60.0, Gauge::Database);
        let at = |to| saves.scaled(&json!(2), Some(&json!(32)), &json!(to));
        assert_eq!([at(32), at(17), at(2), at(1), at(100)], [60.0, 30.0, 0.0, 0.0, 60.0]);
        assert_eq!(saves.scaled(&json!(["a"]), None, &json!(["b"])), 60.0);
        // Downwards.
        assert_eq!(saves.scaled(&json!(100), Some(&json!(50)), &json!(75)), 30.0);
        assert_eq!(saves.scaled(&json!(100), Some(&json!(50)), &json!(150)), 0.0);
    }

    #[test]
    fn a_check_that_knows_other_values_has_them_told_between_its_points() {
        let saves =
            Saves::new(60.0, Gauge::Database).at_values(2, 34, |value| 62.0 * (1.0 - waits_left(64.0, 2.0, value)));
        let at = |to| saves.scaled(&json!(2), Some(&json!(34)), &json!(to));
        assert_eq!(at(34), 60.0, "the advised value has its own figure");
        assert_eq!((at(2), at(1)), (0.0, 0.0));
        assert!((40.0..60.0).contains(&at(10)), "most is saved by the first places: {}", at(10));
        assert!(at(10) < at(20) && at(20) < at(50) && close(at(500), at(66)));
    }

    #[test]
    fn fewer_waits_are_left_with_more_places() {
        assert!(close(waits_left(64.0, 2.0, 2.0), 1.0) && close(waits_left(64.0, 2.0, 64.0), 0.0));
        assert!(close(waits_left(64.0, 2.0, 4.0), 15.0 / 31.0));
        assert!(close(waits_left(1.0, 2.0, 4.0), 0.0), "nobody waited");
    }
}
