//! How a duration is distribution over the events of a key: the buckets of [`Histogram`] that are not empty, 8 bytes each.

use telemetry::Histogram;

/// The bits of the count of a cell. The place of the bucket is above them.
const COUNT_BITS: u32 = 48;
const COUNT_MAX: u64 = (1 << COUNT_BITS) - 1;

/// How a duration is distribution. It adds up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Buckets {
    sum: u64,
    highest: u64,
    /// Place and count of each bucket, in the order of the places.
    cells: Vec<u64>,
}

impl Buckets {
    /// The bytes of a bucket in memory.
    pub(crate) const CELL: u64 = size_of::<u64>() as u64;

    /// Counts a value, in microseconds.
    #[inline]
    pub(crate) fn record(&mut self, value: u64) {
        self.sum = self.sum.saturating_add(value);
        self.highest = self.highest.max(value);
        self.count(Histogram::place_of(value), 1);
    }

    #[inline]
    fn count(&mut self, place: usize, count: u64) {
        let place = place as u64;
        // Where no bucket between is empty, a cell is found by its distance from the first one.
        let first = self.cells.first().map_or(0, |cell| cell >> COUNT_BITS);
        if let Some(cell) = self.cells.get_mut(place.wrapping_sub(first) as usize)
            && *cell >> COUNT_BITS == place
        {
            *cell += count.min(COUNT_MAX - (*cell & COUNT_MAX));
            return;
        }
        let index = self.cells.partition_point(|cell| cell >> COUNT_BITS < place);
        match self.cells.get_mut(index) {
            Some(cell) if *cell >> COUNT_BITS == place => *cell += count.min(COUNT_MAX - (*cell & COUNT_MAX)),
            _ => self.cells.insert(index, place << COUNT_BITS | count.min(COUNT_MAX)),
        }
    }

    /// Adds the counts of another one.
    pub(crate) fn add(&mut self, other: &Buckets) {
        if self.cells.is_empty() {
            self.cells.extend_from_slice(&other.cells);
        } else {
            other.buckets().for_each(|(place, count)| self.count(place, count));
        }
        self.sum = self.sum.saturating_add(other.sum);
        self.highest = self.highest.max(other.highest);
    }

    /// Sets everything to zero. The memory is kept for the next values.
    pub(crate) fn clear(&mut self) {
        (self.sum, self.highest) = (0, 0);
        self.cells.clear();
    }

    /// The place in a [`Histogram`] and the count of each bucket that is not empty.
    pub(crate) fn buckets(&self) -> impl ExactSizeIterator<Item = (usize, u64)> + '_ {
        self.cells.iter().map(|cell| ((cell >> COUNT_BITS) as usize, cell & COUNT_MAX))
    }

    /// The sum of the values, in microseconds.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The highest value, in microseconds.
    pub fn highest(&self) -> u64 {
        self.highest
    }

    /// One of these buckets, whose places may come in any order.
    pub(crate) fn of(sum: u64, highest: u64, buckets: impl IntoIterator<Item = (usize, u64)>) -> Self {
        let mut distribution = Self { sum, highest, cells: Vec::new() };
        for (place, count) in buckets {
            distribution.count(place.min(Histogram::PLACE_MAX), count);
        }
        distribution
    }

    /// Adds the counts to a histogram.
    pub fn add_to(&self, histogram: &mut Histogram) {
        self.buckets().for_each(|(place, count)| histogram.record_at(place, count));
        histogram.add_sum(self.sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram(distribution: &Buckets) -> Histogram {
        let mut histogram = Histogram::default();
        distribution.add_to(&mut histogram);
        histogram
    }

    proptest! {
        #[test]
        fn a_spread_equals_a_histogram_of_the_same_values_however_they_are_parted(
            parts in proptest::collection::vec(proptest::collection::vec((any::<u64>(), 20u32..64), 0..40), 1..4),
        ) {
            let (mut whole, mut model, mut highest) = (Buckets::default(), Histogram::default(), 0);
            for part in parts {
                let mut distribution = Buckets::default();
                for value in part.into_iter().map(|(value, shift)| value >> shift) {
                    distribution.record(value);
                    model.record(value);
                    highest = highest.max(value);
                }
                let again = Buckets::of(distribution.sum(), distribution.highest(), distribution.buckets().collect::<Vec<_>>().into_iter().rev());
                prop_assert_eq!(&again, &distribution);
                whole.add(&distribution);
            }
            prop_assert_eq!(whole.highest(), highest);
            prop_assert_eq!(histogram(&whole), model);
            whole.clear();
            prop_assert_eq!(whole, Buckets::default());
        }
    }
}
