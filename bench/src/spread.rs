//! Figures of several rounds: the middle one, and how far the others are from it.

use std::fmt;

/// The rounds' figures.
#[derive(Default)]
pub(crate) struct Spread(Vec<f64>);

impl Spread {
    /// Takes one more.
    pub(crate) fn add(&mut self, figure: f64) {
        self.0.push(figure);
        self.0.sort_by(f64::total_cmp);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The largest.
    pub(crate) fn most(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }

    /// The middle one.
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
