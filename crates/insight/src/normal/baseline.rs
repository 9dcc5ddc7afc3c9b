//! Exports of what does not depend on the machine: ratios by cost class and kind of file, each with how much minutes differ.

use super::cells::{Cell, CellKey, Cells, Count};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use telemetry::Millis;

/// The most kinds of requests of all minutes together: some 3 MB. A day of a usual server has fewer.
const CELLS_MAX: usize = 24_000;
/// The most minutes: a day.
const MINUTES_MAX: usize = 1440;

/// A ratio of two counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct RatioOf {
    /// Its name in exports.
    pub(super) name: &'static str,
    pub(super) of: Count,
    pub(super) per: Count,
}

/// All ratios.
pub(super) const RATIOS: &[RatioOf] = &[
    RatioOf { name: "hit_share", of: Count::Hits, per: Count::Requests },
    RatioOf { name: "line_ops_per_request", of: Count::LineOps, per: Count::Made },
    RatioOf { name: "inner_ops_per_request", of: Count::InnerOps, per: Count::Made },
    RatioOf { name: "vain_ops_per_request", of: Count::Vain, per: Count::Made },
    RatioOf { name: "members_per_group_request", of: Count::Members, per: Count::OfGroups },
    RatioOf { name: "calls_per_fetch", of: Count::Calls, per: Count::Fetches },
    RatioOf { name: "connects_per_fetch", of: Count::Connects, per: Count::Fetches },
    RatioOf { name: "bytes_per_request", of: Count::Bytes, per: Count::Requests },
];

/// The time in operations that compute. It depends on the machine, so nothing is concluded from it.
const COMPUTE: RatioOf = RatioOf { name: "compute_us_per_request", of: Count::ComputeNanos, per: Count::Made };

/// The counts of the last day, by minute.
#[derive(Debug, Default)]
pub(crate) struct Minutes {
    ended: VecDeque<(Millis, Cells)>,
    cells: usize,
    open: Cells,
}

/// An export.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The version of this form.
    pub format: u32,
    /// The version of the program.
    pub version: String,
    /// The end of its last minute.
    pub at: String,
    /// The minutes with requests or jobs.
    pub minutes: usize,
    /// Requests and jobs.
    pub requests: u64,
    /// By cost class; `jobs` are background jobs, and `none` requests that need no place in a class.
    pub classes: BTreeMap<String, BaselineClass>,
}

/// The requests of a cost class.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BaselineClass {
    /// How many.
    pub requests: u64,
    /// Microseconds in operations that compute, for a request that is not answered from memory. They depend on the machine.
    pub compute_us_per_request: Option<Ratio>,
    /// By kind of file and status, as `info 2xx`; of jobs by name.
    pub files: BTreeMap<String, BTreeMap<String, Ratio>>,
}

/// A ratio.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The ratio of the sums.
    pub value: f64,
    /// Two standard deviations of minutes below it.
    pub low: f64,
    /// Two standard deviations of minutes above it.
    pub high: f64,
    /// The sum that it is divided by.
    pub n: u64,
    /// The minutes with any.
    pub minutes: usize,
}

impl Minutes {
    /// A minute has ended.
    pub(super) fn end(&mut self, cells: Cells, at: Millis) {
        self.open = Cells::default();
        if cells.len() == 0 {
            return;
        }
        self.cells += cells.len();
        self.ended.push_back((at, cells));
        while self.ended.len() > MINUTES_MAX || self.cells > CELLS_MAX {
            let Some((_, oldest)) = self.ended.pop_front() else { return };
            self.cells -= oldest.len();
        }
    }

    /// The minute under way has these counts until now.
    pub(super) fn open(&mut self, cells: &Cells) {
        self.open = cells.clone();
    }

    /// What the minutes since a moment show.
    pub(crate) fn baseline(&self, since: Millis, now: Millis, version: &str) -> Baseline {
        let ended = self.ended.iter().filter(|(at, _)| *at >= since).map(|(_, cells)| cells);
        let minutes: Vec<&Cells> = ended.chain(Some(&self.open).filter(|open| open.len() > 0)).collect();
        let mut all = Cells::default();
        minutes.iter().for_each(|minute| all.add(minute));
        let mut baseline = Baseline {
            format: Baseline::FORMAT,
            version: version.to_owned(),
            at: now.to_string(),
            minutes: minutes.len(),
            ..Baseline::default()
        };
        for cell in all.iter() {
            let class = baseline.classes.entry(class(cell).to_owned()).or_default();
            class.requests += cell.of(Count::Requests);
            baseline.requests += cell.of(Count::Requests);
            let of_minutes: Vec<&Cell> =
                minutes.iter().filter_map(|minute| minute.iter().find(|one| one.key == cell.key)).collect();
            // Jobs are answers to nobody: they have neither hits nor bytes.
            let of_kind = RATIOS.iter().filter(|ratio| !cell.key.job || !matches!(ratio.per, Count::Requests));
            let ratios = of_kind.filter_map(|ratio| Some((ratio.name.to_owned(), of(*ratio, cell, &of_minutes)?)));
            class.files.insert(name(cell.key), ratios.collect());
        }
        for (name, of_class) in &mut baseline.classes {
            let sum = |cells: &Cells| {
                let mut sum = Cell::new(CellKey { job: false, file: "", status: 0 });
                for cell in cells.iter().filter(|cell| class(cell) == name) {
                    sum.counts.iter_mut().zip(cell.counts).for_each(|(mine, theirs)| *mine += theirs);
                }
                sum
            };
            let each: Vec<Cell> = minutes.iter().map(|minute| sum(minute)).collect();
            of_class.compute_us_per_request =
                of(COMPUTE, &sum(&all), &each.iter().collect::<Vec<_>>()).map(Ratio::in_thousands);
        }
        baseline
    }
}

impl Baseline {
    /// The present version of the form.
    pub const FORMAT: u32 = 1;
}

impl Ratio {
    fn in_thousands(self) -> Self {
        Self { value: self.value / 1e3, low: self.low / 1e3, high: self.high / 1e3, ..self }
    }
}

/// A ratio over all minutes, and how much minutes differ, weighted by their counts. `None`: there was nothing to divide by.
fn of(ratio: RatioOf, all: &Cell, minutes: &[&Cell]) -> Option<Ratio> {
    let n = all.of(ratio.per);
    if n == 0 {
        return None;
    }
    let value = all.of(ratio.of) as f64 / n as f64;
    let minutes: Vec<&&Cell> = minutes.iter().filter(|minute| minute.of(ratio.per) > 0).collect();
    let square = |minute: &&&Cell| {
        let per = minute.of(ratio.per) as f64;
        per * (minute.of(ratio.of) as f64 / per - value).powi(2)
    };
    let spread = 2.0 * (minutes.iter().map(square).sum::<f64>() / n as f64).sqrt();
    Some(Ratio { value, low: (value - spread).max(0.0), high: value + spread, n, minutes: minutes.len() })
}

fn class(cell: &Cell) -> &'static str {
    if cell.key.job { "jobs" } else { cell.class.map_or("none", |class| class.as_str()) }
}

fn name(key: CellKey) -> String {
    let file = if key.file.is_empty() { "other" } else { key.file };
    if key.job { file.to_owned() } else { format!("{file} {}xx", key.status) }
}
