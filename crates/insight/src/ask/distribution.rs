//! Values of one group, for quantiles: a short list, then a histogram.

use crate::rollup::Buckets;
use serde::{Deserialize, Serialize};
use telemetry::Histogram;

/// How often values occur. Quantiles are exact up to [`Distribution::FEW`] different stored values, and have an error of at most 2.3 % beyond.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Distribution {
    /// Values with their counts.
    Few(Vec<(u64, u64)>),
    /// Many values.
    #[serde(with = "stored")]
    Many(Box<Histogram>),
}

/// A histogram as its sum, and the place and count of each bucket that is not empty.
mod stored {
    use super::{Deserialize, Histogram, Serialize};
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(many: &Histogram, to: S) -> Result<S::Ok, S::Error> {
        let places = many.places().iter().enumerate().filter(|(_, count)| **count > 0);
        (many.sum(), places.collect::<Vec<_>>()).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Box<Histogram>, D::Error> {
        let (sum, places) = <(u64, Vec<(usize, u64)>)>::deserialize(from)?;
        let mut many = Box::<Histogram>::default();
        places.into_iter().for_each(|(place, count)| many.record_at(place, count));
        many.add_sum(sum);
        Ok(many)
    }
}

impl Default for Distribution {
    fn default() -> Self {
        Distribution::Few(Vec::new())
    }
}

impl Distribution {
    /// The longest list.
    const FEW: usize = 48;

    /// Counts `value` so many times. Returns the bytes of memory that this took.
    pub(super) fn add(&mut self, value: i64, count: u64) -> usize {
        let value = value.max(0).cast_unsigned();
        match self {
            Distribution::Few(list) if list.len() < Self::FEW => {
                let before = list.capacity();
                list.push((value, count));
                (list.capacity() - before) * size_of::<(u64, u64)>()
            }
            Distribution::Few(list) => {
                let mut many = Box::new(Histogram::default());
                list.iter().for_each(|(value, count)| many.record_many(*value, *count));
                many.record_many(value, count);
                *self = Distribution::Many(many);
                Self::MANY_BYTES
            }
            Distribution::Many(many) => {
                many.record_many(value, count);
                0
            }
        }
    }

    /// An estimate of the bytes of a histogram: of values up to a few seconds.
    const MANY_BYTES: usize = 3 << 10;

    /// The bytes of memory behind it.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Distribution::Few(list) => list.capacity() * size_of::<(u64, u64)>(),
            Distribution::Many(_) => Self::MANY_BYTES,
        }
    }

    /// Counts values that were counted before. Returns the bytes of memory that this took.
    pub(super) fn merge(&mut self, buckets: &Buckets) -> usize {
        self.widen(|many| buckets.add_to(many))
    }

    /// Counts the values of another one. Returns the bytes of memory that this took.
    pub(super) fn join(&mut self, other: &Distribution) -> usize {
        match other {
            Distribution::Few(list) => {
                list.iter().map(|(value, count)| self.add(i64::try_from(*value).unwrap_or(i64::MAX), *count)).sum()
            }
            Distribution::Many(other) => self.widen(|many| many.merge(other)),
        }
    }

    /// Adds to a histogram, which it then is.
    fn widen(&mut self, add: impl FnOnce(&mut Histogram)) -> usize {
        let before = self.bytes();
        if let Distribution::Few(list) = self {
            let mut many = Box::new(Histogram::default());
            list.iter().for_each(|(value, count)| many.record_many(*value, *count));
            *self = Distribution::Many(many);
        }
        if let Distribution::Many(many) = self {
            add(many);
        }
        self.bytes().saturating_sub(before)
    }

    /// The value that a part of all values, 0 to 1, does not exceed. `None` if there are none.
    pub(super) fn quantile(&self, part: f64) -> Option<u64> {
        match self {
            Distribution::Few(list) => {
                let mut list = list.clone();
                list.sort_unstable();
                let count: u64 = list.iter().map(|(_, count)| count).sum();
                let rank = ((part.clamp(0.0, 1.0) * count as f64).ceil() as u64).max(1);
                let mut passed = 0;
                list.iter()
                    .find(|(_, count)| {
                        passed += count;
                        passed >= rank
                    })
                    .map(|(value, _)| *value)
            }
            Distribution::Many(many) => (many.count() > 0).then(|| many.quantile(part)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_have_exact_quantiles_and_weights_count() {
        let mut values = Distribution::default();
        assert_eq!(values.quantile(0.5), None);
        values.add(70, 1);
        values.add(7, 9);
        assert_eq!([0.0, 0.5, 0.9, 0.91, 1.0].map(|part| values.quantile(part).unwrap()), [7, 7, 7, 70, 70]);
    }

    #[test]
    fn many_values_have_quantiles_within_the_error_of_a_histogram() {
        let mut values = Distribution::default();
        (1..=1000).for_each(|value| {
            values.add(value, 3);
        });
        for (part, exact) in [(0.01, 10.0), (0.5, 500.0), (0.95, 950.0), (1.0, 1000.0)] {
            let found = values.quantile(part).unwrap() as f64;
            assert!((found / exact - 1.0).abs() <= 0.051, "{part}: {found}");
        }
    }

    #[test]
    fn a_value_that_is_too_large_for_its_weight_is_counted_as_large() {
        let mut values = Distribution::default();
        (0..20).for_each(|_| {
            values.add(i64::MAX, 1000);
        });
        assert!(values.quantile(0.5).unwrap() > 1 << 50);
    }
}
