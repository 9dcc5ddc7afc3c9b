//! The histogram against exact arithmetic.

use super::*;
use proptest::prelude::*;

/// `base` times itself, in 32-bit digits, lowest first.
fn square(base: &[u32]) -> Vec<u32> {
    let mut product = vec![0u32; base.len() * 2];
    for (i, a) in base.iter().enumerate() {
        let mut carry = 0u64;
        for (j, b) in base.iter().enumerate() {
            let sum = u64::from(*a) * u64::from(*b) + u64::from(product[i + j]) + carry;
            product[i + j] = sum as u32;
            carry = sum >> 32;
        }
        product[i + base.len()] = carry as u32;
    }
    product
}

/// The place of the highest bit of `edge` to the 16th power, and whether it is the only one.
fn sixteenth_power(edge: u64) -> (usize, bool) {
    let mut power = vec![edge as u32, (edge >> 32) as u32];
    for _ in 0..4 {
        power = square(&power);
    }
    let top = power.iter().rposition(|digit| *digit != 0).unwrap();
    let bits = power.iter().map(|digit| digit.count_ones()).sum::<u32>();
    (top * 32 + 31 - power[top].leading_zeros() as usize, bits == 1)
}

#[test]
fn the_table_of_edges_is_exact() {
    for (j, edge) in EDGES.into_iter().enumerate() {
        // edge^16 <= 2^(63 * 16 + j) < (edge + 1)^16
        let (bits, alone) = sixteenth_power(edge);
        assert!(bits < 1008 + j || (bits == 1008 + j && alone), "edge {j} is too high");
        assert!(sixteenth_power(edge + 1).0 >= 1008 + j, "edge {j} is too low");
    }
}

#[test]
fn powers_of_two_end_their_bucket() {
    for shift in 0..64 {
        let mut histogram = Histogram::default();
        histogram.record(1 << shift);
        assert_eq!(histogram.buckets().next().unwrap().upper, 1 << shift);
    }
}

#[test]
fn an_empty_histogram_answers_zero() {
    let histogram = Histogram::default();
    assert_eq!((histogram.count(), histogram.sum(), histogram.quantile(0.5)), (0, 0, 0));
    assert_eq!(histogram.buckets().count(), 0);
}

#[test]
fn values_known_by_their_sum_keep_count_and_sum() {
    let mut histogram = Histogram::default();
    histogram.record_sum(100, 3);
    histogram.record_sum(7, 0);
    assert_eq!((histogram.count(), histogram.sum()), (3, 100));
    assert_eq!(histogram.buckets().map(|bucket| bucket.count).sum::<u64>(), 3);
}

/// Values of every magnitude, not only near the top.
fn value() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64u32).prop_map(|(value, shift)| value >> shift)
}

proptest! {
    #[test]
    fn a_value_is_inside_its_bucket_and_the_bucket_is_narrow(value in value()) {
        let mut histogram = Histogram::default();
        histogram.record(value);
        let bucket = histogram.buckets().next().unwrap();
        prop_assert!(value == 0 || bucket.lower < value);
        prop_assert!(value <= bucket.upper);
        prop_assert!(bucket.upper as f64 <= (bucket.lower + 1) as f64 * 1.0443);
    }

    #[test]
    fn a_quantile_is_at_most_4_5_percent_off(mut values in prop::collection::vec(value(), 1..200), at in 0.0..=1.0f64) {
        let mut histogram = Histogram::default();
        values.iter().for_each(|value| histogram.record(*value));
        values.sort_unstable();
        let rank = ((at * values.len() as f64).ceil() as usize).max(1);
        let exact = values[rank - 1];
        let error = histogram.quantile(at).abs_diff(exact) as f64;
        prop_assert!(error <= exact as f64 * 0.045, "{} is {error} off", exact);
    }

    #[test]
    fn merging_two_is_recording_both(ours in prop::collection::vec(value(), 0..50), theirs in prop::collection::vec(value(), 0..50)) {
        let of = |values: &[u64]| {
            let mut histogram = Histogram::default();
            values.iter().for_each(|value| histogram.record(*value));
            histogram
        };
        let mut merged = of(&ours);
        merged.merge(&of(&theirs));
        let both: Vec<u64> = ours.iter().chain(&theirs).copied().collect();
        prop_assert_eq!(&merged, &of(&both));
        prop_assert_eq!(merged.count(), both.len() as u64);
        prop_assert_eq!(merged.buckets().map(|bucket| bucket.count).sum::<u64>(), both.len() as u64);
    }
}

proptest! {
    #[test]
    fn a_histogram_made_of_places_equals_one_made_of_values(values in proptest::collection::vec(any::<u64>(), 0..50), shift in 0u32..64) {
        let (mut of_values, mut of_places) = (Histogram::default(), Histogram::default());
        for value in values {
            let value = value >> shift;
            let place = Histogram::place_of(value);
            prop_assert!(value <= Histogram::upper_of(place) && place <= Histogram::PLACE_MAX);
            prop_assert_eq!(Histogram::place_of(Histogram::upper_of(place)), place);
            of_values.record(value);
            of_places.record_at(place, 1);
            of_places.add_sum(value);
        }
        prop_assert_eq!(of_values, of_places);
    }
}

proptest! {
    #[test]
    fn a_value_counted_many_times_is_the_value_counted_again_and_again(
        values in prop::collection::vec((any::<u64>().prop_map(|value| value >> 20), 0..9_u64), 0..20),
    ) {
        let (mut many, mut single) = (Histogram::default(), Histogram::default());
        for (value, count) in values {
            many.record_many(value, count);
            (0..count).for_each(|_| single.record(value));
        }
        prop_assert_eq!(many, single);
    }
}
