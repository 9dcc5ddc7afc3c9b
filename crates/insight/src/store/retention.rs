//! Which segments stay: the oldest are thinned, and later removed.

use super::names::SegmentName;
use std::time::Duration;
use telemetry::Millis;

/// The next step of retention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Remove the segment at this place.
    Remove(usize),
    /// Thin the segment at this place.
    Thin(usize),
}

/// The limits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Bytes of all files.
    pub(super) bytes: u64,
    /// How long an event is kept.
    pub(super) age: Duration,
}

impl Limits {
    /// Thinned segments have at most this part of the bytes.
    const THINNED_PART: u64 = 4;

    /// The next step, until all is within the limits. `segments` are in the order of their last moments, each with its size. `others` are
    /// the bytes of other files.
    pub(super) fn next(&self, segments: &[(&SegmentName, u64)], others: u64, now: Millis) -> Option<Step> {
        let oldest_allowed = now.0.saturating_sub(i64::try_from(self.age.as_millis()).unwrap_or(i64::MAX));
        if let Some((oldest, _)) = segments.first()
            && oldest.to < oldest_allowed
        {
            return Some(Step::Remove(0));
        }
        let bytes = |thinned: bool| -> u64 {
            segments.iter().filter(|(name, _)| (name.thinned > 0) == thinned).map(|(_, bytes)| bytes).sum()
        };
        let (whole, thinned) = (bytes(false), bytes(true));
        if whole.saturating_add(thinned).saturating_add(others) <= self.bytes {
            return None;
        }
        // The newest one is never thinned.
        let older = segments.len().saturating_sub(1);
        let first_whole = segments[..older].iter().position(|(name, _)| name.thinned == 0);
        match first_whole {
            Some(place) if thinned < self.bytes / Self::THINNED_PART => Some(Step::Thin(place)),
            _ => (!segments.is_empty()).then_some(Step::Remove(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DAY: i64 = 24 * 60 * 60 * 1000;

    fn segment(day: i64, thinned: u8) -> SegmentName {
        let first = day.cast_unsigned();
        SegmentName { from: day * DAY, to: (day + 1) * DAY, rows: 10, first, last: first, thinned }
    }

    fn limits(bytes: u64, days: u64) -> Limits {
        Limits { bytes, age: Duration::from_secs(days * 24 * 60 * 60) }
    }

    /// The segments that are left, if thinning leaves a tenth of the bytes.
    fn run(limits: Limits, mut segments: Vec<(SegmentName, u64)>, now: i64) -> Vec<(SegmentName, u64)> {
        loop {
            let named: Vec<_> = segments.iter().map(|(name, bytes)| (name, *bytes)).collect();
            match limits.next(&named, 0, Millis(now)) {
                None => return segments,
                Some(Step::Remove(place)) => drop(segments.remove(place)),
                Some(Step::Thin(place)) => {
                    let (name, bytes) = &mut segments[place];
                    assert_eq!(name.thinned, 0, "thinned once");
                    (name.thinned, *bytes) = (1, *bytes / 10);
                }
            }
        }
    }

    #[test]
    fn the_oldest_are_thinned_and_then_removed_while_a_day_comes_each_day() {
        let mut segments = Vec::new();
        for day in 0..100 {
            segments.push((segment(day, 0), 100));
            segments = run(limits(1000, 90), segments, (day + 1) * DAY);
        }
        let days = |thinned: u8| segments.iter().filter(|(name, _)| name.thinned == thinned).count();
        assert_eq!((days(0), days(1)), (7, 25), "of ten days' bytes a quarter has 25 days");
        assert!(segments.is_sorted_by_key(|(name, _)| (std::cmp::Reverse(name.thinned), name.to)));
        assert_eq!(segments.last().unwrap().0, segment(99, 0));
    }

    #[test]
    fn what_is_too_old_is_removed_though_there_is_room() {
        let all: Vec<_> = (0..10).map(|day| (segment(day, 0), 1)).collect();
        let left = run(limits(1000, 3), all, 10 * DAY);
        assert_eq!(left.iter().map(|(name, _)| name.first).collect::<Vec<_>>(), [6, 7, 8, 9]);
    }

    proptest! {
        #[test]
        fn whatever_there_is_ends_within_the_limits_and_keeps_the_newest(
            sizes in proptest::collection::vec((1u64..1000, 0u8..2), 1..40), bytes in 1u64..5000, days in 1u64..60,
        ) {
            let last = sizes.len() as i64;
            let all: Vec<_> =
                sizes.iter().enumerate().map(|(day, (bytes, thinned))| (segment(day as i64, *thinned), *bytes)).collect();
            let newest = all.last().unwrap().clone();
            let left = run(limits(bytes, days), all, last * DAY);
            let sum: u64 = left.iter().map(|(_, bytes)| bytes).sum();
            prop_assert!(sum <= bytes);
            prop_assert!(newest.1 > bytes || left.last() == Some(&newest));
            prop_assert!(left.iter().all(|(name, _)| name.to >= (last - days as i64) * DAY));
        }
    }
}
