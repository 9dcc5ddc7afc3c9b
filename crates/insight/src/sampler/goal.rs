//! How many events are stored for each second.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The bytes that stored events may take, and the bytes that one takes, of which the store tells the sampler.
#[derive(Debug)]
pub struct Budget {
    bytes: u64,
    /// Bytes of a stored event, times 256.
    each: AtomicU64,
}

impl Budget {
    /// Bytes of a stored event before the first flush: those of a segment with ordinary traffic.
    const ESTIMATE: u64 = 60;

    /// `bytes`: the most that stored events may take. 0: none is stored.
    pub fn new(bytes: u64) -> Arc<Self> {
        Arc::new(Self { bytes, each: AtomicU64::new(Self::ESTIMATE * 256) })
    }

    /// A segment of this many rows took this many bytes. The bytes of an event are those of the last segments, in which an older one
    /// counts less.
    pub fn flushed(&self, rows: u64, bytes: u64) {
        let Some(now) = bytes.saturating_mul(256).checked_div(rows) else { return };
        // A segment of few rows has the same dictionaries as one of many, so it says little.
        let part = if rows < Self::FEW { 16 } else { 4 };
        let mean = |before: u64| Some((before - before / part + now / part).clamp(256, 1 << 20));
        let _ = self.each.fetch_update(Relaxed, Relaxed, mean);
    }

    /// Rows of a small segment.
    const FEW: u64 = 65_536;

    /// The bytes of a stored event.
    pub fn event_bytes(&self) -> f64 {
        self.each.load(Relaxed) as f64 / 256.0
    }
}

/// How many events are stored for each second.
#[derive(Debug, Clone)]
pub enum Goal {
    /// This many, beside the events that are stored whole.
    Number(u32),
    /// As many as fit if the bytes are to last for [`Goal::DAYS`] days. Quiet hours save for busy ones.
    Auto(Savings),
}

/// The events that may be stored, of the share of the time that has passed.
#[derive(Debug, Clone)]
pub struct Savings {
    budget: Arc<Budget>,
    events: f64,
}

impl Goal {
    /// The days that the bytes last.
    pub const DAYS: u32 = 14;
    /// The highest goal of `auto`: storing an event takes some microseconds of a core.
    const HIGHEST: f64 = 10_000.0;
    /// The goal if nothing is kept on disk: memory has recent events only.
    const NOT_KEPT: f64 = 2_000.0;
    /// Events that are stored whole in a second for each reason.
    const WHOLE: u32 = 200;
    /// The same number in a flood that has used up the savings.
    const WHOLE_IN_FLOOD: f32 = 10.0;

    /// As many as fit if the bytes of `budget` are to last for [`Goal::DAYS`] days.
    pub fn auto(budget: Arc<Budget>) -> Self {
        // The first day of a server is the one in which people try it.
        let mut savings = Savings { budget, events: 0.0 };
        savings.events = savings.highest();
        Self::Auto(savings)
    }

    /// Tells how many seconds passed, and how many events were stored in them.
    pub(super) fn passed(&mut self, seconds: f64, stored: u64) {
        if let Self::Auto(savings) = self {
            let events = savings.events + savings.share() * seconds - stored as f64;
            savings.events = events.clamp(0.0, savings.highest());
        }
    }

    /// The events to store in the next second.
    pub(super) fn each_second(&self) -> f32 {
        match self {
            Self::Number(number) => *number as f32,
            Self::Auto(savings) if savings.budget.bytes == 0 => Self::NOT_KEPT as f32,
            // Savings are spent within an hour or so. If as many are stored as the share has, they stay at an hour's share.
            Self::Auto(savings) => {
                (savings.events / Savings::HOUR).max(savings.share() / 4.0).min(Self::HIGHEST) as f32
            }
        }
    }

