//! Takes the figures of each minute: into the hour under way, the weeks, the last ten minutes, and the minutes for exports.

use super::baseline::Minutes;
use super::keeping::{HourUnderWay, Keeping};
use super::times::Times;
use super::view::{Key, MinuteOf, NormalView};
use super::week::Week;
use crate::signals::normal::NormalSeen;
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use telemetry::{Log, Millis, Tick, lock};

/// The minutes that checks read.
const LAST: usize = 10;
/// A minute, by the monotonic clock.
const MINUTE_NANOS: u64 = 60_000_000_000;
/// Milliseconds of a minute, and minutes of an hour, by the time of day.
const MINUTE_MS: i64 = 60_000;
const HOUR_MINUTES: i64 = 60;

/// The baselines, on the thread of findings.
#[derive(Debug)]
pub(crate) struct Normals {
    keeping: Keeping,
    week: Week,
    under_way: HourUnderWay,
    /// The minute under way: its figures, when it began, and its number by the time of day.
    open: NormalSeen,
    began: Option<(Tick, i64)>,
    last: VecDeque<HashMap<Key, MinuteOf>>,
    view: Arc<NormalView>,
    minutes: Arc<Mutex<Minutes>>,
    log: Log,
    /// Whether the log knows that nothing can be written.
    told: bool,
}

impl Normals {
    /// Continues with the baselines of a folder.
    pub(crate) fn open(folder: Option<PathBuf>, minutes: Arc<Mutex<Minutes>>, log: Log) -> Self {
        let keeping = Keeping(folder);
        let (week, under_way) = keeping.read();
        Self {
            keeping,
            week,
            under_way,
            open: NormalSeen::default(),
            began: None,
            last: VecDeque::new(),
            view: Arc::default(),
            minutes,
            log,
            told: false,
        }
    }

    /// The files of a folder.
    pub(crate) fn files(folder: &Path) -> [PathBuf; 2] {
        Keeping::files(folder)
    }

    /// Takes the figures since the last call. The minute under way ends when a minute has passed by either clock.
    pub(crate) fn take(&mut self, figures: &NormalSeen, now: Millis, tick: Tick) -> Arc<NormalView> {
        let minute = now.0.div_euclid(MINUTE_MS);
        let (began, of) = *self.began.get_or_insert((tick, minute));
        self.open.add(figures);
        let ended = minute != of || tick.since(began) >= MINUTE_NANOS;
        if ended {
            self.end_minute(of, now);
            self.began = Some((tick, minute));
        }
        if ended || self.view.hours == 0 {
            self.begin_hour(minute.div_euclid(HOUR_MINUTES));
            let normal = self.week.normal(minute.div_euclid(HOUR_MINUTES));
            let (hours, minutes) = (self.week.hours, self.last.iter().cloned().collect());
            self.view = Arc::new(NormalView { hours, normal, minutes });
        }
        lock(&self.minutes).open(&self.open.cells);
        self.view.clone()
    }

    /// Writes the minute under way, at the end.
    pub(crate) fn close(&mut self, now: Millis) {
        if let Some((_, minute)) = self.began {
            self.end_minute(minute, now);
        }
    }

    fn end_minute(&mut self, minute: i64, now: Millis) {
        self.begin_hour(minute.div_euclid(HOUR_MINUTES));
        let figures = std::mem::take(&mut self.open);
        let mut last = HashMap::new();
        for (key, times) in figures.times() {
            let of = MinuteOf { n: times.count(), median: times.quantile(0.5) as f64, sum: times.sum() as f64 };
            self.under_way.times.entry(key.name()).or_default().add(&Times::of_minute(times));
            last.insert(key, of);
        }
        self.last.push_back(last);
        if self.last.len() > LAST {
            self.last.pop_front();
        }
        lock(&self.minutes).end(figures.cells, now);
        let written = self.keeping.write_hour(&self.under_way);
        self.report(written);
    }

    /// The hour of the minute under way. The one before goes into the weeks.
    fn begin_hour(&mut self, hour: i64) {
        if self.under_way.hour == Some(hour) {
            return;
        }
        let ended =
            std::mem::replace(&mut self.under_way, HourUnderWay { hour: Some(hour), times: Default::default() });
        if let Some(hour) = ended.hour {
            self.week.add(hour, &ended.times);
            let written = self.keeping.write_week(&self.week).and_then(|()| self.keeping.write_hour(&self.under_way));
            self.report(written);
        }
    }

