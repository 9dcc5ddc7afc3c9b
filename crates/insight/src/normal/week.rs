//! The hours of the week: for each subject the times of 168 hours, and of all hours together.

use super::times::Times;
use super::view::{Key, Normal, NormalView};
use crate::signals::normal::HOSTS_MAX;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, VecDeque};
use telemetry::{Class, Layer, Op};

/// Hours of a week.
const WEEK: i64 = 168;
/// An hour of the week with fewer times is no baseline: all hours are.
const HOUR_MIN: f64 = 30.0;

/// Hours that are remembered as counted.
const COUNTED_MAX: usize = 168;

/// Times by the names of their subjects.
pub(super) type Hour = BTreeMap<String, Times>;

/// The hours of the week.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Week {
    /// The hours that it has figures of, ever.
    pub(super) hours: u64,
    /// The last ones of them, since the beginning of 1970.
    #[serde(default)]
    counted: VecDeque<i64>,
    /// By the names of subjects.
    subjects: BTreeMap<String, Subject>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Subject {
    /// All hours.
    all: Slot,
    /// By hour of the week.
    hours: BTreeMap<i64, Slot>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Slot {
    /// The last hour that it has times of, since the beginning of 1970.
    at: i64,
    times: Times,
}

impl Slot {
    fn add(&mut self, hour: i64, times: &Times) {
        // Times of a week ago count half.
        self.times.fade(0.5_f64.powf(hour.saturating_sub(self.at).max(0) as f64 / WEEK as f64));
        self.times.add(times);
        self.at = self.at.max(hour);
    }
}

impl Week {
    /// Adds an hour, which is counted since the beginning of 1970.
    pub(super) fn add(&mut self, hour: i64, times: &Hour) {
        // An idle hour has the operations of jobs alone, and an hour to which the clock is set back was counted.
        let is_idle = times.keys().all(|name| name.starts_with("op:"));
        if !is_idle && !self.counted.contains(&hour) {
            self.hours = self.hours.saturating_add(1);
            self.counted.push_back(hour);
            if self.counted.len() > COUNTED_MAX {
                self.counted.pop_front();
            }
        }
        for (name, times) in times {
            if !self.subjects.contains_key(name) && !self.has_room(name, hour) {
                continue;
            }
            let subject = self.subjects.entry(name.clone()).or_default();
            subject.all.add(hour, times);
            subject.hours.entry(hour.rem_euclid(WEEK)).or_default().add(hour, times);
        }
    }

    /// Only hosts are without number. One that was not called for four weeks makes room.
    fn has_room(&mut self, name: &str, hour: i64) -> bool {
        const HOST: &str = "upstream:";
        if !name.starts_with(HOST) {
            return true;
        }
        let hosts = |all: &BTreeMap<String, Subject>| all.keys().filter(|name| name.starts_with(HOST)).count();
        if hosts(&self.subjects) >= HOSTS_MAX {
            self.subjects
                .retain(|name, subject| !name.starts_with(HOST) || hour.saturating_sub(subject.all.at) < 4 * WEEK);
        }
        hosts(&self.subjects) < HOSTS_MAX
    }

    /// The usual times of an hour.
    pub(super) fn normal(&self, hour: i64) -> HashMap<Key, Normal> {
        let mut normal = HashMap::new();
        if self.hours < NormalView::NEEDED_HOURS {
            return normal;
        }
        for (name, subject) in &self.subjects {
            let Some(key) = Key::read(name) else { continue };
            let of_hour = subject.hours.get(&hour.rem_euclid(WEEK)).filter(|_| self.hours >= NormalView::WEEK_HOURS);
            let slot = of_hour.filter(|slot| slot.times.count() >= HOUR_MIN).unwrap_or(&subject.all);
            if slot.times.count() >= HOUR_MIN {
                normal.insert(key, slot.times.normal());
            }
        }
        normal
    }
}

impl Key {
    /// Its name where it is kept: `class:downloads`.
    pub(super) fn name(&self) -> String {
        match self {
            Key::Class(class) => format!("class:{}", class.as_str()),
            Key::Layer(layer) => format!("layer:{}", layer.as_str()),
            Key::Op(op) => format!("op:{}", op.as_str()),
            Key::Upstream(host) => format!("upstream:{host}"),
        }
    }

    /// Reads a name. `None`: another version of the program kept it.
    fn read(name: &str) -> Option<Self> {
        let (kind, name) = name.split_once(':')?;
        Some(match kind {
            "class" => Key::Class(Class::ALL.iter().copied().find(|class| class.as_str() == name)?),
            "layer" => Key::Layer(Layer::ALL.iter().copied().find(|layer| layer.as_str() == name)?),
            "op" => Key::Op(Op::ALL.iter().copied().find(|op| op.as_str() == name)?),
            "upstream" => Key::Upstream(name.into()),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::Histogram;

    const HOST: &str = "upstream:a.test:443";

    fn hour(times: u64, each: u64) -> Hour {
        let mut histogram = Histogram::default();
        histogram.record_many(each, times);
        Hour::from([(HOST.to_owned(), Times::of_minute(&histogram))])
    }

    fn normal(week: &Week, hour: i64) -> Option<f64> {
        week.normal(hour).get(&Key::Upstream("a.test:443".into())).map(|normal| normal.mean)
    }

    #[test]
    fn nothing_is_normal_before_a_day_and_hours_are_told_apart_after_a_week() {
        let mut week = Week::default();
        // At night, in the hours 0 to 11 of each day, it takes four times as long.
        let times = |at: i64| hour(40, if at % 24 < 12 { 4000 } else { 1000 });
        for at in 0..23 {
            week.add(at, &times(at));
            assert_eq!(normal(&week, at), None);
        }
        week.add(23, &times(23));
        let mean = normal(&week, 5).unwrap();
        assert!((2000.0..3000.0).contains(&mean), "{mean}");
        assert_eq!(normal(&week, 15), Some(mean), "all hours together");
        (24..168).for_each(|at| week.add(at, &times(at)));
        assert_eq!([5, 15].map(|at| normal(&week, 168 + at)), [Some(4000.0), Some(1000.0)]);
    }

    #[test]
    fn an_idle_hour_and_an_hour_that_comes_again_are_no_hours_of_figures() {
        let mut week = Week::default();
        (0..48).for_each(|at| week.add(at, &Hour::new()));
        assert_eq!(week.hours, 0);
        // The clock is set to another hour and back.
        (0..48).for_each(|at| week.add(100 + at % 2, &hour(40, 1000)));
        assert_eq!((week.hours, normal(&week, 100)), (2, None));
        week.add(102, &hour(40, 1000));
        week.add(103, &Hour::from([("op:truth.read".to_owned(), Times::default())]));
        assert_eq!(week.hours, 3);
        // It was set years ahead, and is right again.
        [100_000, 104, 105].into_iter().for_each(|at| week.add(at, &hour(40, 1000)));
        assert_eq!(week.hours, 6);
    }

    #[test]
    fn an_hour_of_a_damaged_file_is_no_panic() {
        let mut week = Week::default();
        week.add(i64::MIN, &hour(40, 1000));
        week.hours = u64::MAX;
        week.add(i64::MAX, &hour(40, 1000));
        week.add(0, &hour(40, 1000));
        assert!(normal(&week, 0).is_some());
    }

    #[test]
    fn an_hour_of_the_week_with_few_times_gives_way_to_all_hours() {
        let mut week = Week::default();
        (0..168).for_each(|at| week.add(at, &if at == 9 { hour(3, 9000) } else { hour(40, 1000) }));
        let mean = normal(&week, 9).unwrap();
        assert!((1000.0..1100.0).contains(&mean), "{mean}");
    }

    #[test]
    fn what_is_a_week_old_counts_half() {
        let mut week = Week::default();
        (0..168).for_each(|at| week.add(at, &hour(40, 1000)));
        week.add(168, &hour(40, 4000));
        assert_eq!(normal(&week, 168), Some((20.0 * 1000.0 + 40.0 * 4000.0) / 60.0));
    }

    #[test]
    fn hosts_have_a_most_and_one_that_nobody_calls_makes_room() {
        let mut week = Week::default();
        let hosts =
            |from: usize| (from..from + HOSTS_MAX).map(|n| (format!("upstream:{n}.test:443"), Times::default()));
        week.add(0, &hosts(0).collect());
        week.add(1, &hour(1, 1));
        assert!(!week.subjects.contains_key(HOST));
        week.add(1000, &hour(1, 1));
        assert!(week.subjects.contains_key(HOST) && week.subjects.len() == 1);
    }

    #[test]
    fn each_subject_has_a_name_of_its_own() {
        let keys = [
            Key::Class(Class::Small),
            Key::Layer(Layer::Group),
            Key::Op(Op::TruthRead),
            Key::Upstream("a.test:443".into()),
        ];
        keys.into_iter().for_each(|key| assert_eq!(Key::read(&key.name()), Some(key)));
        assert_eq!(Key::read("class:of-another-version"), None);
    }
}
