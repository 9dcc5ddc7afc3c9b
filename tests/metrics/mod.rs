//! `/metrics`: valid by the rules of Prometheus, described in the manual, exact, and silent about private names.

mod alerts;
pub(crate) mod cgroup;
mod families;
pub(crate) mod generator;
mod gzip;
mod machine;
mod named;
mod repositories;
mod upstream_down;

use std::collections::BTreeMap;

/// All samples of a page, by name and labels as they are written.
pub(crate) struct Samples(BTreeMap<String, f64>);

impl Samples {
    pub(crate) fn of(page: &str) -> Self {
        let lines = page.lines().filter(|line| !line.starts_with('#'));
        let samples = lines.map(|line| line.rsplit_once(' ').unwrap());
        Self(samples.map(|(series, value)| (series.to_owned(), value.parse().unwrap())).collect())
    }

    /// The value of a series; `None` if there is none.
    pub(crate) fn find(&self, series: &str) -> Option<f64> {
        self.0.get(series).copied()
    }

    /// A figure of a repository; `None` if it has no line.
    fn repository(&self, figure: &str, name: &str) -> Option<f64> {
        self.find(&format!("daylight_{figure}{{repository=\"{name}\"}}"))
    }
}
