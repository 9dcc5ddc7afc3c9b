//! Windows of five minutes, an hour and a day, as sums of shorter ones.

use super::window::Window;
use std::collections::VecDeque;
use std::time::Duration;
use telemetry::Tick;

/// The length of the shortest stretch.
const STRETCH: Duration = Duration::from_secs(30);
/// Stretches in five minutes.
const RECENT: usize = 10;
/// Minutes in an hour, in stretches of five minutes.
const OF_HOUR: usize = 12;
/// Hours of a day.
const OF_DAY: usize = 24;

/// The windows of the last day.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    began: Option<Tick>,
    last: Option<Tick>,
    /// Stretches of half a minute, the newest last.
    stretches: VecDeque<Window>,
    /// Complete stretches since the last piece of five minutes.
    pending: usize,
    /// Stretches of five minutes, the newest last.
    pieces: VecDeque<Window>,
    /// Pieces since the last hour.
    of_hour: usize,
    hours: VecDeque<Window>,
    open: Window,
}

impl Ring {
    /// Adds the figures since the last call, and closes stretches that are complete at `now`.
    pub(crate) fn take(&mut self, figures: &Window, now: Tick) {
        let last = self.last.replace(now).unwrap_or(now);
        self.began.get_or_insert(now);
        self.open.add(figures);
        self.open.length += Duration::from_nanos(now.since(last));
        if self.open.length < STRETCH {
            return;
        }
        self.stretches.push_back(std::mem::take(&mut self.open));
        if self.stretches.len() > RECENT {
            self.stretches.pop_front();
        }
        self.pending += 1;
        if self.pending < RECENT {
            return;
        }
        self.pending = 0;
        let piece = sum(self.stretches.iter());
        push(&mut self.pieces, piece, OF_HOUR);
        self.of_hour += 1;
        if self.of_hour == OF_HOUR {
            self.of_hour = 0;
            let hour = sum(self.pieces.iter());
            push(&mut self.hours, hour, OF_DAY - 1);
        }
    }

    /// The last five minutes.
    pub(crate) fn recent(&self) -> Window {
        sum(self.stretches.iter().chain([&self.open]))
    }

    /// The last hour.
    pub(crate) fn hour(&self) -> Window {
        sum(self.pieces.iter().chain(self.not_in_pieces()))
    }

    /// The last day.
    pub(crate) fn day(&self) -> Window {
        let pieces = self.pieces.iter().skip(self.pieces.len().saturating_sub(self.of_hour));
        sum(self.hours.iter().chain(pieces).chain(self.not_in_pieces()))
    }

    /// How long it has run.
    pub(crate) fn uptime(&self) -> Duration {
        match (self.began, self.last) {
            (Some(began), Some(last)) => Duration::from_nanos(last.since(began)),
            _ => Duration::ZERO,
        }
    }

    fn not_in_pieces(&self) -> impl Iterator<Item = &Window> {
        self.stretches.iter().skip(self.stretches.len().saturating_sub(self.pending)).chain([&self.open])
    }
}

fn push(ring: &mut VecDeque<Window>, window: Window, most: usize) {
    ring.push_back(window);
    if ring.len() > most {
        ring.pop_front();
    }
}

fn sum<'a>(windows: impl Iterator<Item = &'a Window>) -> Window {
    windows.fold(Window::default(), |mut sum, window| {
        sum.add(window);
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_have_the_figures_of_their_time_and_no_others() {
        let mut ring = Ring::default();
        let mut one = Window::default();
        one.requests.all.requests = 1;
        let second = |n: u64| Tick(1 + n * 1_000_000_000);
        ring.take(&Window::default(), second(0));
        for ten in 1..=3 * 360 {
            ring.take(&one, second(10 * ten));
        }
        let counts = [ring.recent(), ring.hour(), ring.day()].map(|window| window.requests.all.requests);
        assert_eq!(counts, [30, 360, 1080]);
        assert_eq!((ring.recent().seconds(), ring.uptime().as_secs()), (300.0, 10_800));
    }
}