    /// The events of each reason that are stored whole in the next second.
    pub(super) fn whole(&self) -> u32 {
        match self {
            Self::Auto(savings) if savings.budget.bytes > 0 && savings.events < savings.highest() / 4.0 => {
                self.each_second().clamp(Self::WHOLE_IN_FLOOD, Self::WHOLE as f32) as u32
            }
            _ => Self::WHOLE,
        }
    }
}

impl Savings {
    /// Seconds.
    const HOUR: f64 = 3600.0;
    const DAY: f64 = 86_400.0;

    /// The events of a second that fit into the bytes.
    fn share(&self) -> f64 {
        self.budget.bytes as f64 / self.budget.event_bytes() / (f64::from(Goal::DAYS) * Self::DAY)
    }

    /// The most that is saved: the share of a day.
    fn highest(&self) -> f64 {
        self.share() * Self::DAY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    /// Events that are stored in so many hours with this traffic, by hour of the day.
    fn stored(goal: &mut Goal, hours: usize, traffic: impl Fn(usize) -> f64) -> f64 {
        let mut all = 0.0;
        for minute in 0..hours * 60 {
            let stored = traffic(minute / 60 % 24).min(f64::from(goal.each_second())) * 60.0;
            goal.passed(60.0, stored as u64);
            all += stored;
        }
        all
    }

    #[test]
    fn the_bytes_last_for_fourteen_days_of_heavy_traffic() {
        let budget = Budget::new(2 * GIB);
        let days = (2 * GIB) as f64 / budget.event_bytes();
        for traffic in [50.0, 5_000.0] {
            let stored = stored(&mut Goal::auto(budget.clone()), 14 * 24, |_| traffic);
            // A day's share is saved at first.
            assert!((0.99..1.0 + 1.0 / 14.0 + 0.01).contains(&(stored / days)), "{}", stored / days);
        }
    }

    #[test]
    fn quiet_hours_save_for_busy_ones() {
        let budget = Budget::new(2 * GIB);
        let share = (2 * GIB) as f64 / budget.event_bytes() / 14.0;
        let day = |hour: usize| if (9..17).contains(&hour) { 80.0 } else { 2.0 };
        let mut goal = Goal::auto(budget.clone());
        stored(&mut goal, 10 * 24, day);
        let (stored, all) = (stored(&mut goal, 24, day), (8.0 * 80.0 + 16.0 * 2.0) * 3600.0);
        assert!(all < share, "{all} {share}");
        assert!(stored > 0.999 * all, "{stored} of {all}: more than the share in busy hours, less in a day");
    }

    #[test]
    fn a_flood_is_stored_whole_for_minutes_at_least_and_then_leaves_room_for_weeks() {
        let mut goal = Goal::auto(Budget::new(GIB / 4));
        let mut minutes = 0;
        while goal.whole() == 200 {
            minutes += 1;
            goal.passed(60.0, 200 * 60);
        }
        assert!((20..60).contains(&minutes), "{minutes}");
        (0..60).for_each(|_| goal.passed(60.0, 100 * 60));
        assert_eq!(goal.whole(), 10);
        goal.passed(20.0 * 3600.0, 0);
        assert_eq!(goal.whole(), 200, "it has saved for the next one");
    }

    #[test]
    fn smaller_events_raise_the_goal_and_without_a_budget_there_is_one_for_memory() {
        let not_kept = Goal::auto(Budget::new(0));
        assert_eq!((not_kept.each_second(), not_kept.whole()), (2_000.0, 200));
        let budget = Budget::new(2 * GIB);
        let mut goal = Goal::auto(budget.clone());
        let before = goal.each_second();
        (0..20).for_each(|_| budget.flushed(262_144, 262_144 * 30));
        assert!((30.0..31.0).contains(&budget.event_bytes()), "{}", budget.event_bytes());
        goal.passed(10.0 * Savings::DAY, 0);
        assert!((1.9..2.1).contains(&(goal.each_second() / before)));
        budget.flushed(0, 5_000);
        let unlimited = Goal::auto(Budget::new(u64::MAX));
        assert!(f64::from(unlimited.each_second()) <= Goal::HIGHEST);
    }
}
