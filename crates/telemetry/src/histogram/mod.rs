//! Exponential histograms with base 2 and scale 4: a bucket is 4.4 % wide. They are merged by addition.

pub(crate) mod durations;
pub(crate) mod recent;

/// `floor(2^(63 + j/16))`: the lower edges of the sixteen buckets of an octave, for a value shifted until its top bit is set.
const EDGES: [u64; 16] = [
    0x8000_0000_0000_0000,
    0x85aa_c367_cc48_7b14,
    0x8b95_c1e3_ea8b_d6e6,
    0x91c3_d373_ab11_c336,
    0x9837_f051_8db8_a96f,
    0x9ef5_3260_91a1_11ad,
    0xa5fe_d6a9_b151_38ea,
    0xad58_3eea_42a1_4ac6,
    0xb504_f333_f9de_6484,
    0xbd08_a39f_580c_36be,
    0xc567_2a11_5506_dadd,
    0xce24_8c15_1f84_80e3,
    0xd744_fcca_d69d_6af4,
    0xe0cc_deec_2a94_e111,
    0xeac0_c6e7_dd24_392e,
    0xf525_7d15_2486_cc2c,
];

/// Buckets per octave.
const PER_OCTAVE: usize = EDGES.len();

/// Counts of values (nanoseconds, bytes) in exponential buckets. It converts without loss to histograms of OTLP and to native
/// histograms of Prometheus (schema 4): bucket `i` counts values above `2^(i/16)` up to `2^((i+1)/16)`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    count: u64,
    sum: u64,
    /// Place 0 counts zeros, and place `p` counts bucket `p - 2`. It grows in whole octaves with the largest value.
    places: Vec<u64>,
}

/// A bucket that is not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// All its values are greater than this.
    pub lower: u64,
    /// None of its values is greater than this. Zeros have a bucket of their own, where both edges are 0.
    pub upper: u64,
    /// The number of its values.
    pub count: u64,
}

impl Histogram {
    /// Counts `value`.
    pub fn record(&mut self, value: u64) {
        self.record_sum(value, 1);
    }

    /// Counts `count` values of which only the sum is known, each as their mean. Count and sum stay exact.
    pub fn record_sum(&mut self, sum: u64, count: u64) {
        // The count is nearly always one, and a division takes as long as everything else here.
        let mean = if count == 1 { Some(sum) } else { sum.checked_div(count) };
        let Some(mean) = mean else { return };
        self.add(mean, sum, count);
    }

    /// Counts `value` so many times.
    pub fn record_many(&mut self, value: u64, count: u64) {
        if count > 0 {
            self.add(value, value.saturating_mul(count), count);
        }
    }

    fn add(&mut self, value: u64, sum: u64, count: u64) {
        self.count = self.count.saturating_add(count);
        self.sum = self.sum.saturating_add(sum);
        let place = place(value);
        if place >= self.places.len() {
            self.places.resize((place + 1).next_multiple_of(PER_OCTAVE), 0);
        }
        self.places[place] += count;
    }

    /// The place of the bucket that counts `value`: at most [`Histogram::PLACE_MAX`]. Zeros have place 0.
    pub fn place_of(value: u64) -> usize {
        place(value)
    }

    /// The largest place.
    pub const PLACE_MAX: usize = 64 * PER_OCTAVE + 1;

    /// The largest value that the bucket of a place counts. [`Histogram::place_of`] of a value that is counted there is its inverse.
    pub fn upper_of(place: usize) -> u64 {
        edge(place.checked_sub(1))
    }

    /// Counts `count` values in the bucket of a place, of which only the sum is known otherwise. Places above [`Histogram::PLACE_MAX`]
    /// count as the largest one.
    pub fn record_at(&mut self, place: usize, count: u64) {
        let place = place.min(Self::PLACE_MAX);
        if place >= self.places.len() {
            self.places.resize((place + 1).next_multiple_of(PER_OCTAVE), 0);
        }
        self.places[place] = self.places[place].saturating_add(count);
        self.count = self.count.saturating_add(count);
    }

    /// Adds to the sum of the values that [`Histogram::record_at`] counted.
    pub fn add_sum(&mut self, sum: u64) {
        self.sum = self.sum.saturating_add(sum);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        if self.places.len() < other.places.len() {
            self.places.resize(other.places.len(), 0);
        }
        for (mine, theirs) in self.places.iter_mut().zip(&other.places) {
            *mine = mine.saturating_add(*theirs);
        }
    }

    /// The counts by place ([`Histogram::place_of`]): zeros at place 0, then at place `p` the values above `2^((p-2)/16)` up to
    /// `2^((p-1)/16)`. These are the buckets of an exponential histogram of OpenTelemetry with scale 4, from index -1 on.
    pub fn places(&self) -> &[u64] {
        &self.places
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The value that a fraction of `quantile` (0 to 1) of all values does not exceed, with an error of at most 2.3 %. 0 if there are none.
    pub fn quantile(&self, quantile: f64) -> u64 {
        let rank = ((quantile.clamp(0.0, 1.0) * self.count as f64).ceil() as u64).max(1);
        let mut passed = 0;
        for bucket in self.buckets() {
            passed += bucket.count;
            if passed >= rank {
                let first = bucket.upper.min(bucket.lower.saturating_add(1));
                return first + (bucket.upper - first) / 2;
            }
        }
        0
    }

    /// The buckets that are not empty, in ascending order.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        let filled = self.places.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.map(|(place, count)| Bucket {
            lower: edge(place.checked_sub(2)),
            upper: edge(place.checked_sub(1)),
            count: *count,
        })
    }
}

/// The place at which `value` is counted.
fn place(value: u64) -> usize {
    if value == 0 {
        return 0;
    }
    let zeros = value.leading_zeros();
    let octave = 63 - zeros as usize;
    let shifted = value << zeros;
    octave * PER_OCTAVE + EDGES.partition_point(|edge| *edge < shifted) + 1
}

/// `floor(2^(step/16))`; 0 below the first step.
fn edge(step: Option<usize>) -> u64 {
    match step {
        None => 0,
        Some(step) if step >= 64 * PER_OCTAVE => u64::MAX,
        Some(step) => EDGES[step % PER_OCTAVE] >> (63 - step / PER_OCTAVE),
    }
}

#[cfg(test)]
mod tests;
