//! Connections and lookups of names that took about as long as a lost packet is repeated after.

use telemetry::Op;

/// How much longer than the timer a run may take, as a part of it, and still count: what comes after the packet that arrived.
const SLACK: f64 = 0.2;

/// The timers: Linux repeats a SYN after 1 s, then after 2 s and 4 s more; resolvers repeat a question after 5 s, and once more.
pub(crate) const TIMERS: [(Op, u64); 5] = [
    (Op::UpstreamTcp, 1),
    (Op::UpstreamTcp, 3),
    (Op::UpstreamTcp, 7),
    (Op::UpstreamResolve, 5),
    (Op::UpstreamResolve, 10),
];

/// The runs that ended shortly after each timer, in the order of [`TIMERS`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LostPackets {
    /// How many.
    pub(crate) runs: [u64; TIMERS.len()],
    /// Runs of connecting and of lookups that took longer than half a second and did not end shortly after a timer.
    pub(crate) others: [u64; 2],
    /// What requests waited for the runs after timers, in nanoseconds.
    pub(crate) waited: [u64; TIMERS.len()],
}

impl LostPackets {
    /// Counts a run. `followers`: requests that waited for it.
    pub(crate) fn see(&mut self, op: Op, nanos: u64, followers: u64) {
        if !matches!(op, Op::UpstreamTcp | Op::UpstreamResolve) || nanos < 500_000_000 {
            return;
        }
        let seconds = nanos as f64 / 1e9;
        let after = |timer: u64| seconds >= timer as f64 && seconds < timer as f64 * (1.0 + SLACK);
        match TIMERS.iter().position(|(of, timer)| *of == op && after(*timer)) {
            Some(at) => {
                self.runs[at] += 1;
                self.waited[at] += nanos.saturating_mul(followers);
            }
            None => self.others[usize::from(op == Op::UpstreamResolve)] += 1,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let add = |mine: &mut [u64], theirs: &[u64]| mine.iter_mut().zip(theirs).for_each(|(one, more)| *one += more);
        add(&mut self.runs, &other.runs);
        add(&mut self.others, &other.others);
        add(&mut self.waited, &other.waited);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_shortly_after_a_timer_count_there_and_long_ones_between_apart() {
        let mut seen = LostPackets::default();
        let ms = |ms: u64| ms * 1_000_000;
        for (op, took) in [
            (Op::UpstreamTcp, 1030),
            (Op::UpstreamTcp, 3100),
            (Op::UpstreamTcp, 990),
            (Op::UpstreamTcp, 2000),
            (Op::UpstreamTcp, 100),
            (Op::UpstreamResolve, 5010),
            (Op::UpstreamFirstByte, 1000),
        ] {
            seen.see(op, ms(took), 2);
        }
        let mut twice = seen;
        twice.add(&seen);
        assert_eq!((twice.runs, twice.others), ([2, 2, 0, 2, 0], [4, 0]));
        assert_eq!(twice.waited[0], ms(4 * 1030));
    }
}
