//! Holds two exports against each other: which ratios differ, and of which classes there is too little to say.

use super::baseline::{Baseline, RATIOS, Ratio};
use serde::Serialize;
use std::collections::BTreeSet;

/// Requests of a class that each side must have.
const REQUESTS_MIN: u64 = 1000;
/// Minutes that each side must have of a ratio, so that its spread is known.
const MINUTES_MIN: usize = 3;
/// Of a kind of file with fewer on one side nothing is compared.
const FILE_MIN: u64 = 30;
/// The part of the requests of each side that kinds of files of both sides must have.
const SAME_MIX: f64 = 0.8;
/// A smaller difference is none: five of a hundred.
const CHANGE_MIN: f64 = 0.05;
/// A smaller difference is none: a share, or operations of a request.
const DIFFERENCE_MIN: f64 = 0.01;

/// Two exports beside each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BaselineDifference {
    /// The versions of the program.
    pub versions: [String; 2],
    /// How many ratios were compared.
    pub compared: usize,
    /// The ratios that differ, the largest change first.
    pub differs: Vec<RatioPair>,
    /// The ratios that do not.
    pub same: Vec<RatioPair>,
    /// What could not be compared, and why.
    pub not_compared: Vec<NotCompared>,
}

/// A ratio of both sides, with the kinds of files in the same proportion.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RatioPair {
    /// The cost class.
    pub class: String,
    /// The name of the ratio.
    pub ratio: String,
    /// The ratio of the first export.
    pub a: Ratio,
    /// The ratio of the second.
    pub b: Ratio,
    /// The change from the first to the second, as a part of the first: 1.0 is twice as much. `None`: the first is 0.
    pub change: Option<f64>,
    /// The kinds of files that changed most, the largest change first.
    pub files: Vec<String>,
}

/// What could not be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotCompared {
    /// The cost class.
    pub class: String,
    /// The ratio. `None`: all of the class.
    pub ratio: Option<String>,
    /// Why.
    pub why: String,
}

impl Baseline {
    /// Compares this export with a later one.
    pub fn compare(&self, later: &Baseline) -> BaselineDifference {
        let mut found = BaselineDifference {
            versions: [self.version.clone(), later.version.clone()],
            ..BaselineDifference::default()
        };
        let classes: BTreeSet<&String> = self.classes.keys().chain(later.classes.keys()).collect();
        for class in classes {
            let requests = [self, later].map(|side| side.classes.get(class).map_or(0, |class| class.requests));
            if requests.iter().any(|requests| *requests < REQUESTS_MIN) {
                let why = format!("{} and {} requests; each side needs {REQUESTS_MIN}", requests[0], requests[1]);
                found.not_compared.push(NotCompared { class: class.clone(), ratio: None, why });
                continue;
            }
            for ratio in RATIOS {
                match self.pair(later, class, ratio.name) {
                    None => {}
                    Some(Err(why)) => {
                        let ratio = Some(ratio.name.to_owned());
                        found.not_compared.push(NotCompared { class: class.clone(), ratio, why });
                    }
                    Some(Ok(pair)) => {
                        found.compared += 1;
                        if pair.differs() { found.differs.push(pair) } else { found.same.push(pair) }
                    }
                }
            }
        }
        found.differs.sort_by(|one, other| other.size().total_cmp(&one.size()));
        found
    }

    /// A ratio of a class on both sides. `None`: neither has it.
    fn pair(&self, later: &Baseline, class: &str, ratio: &str) -> Option<Result<RatioPair, String>> {
        let files = |side: &Baseline| -> Vec<(String, Ratio)> {
            let files = side.classes.get(class).map(|class| &class.files);
            let of = files.into_iter().flatten().filter_map(|(file, ratios)| Some((file.clone(), *ratios.get(ratio)?)));
            of.collect()
        };
        let (mine, theirs) = (files(self), files(later));
        let sum = |files: &[(String, Ratio)]| files.iter().map(|(_, ratio)| ratio.n).sum::<u64>();
        let all = [sum(&mine), sum(&theirs)];
        if all == [0, 0] {
            return None;
        }
        let both = mine.iter().filter_map(|(file, a)| {
            let (_, b) = theirs.iter().find(|(other, _)| other == file)?;
            (a.n >= FILE_MIN && b.n >= FILE_MIN).then_some((file, a, b))
        });
        let both: Vec<(&String, &Ratio, &Ratio)> = both.collect();
        let seen = [both.iter().map(|(_, a, _)| a.n).sum::<u64>(), both.iter().map(|(_, _, b)| b.n).sum::<u64>()];
        if (seen[0] as f64) < SAME_MIX * all[0] as f64 || (seen[1] as f64) < SAME_MIX * all[1] as f64 || both.is_empty()
        {
            return Some(Err("too few requests of the same kinds of files on both sides".to_owned()));
        }
        if both.iter().any(|(_, a, b)| a.minutes.min(b.minutes) < MINUTES_MIN) {
            return Some(Err(format!("each side needs {MINUTES_MIN} minutes with such requests")));
        }
        // Both sides with the proportion of both together, so that another mix of files is no difference.
        let weight = |a: &Ratio, b: &Ratio| (a.n + b.n) as f64 / (seen[0] + seen[1]) as f64;
        let side = |of: fn(&(&String, &Ratio, &Ratio)) -> Ratio| {
            both.iter().fold(Ratio::default(), |sum, one| {
                let (ratio, weight) = (of(one), weight(one.1, one.2));
                Ratio {
                    value: sum.value + weight * ratio.value,
                    low: sum.low + weight * ratio.low,
                    high: sum.high + weight * ratio.high,
                    n: sum.n + ratio.n,
                    minutes: sum.minutes.max(ratio.minutes),
                }
            })
        };
        let (a, b) = (side(|one| *one.1), side(|one| *one.2));
        let mut files: Vec<(&String, f64)> =
            both.iter().map(|(file, a, b)| (*file, weight(a, b) * (b.value - a.value).abs())).collect();
        files.retain(|(_, change)| *change > 0.0);
        files.sort_by(|one, other| other.1.total_cmp(&one.1));
        Some(Ok(RatioPair {
            class: class.to_owned(),
            ratio: ratio.to_owned(),
            change: (a.value > 0.0).then(|| (b.value - a.value) / a.value),
            a,
            b,
            files: files.into_iter().take(3).map(|(file, _)| file.clone()).collect(),
        }))
    }
}

impl RatioPair {
    fn differs(&self) -> bool {
        let Self { a, b, .. } = self;
        let outside = |value: f64, of: &Ratio| value < of.low || value > of.high;
        let difference = (a.value - b.value).abs();
        difference > CHANGE_MIN * a.value.max(b.value)
            && difference > DIFFERENCE_MIN
            && outside(a.value, b)
            && outside(b.value, a)
    }

    fn size(&self) -> f64 {
        self.change.map_or(f64::INFINITY, f64::abs)
    }
}

#[cfg(test)]
mod tests;
