//! Windows of five minutes, an hour and a day, as sums of shorter ones.

use super::seen::Seen;
use super::sliding::Sliding;
use super::window::Window;
use std::time::Duration;
use telemetry::Tick;

/// The length of the shortest stretch.
const STRETCH: Duration = Duration::from_secs(60);
/// Stretches in five minutes.
const RECENT: usize = 5;
/// Pieces of five minutes in an hour.
const OF_HOUR: usize = 12;
/// Hours of a day.
const OF_DAY: usize = 24;

/// The windows of the last day.
#[derive(Debug)]
pub(crate) struct Ring {
    began: Option<Tick>,
    last: Option<Tick>,
    /// The figures of the stretch under way, as they were taken.
    open: Vec<Window>,
    /// How many of them are in the sums of an hour and a day, and how many of the stretches of the piece under way.
    told: usize,
    told_stretches: usize,
    /// Stretches of a minute.
    stretches: Sliding,
    /// Pieces of five minutes.
    pieces: Sliding,
    hours: Sliding,
}

impl Default for Ring {
    fn default() -> Self {
        Self {
            began: None,
            last: None,
            open: Vec::new(),
            told: 0,
            told_stretches: 0,
            stretches: Sliding::new(RECENT),
            pieces: Sliding::new(OF_HOUR),
            hours: Sliding::new(OF_DAY),
        }
    }
}

impl Ring {
    /// Adds the figures since the last call to all windows. A window loses its oldest stretch when a new one is complete at `now`; until then
    /// it grows. So sums of hundreds of repositories and clients are made again seldom: those of an hour each five minutes. Figures come into
    /// the sums of an hour and a day each five minutes, in the first five each minute. `whole`: at once.
    pub(crate) fn take(&mut self, mut figures: Window, now: Tick, whole: bool, seen: &mut Seen) {
        let last = self.last.replace(now).unwrap_or(now);
        let began = *self.began.get_or_insert(now);
        seen.uptime = Duration::from_nanos(now.since(began));
        figures.length = Duration::from_nanos(now.since(last));
        figures.clients.blame();
        self.open.push(figures);
        if self.open.iter().map(|figures| figures.length).sum::<Duration>() >= STRETCH {
            return self.end_stretch(seen);
        }
        self.open.last().into_iter().for_each(|figures| seen.recent.add(figures));
        if whole {
            self.tell(seen);
        }
    }

    /// Adds the figures that they have not to the sums of an hour and a day.
    fn tell(&mut self, seen: &mut Seen) {
        let stretches = self.stretches.newer();
        for figures in stretches[self.told_stretches..].iter().chain(&self.open[self.told..]) {
            seen.hour.add(figures);
            seen.day.add(figures);
        }
        (self.told_stretches, self.told) = (stretches.len(), self.open.len());
    }

    fn end_stretch(&mut self, seen: &mut Seen) {
        let is_first = self.pieces.is_empty();
        if self.told > 0 {
            self.tell(seen);
        }
        let mut open = self.open.drain(..);
        let mut stretch = open.next().unwrap_or_default();
        open.for_each(|figures| stretch.add(&figures));
        if std::mem::take(&mut self.told) > 0 {
            self.told_stretches += 1;
        } else if is_first || self.told_stretches > 0 {
            self.open.push(stretch);
            self.tell(seen);
            stretch = self.open.pop().unwrap_or_default();
            (self.told, self.told_stretches) = (0, self.told_stretches + 1);
        }
        seen.recent = self.stretches.push(stretch);
        if !self.stretches.is_round() {
            return;
        }
        seen.hour = self.pieces.push(seen.recent.clone());
        let is_told = std::mem::take(&mut self.told_stretches) > 0;
        if self.pieces.is_round() {
            seen.day = self.hours.push(seen.hour.clone());
        } else if !is_told {
            seen.day.add(&seen.recent);
        }
    }

    /// How long it has run.
    pub(crate) fn uptime(&self) -> Duration {
        match (self.began, self.last) {
            (Some(began), Some(last)) => Duration::from_nanos(last.since(began)),
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one() -> Window {
        let mut one = Window::default();
        one.requests.all.requests = 1;
        one
    }

    fn second(n: u64) -> Tick {
        Tick(1 + n * 1_000_000_000)
    }

    fn counts(seen: &Seen) -> [u64; 3] {
        [&seen.recent, &seen.hour, &seen.day].map(|window| window.requests.all.requests)
    }

    #[test]
    fn windows_have_the_figures_of_their_time_and_no_others() {
        let (mut ring, mut seen) = (Ring::default(), Seen::default());
        ring.take(Window::default(), second(0), true, &mut seen);
        for ten in 1..=30 * 360 {
            // Somebody asks now and then.
            ring.take(one(), second(10 * ten), ten % 7 < 5, &mut seen);
            for window in [&seen.recent, &seen.hour, &seen.day] {
                assert_eq!(window.requests.all.requests as f64, window.length.as_secs_f64() / 10.0, "after {ten}");
            }
            let counts = counts(&seen);
            match ten {
                2 => assert_eq!(counts, [2, 2, 2]),
                1080 => assert_eq!(counts, [30, 360, 1080]),
                1087 => assert_eq!(counts, [31, 367, 1087]),
                10_800 => assert_eq!(counts, [30, 360, 24 * 360]),
                _ => assert!(counts[0] <= 35 && counts[1] <= 390 && counts[2] <= 25 * 360, "{counts:?}"),
            }
        }
        assert_eq!((ring.uptime().as_secs(), seen.uptime), (108_000, ring.uptime()));
    }

    #[test]
    fn an_hour_and_a_day_get_all_figures_once_each_five_minutes_or_when_somebody_asks() {
        let (mut ring, mut seen) = (Ring::default(), Seen::default());
        let mut told: Vec<(u64, u64)> = Vec::new();
        for ten in 0..=100 {
            ring.take(one(), second(10 * ten), [2, 65, 77, 80].contains(&ten), &mut seen);
            let [_, hour, day] = counts(&seen);
            assert_eq!(hour, day, "after {ten}");
            if told.last().is_none_or(|(_, before)| *before != hour) {
                told.push((ten, hour));
            }
        }
        let first = [(0, 0), (2, 3), (6, 7), (12, 13), (18, 19), (24, 25), (30, 31)];
        let asked = [(60, 61), (65, 66), (66, 67), (72, 73), (77, 78), (78, 79), (80, 81), (84, 85), (90, 91)];
        assert_eq!(told, [&first[..], &asked].concat());
    }
}