    fn report(&mut self, written: std::io::Result<()>) {
        if let Err(error) = written
            && !self.told
        {
            self.told = true;
            self.log
                .warn("the usual times of requests cannot be written, a restart would lose them", &[("cause", &error)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::{Class, Event, Figures, Glance, Outcome};

    const HOUR: i64 = 3_600_000;

    fn figures(requests: u64, nanos: u64) -> NormalSeen {
        let mut seen = NormalSeen::default();
        let mut event = Event::request(Millis(1), Tick(1));
        (event.class, event.outcome, event.first_byte) = (Some(Class::Downloads), Some(Outcome::Done), nanos);
        let figures = Figures::of(&event);
        (0..requests).for_each(|_| seen.see(&Glance::of(&event, &figures)));
        seen
    }

    fn downloads(view: &NormalView) -> Option<f64> {
        view.expects(&Key::Class(Class::Downloads)).map(|normal| normal.n)
    }

    #[test]
    fn a_day_of_hours_makes_a_normal_which_a_restart_keeps() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Normals::open(Some(folder.path().to_owned()), Arc::default(), Log::silent());
        let mut normals = open();
        // The time of day jumps from hour to hour, and no time passes.
        for hour in 0..24 {
            let view = normals.take(&figures(10, 1000), Millis(hour * HOUR), Tick(1));
            assert_eq!((view.hours, downloads(&view)), (hour as u64, None));
        }
        // The figures of a call belong to the hour that was under way, and an hour without any does not count.
        normals.take(&figures(10, 1000), Millis(23 * HOUR), Tick(1));
        normals.close(Millis(24 * HOUR));
        let mut again = open();
        let view = again.take(&NormalSeen::default(), Millis(24 * HOUR), Tick(1));
        assert_eq!(view.hours, 24);
        assert!(downloads(&view).is_some_and(|n| (200.0..=250.0).contains(&n)), "{view:?}");
    }

    #[test]
    fn the_hour_under_way_is_not_among_what_is_normal_and_a_restart_continues_it() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Normals::open(Some(folder.path().to_owned()), Arc::default(), Log::silent());
        let mut normals = open();
        normals.take(&figures(10, 1000), Millis(0), Tick(1));
        // A minute by the monotonic clock alone.
        let view = normals.take(&figures(5, 1000), Millis(0), Tick(1 + MINUTE_NANOS));
        let minutes: Vec<u64> = view.minutes_of(&Key::Class(Class::Downloads)).map(|minute| minute.n).collect();
        assert_eq!((minutes, view.hours), (vec![15], 0));
        drop(normals);
        let mut again = open();
        again.take(&figures(7, 1000), Millis(60_000), Tick(1));
        again.close(Millis(120_000));
        assert_eq!(again.under_way.times["class:downloads"].count(), 22.0);
        assert_eq!(open().under_way, again.under_way);
    }

    #[test]
    fn only_the_last_ten_minutes_are_told_and_a_quiet_one_is_among_them() {
        let mut normals = Normals::open(None, Arc::default(), Log::silent());
        for minute in 0..30 {
            let figures = if minute == 25 { NormalSeen::default() } else { figures(minute, 1000) };
            normals.take(&figures, Millis(minute as i64 * MINUTE_MS), Tick(1));
        }
        let view = normals.take(&NormalSeen::default(), Millis(30 * MINUTE_MS), Tick(1));
        let minutes: Vec<u64> = view.minutes_of(&Key::Class(Class::Downloads)).map(|minute| minute.n).collect();
        // The figures of a call belong to the minute that was under way since the last one.
        assert_eq!(minutes.len(), LAST);
        assert_eq!(minutes.iter().sum::<u64>(), (21..30).sum::<u64>() - 25);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test damages a file")]
    fn a_file_that_cannot_be_read_is_none() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("normal-week"), "damaged").unwrap();
        let mut normals = Normals::open(Some(folder.path().to_owned()), Arc::default(), Log::silent());
        assert_eq!(normals.take(&figures(1, 1), Millis(0), Tick(1)).hours, 0);
    }
}
