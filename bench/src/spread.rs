//! The figures of several rounds: the median, and the spread.

use std::fmt;

/// The figures of the rounds.
#[derive(Default)]
pub(crate) struct Spread(Vec<f64>);

impl Spread {
    /// Adds a figure.
    pub(crate) fn add(&mut self, figure: f64) {
        self.0.push(figure);
        self.0.sort_by(f64::total_cmp);
    }

    /// The number of figures.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The highest figure.
    pub(crate) fn most(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }

    /// The median.
    pub(crate) fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [least, most] = [self.0.first(), self.0.last()].map(|figure| figure.copied().unwrap_or(f64::NAN));
        let digits = if most < 1000.0 { 2 } else { 0 };
        write!(f, "{:.digits$} ({least:.digits$} to {most:.digits$})", self.median())
    }
}
