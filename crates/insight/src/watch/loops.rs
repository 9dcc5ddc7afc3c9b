//! The event loops as the watch sees them: whether they beat, and how long they were blocked in the last five minutes.

use crate::signals::watch::LoopSeen;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use telemetry::{LoopBlocked, LoopBlocks, LoopMonitor, Op, ThreadState, Tick};

/// The interval between two looks.
pub(super) const EVERY: Duration = Duration::from_millis(250);
/// How far back blocks are counted.
const WINDOW: Duration = Duration::from_secs(300);
/// A loop that is silent for so many looks may have no processor: the kernel is asked.
const SUSPECT_LOOKS: u32 = 4;

/// A loop at one look.
#[derive(Debug, Clone)]
pub(super) struct LoopSight {
    pub(super) name: String,
    pub(super) beats: u64,
    /// It is ready, and has no processor.
    pub(super) is_starved: bool,
}

/// The known state of the loops.
#[derive(Debug, Default)]
pub(super) struct Loops(HashMap<String, One>);

#[derive(Debug, Default)]
struct One {
    beats: u64,
    /// Looks without a beat.
    silent: u32,
    /// Its processor time when it became suspect, in ticks of the kernel.
    ticks: Option<u64>,
    sums: Option<LoopBlocked>,
    by_op: Vec<u64>,
    /// What was added, with the moment.
    blocks: VecDeque<(Tick, LoopBlocked, Option<Op>)>,
}

impl Loops {
    /// Looks at all loops. `elapsed`: the time since the last look.
    pub(super) fn look(&mut self, monitors: &[Arc<LoopMonitor>], elapsed: Duration) -> Vec<LoopSight> {
        let own_lateness = elapsed.saturating_sub(EVERY);
        monitors
            .iter()
            .map(|monitor| {
                let one = self.0.entry(monitor.name().to_owned()).or_default();
                let is_starved = one.beat(monitor);
                one.count(monitor, own_lateness);
                LoopSight { name: monitor.name().to_owned(), beats: one.beats, is_starved }
            })
            .collect()
    }

    /// The blocks of the last five minutes.
    pub(super) fn seen(&mut self, now: Tick) -> Vec<LoopSeen> {
        let seen = |(name, one): (&String, &mut One)| {
            while one.blocks.front().is_some_and(|(at, ..)| now.since(*at) > WINDOW.as_nanos() as u64) {
                one.blocks.pop_front();
            }
            let mut seen = LoopSeen { name: name.clone(), ..LoopSeen::default() };
            for (_, blocked, op) in &one.blocks {
                seen.blocked += blocked.count;
                seen.blocked_s += blocked.nanos as f64 / 1e9;
                seen.square_s += blocked.square_ms as f64 / 1e6;
                seen.waited_s += blocked.waited as f64 / 1e9;
                let longest = blocked.nanos as f64 / 1e9 / blocked.count.max(1) as f64;
                if longest > seen.longest_s {
                    (seen.longest_s, seen.op) = (longest, *op);
                }
            }
            seen
        };
        let mut all: Vec<LoopSeen> = self.0.iter_mut().map(seen).collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }
}

impl One {
    /// Reads the beats. Returns whether the loop is ready and has no processor.
    fn beat(&mut self, monitor: &LoopMonitor) -> bool {
        let beats = monitor.beats();
        if beats != self.beats {
            (self.beats, self.silent, self.ticks) = (beats, 0, None);
            return false;
        }
        self.silent = self.silent.saturating_add(1);
        if self.silent < SUSPECT_LOOKS {
            return false;
        }
        let threads = ThreadState::of(if monitor.name() == "back" { "daylight-back" } else { monitor.name() });
        let ticks: u64 = threads.iter().map(|thread| thread.ticks).sum();
        let before = *self.ticks.get_or_insert(ticks);
        let is_ready = !threads.is_empty() && threads.iter().all(|thread| thread.state == 'R');
        is_ready && ticks == before
    }

    /// Counts what blocked the loop since the last look, less the time that the machine took from the watch as well.
    fn count(&mut self, monitor: &LoopMonitor, own_lateness: Duration) {
        let sums = monitor.blocks().sums();
        let before = self.sums.replace(sums).unwrap_or(sums);
        if sums.count == before.count {
            return;
        }
        let ops = Op::ALL.iter().copied().map(Some).chain([None]);
        let now: Vec<u64> = ops.clone().map(|op| monitor.blocks().nanos_of(op)).collect();
        self.by_op.resize(now.len(), 0);
        let grown = now.iter().zip(&self.by_op).map(|(now, before)| now.saturating_sub(*before));
        let op = ops.zip(grown).max_by_key(|(_, nanos)| *nanos).and_then(|(op, _)| op);
        self.by_op = now;
        if let Some(blocked) = without(sums.since(before), own_lateness) {
            self.blocks.push_back((Tick::now(), blocked, op));
        }
        // Ten blocks a second at most, so the bound is far above what can be.
        if self.blocks.len() > 4096 {
            self.blocks.pop_front();
        }
    }
}

/// The blocks without the time by which the watch itself was late. `None`: they are too short then.
fn without(blocked: LoopBlocked, own_lateness: Duration) -> Option<LoopBlocked> {
    let own = u64::try_from(own_lateness.as_nanos()).unwrap_or(u64::MAX);
    let nanos = blocked.nanos.saturating_sub(own);
    if nanos < LoopBlocks::LEAST_NANOS {
        return None;
    }
    let part = nanos as f64 / blocked.nanos as f64;
    let (waited, square_ms) = ((blocked.waited as f64 * part) as u64, (blocked.square_ms as f64 * part * part) as u64);
    Some(LoopBlocked { nanos, square_ms, waited, ..blocked })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_the_machine_took_from_the_watch_is_left_out() {
        let blocked = LoopBlocked { count: 1, nanos: 400_000_000, square_ms: 160_000, waited: 800_000_000 };
        let without = |ms| without(blocked, Duration::from_millis(ms));
        assert_eq!(without(0), Some(blocked));
        let half = LoopBlocked { count: 1, nanos: 200_000_000, square_ms: 40_000, waited: 400_000_000 };
        assert_eq!((without(200), without(301), without(20_000)), (Some(half), None, None));
    }
}
