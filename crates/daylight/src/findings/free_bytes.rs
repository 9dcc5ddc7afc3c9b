//! How many bytes of the disk were free, minute by minute and hour by hour.

use std::collections::VecDeque;
use std::time::Duration;
use telemetry::Tick;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
/// So many measures are kept of each.
const MOST: u32 = 60;

/// How many bytes were free: each minute of an hour, and each hour of two and a half days, by the monotonic clock.
#[derive(Debug, Default)]
pub(crate) struct FreeBytes {
    minutes: VecDeque<(Tick, u64)>,
    hours: VecDeque<(Tick, u64)>,
}

impl FreeBytes {
    /// Records a measure. Returns the earliest ones within an hour and within two and a half days: how long ago, and how many bytes.
    pub(super) fn record(&mut self, now: Tick, free: u64) -> [Option<(Duration, u64)>; 2] {
        let record = |samples: &mut VecDeque<(Tick, u64)>, every: Duration| {
            let ago = |at: Tick| Duration::from_nanos(now.since(at));
            if samples.back().is_none_or(|(at, _)| ago(*at) >= every) {
                samples.push_back((now, free));
            }
            while samples.len() > MOST as usize || samples.front().is_some_and(|(at, _)| ago(*at) > every * MOST) {
                samples.pop_front();
            }
            samples.front().map(|(at, free)| (ago(*at), *free)).filter(|(ago, _)| !ago.is_zero())
        };
        [record(&mut self.minutes, MINUTE), record(&mut self.hours, HOUR)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_measures_of_an_hour_and_of_days_are_told() {
        let (mut free, start) = (FreeBytes::default(), Tick::now());
        assert_eq!(free.record(start, 1000), [None, None]);
        let at = |minutes: u64| start.plus(minutes as u32 * MINUTE);
        assert_eq!(free.record(at(30), 900), [Some((30 * MINUTE, 1000)); 2]);
        for minute in 31..=300 {
            free.record(at(minute), 900 - minute);
        }
        let told = free.record(at(301), 500);
        assert_eq!(told, [Some((59 * MINUTE, 658)), Some((301 * MINUTE, 1000))]);
        assert_eq!(free.record(at(200 * 60), 400), [None, None], "all measures are too old");
        assert!(free.minutes.len() <= 60 && free.hours.len() <= 60);
    }
}
