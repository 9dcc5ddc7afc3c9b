//! Windows of five minutes, an hour and a day, as sums of shorter ones.

use super::seen::Seen;
use super::sliding::Sliding;
use super::window::Window;
use std::time::Duration;
use telemetry::Tick;

/// The length of the shortest stretch.
const STRETCH: Duration = Duration::from_secs(30);
/// Stretches in five minutes.
const RECENT: usize = 10;
/// Pieces of five minutes in an hour.
const OF_HOUR: usize = 12;
/// Hours of a day.
const OF_DAY: usize = 24;

/// The windows of the last day.
#[derive(Debug)]
pub(crate) struct Ring {
    began: Option<Tick>,
    last: Option<Tick>,
    /// The stretch under way.
    open: Window,
    /// Stretches of half a minute.
    stretches: Sliding,
    /// The stretches since the last piece.
    of_piece: Part,
    /// Pieces of five minutes.
    pieces: Sliding,
    /// The pieces since the last hour.
    of_hour: Part,
    hours: Sliding,
}

/// A sum that grows to a whole.
#[derive(Debug, Default)]
struct Part {
    sum: Window,
    count: usize,
}

impl Part {
    /// Adds a window. Returns the sum if it is whole.
    fn push(&mut self, window: &Window, whole: usize) -> Option<Window> {
        self.sum.add(window);
        self.count += 1;
        (self.count == whole).then(|| std::mem::take(self).sum)
    }
}

impl Default for Ring {
    fn default() -> Self {
        Self {
            began: None,
            last: None,
            open: Window::default(),
            stretches: Sliding::new(RECENT),
            of_piece: Part::default(),
            pieces: Sliding::new(OF_HOUR),
            of_hour: Part::default(),
            hours: Sliding::new(OF_DAY),
        }
    }
}

impl Ring {
    /// Adds the figures since the last call to all windows. A window loses its oldest stretch when a new one is complete at `now`; until
    /// then it grows. So sums of hundreds of repositories and clients are made again seldom: those of an hour each five minutes.
    pub(crate) fn take(&mut self, mut figures: Window, now: Tick, seen: &mut Seen) {
        let last = self.last.replace(now).unwrap_or(now);
        let began = *self.began.get_or_insert(now);
        seen.uptime = Duration::from_nanos(now.since(began));
        figures.length = Duration::from_nanos(now.since(last));
        self.open.add(&figures);
        if self.open.length < STRETCH {
            return [&mut seen.recent, &mut seen.hour, &mut seen.day].into_iter().for_each(|all| all.add(&figures));
        }
        let stretch = std::mem::take(&mut self.open);
        let piece = self.of_piece.push(&stretch, RECENT);
        self.stretches.push(stretch);
        seen.recent = self.stretches.sum();
        let Some(piece) = piece else {
            return [&mut seen.hour, &mut seen.day].into_iter().for_each(|all| all.add(&figures));
        };
        let hour = self.of_hour.push(&piece, OF_HOUR);
        self.pieces.push(piece);
        seen.hour = self.pieces.sum();
        match hour {
            Some(hour) => {
                self.hours.push(hour);
                seen.day = self.hours.sum();
            }
            None => seen.day.add(&figures),
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

    #[test]
    fn windows_have_the_figures_of_their_time_and_no_others() {
        let (mut ring, mut seen) = (Ring::default(), Seen::default());
        let mut one = Window::default();
        one.requests.all.requests = 1;
        let second = |n: u64| Tick(1 + n * 1_000_000_000);
        ring.take(Window::default(), second(0), &mut seen);
        for ten in 1..=30 * 360 {
            ring.take(one.clone(), second(10 * ten), &mut seen);
            let windows = [&seen.recent, &seen.hour, &seen.day];
            let counts = windows.map(|window| window.requests.all.requests);
            for window in windows {
                assert_eq!(window.requests.all.requests as f64, window.length.as_secs_f64() / 10.0, "after {ten}");
            }
            match ten {
                2 => assert_eq!(counts, [2, 2, 2]),
                1080 => assert_eq!(counts, [30, 360, 1080]),
                1087 => assert_eq!(counts, [31, 367, 1087]),
                10_800 => assert_eq!(counts, [30, 360, 24 * 360]),
                _ => assert!(counts[0] <= 32 && counts[1] <= 390 && counts[2] <= 25 * 360, "{counts:?}"),
            }
        }
        assert_eq!((ring.uptime().as_secs(), seen.uptime), (108_000, ring.uptime()));
    }
}
