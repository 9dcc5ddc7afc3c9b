//! Lanes: separate queues for shared threads, so that no kind of job can take all threads from another.

use std::collections::VecDeque;

telemetry::closed_list! {
    /// The kind of a job. Each has a queue of its own.
    pub enum Lane {
        /// Reads one entry, one blob, or a small table that every answer needs.
        Single = "single",
        /// Reads for a change, or writes its bytes.
        Change = "change",
        /// Reads whole units and lists.
        Index = "index",
    }
}

/// The waiting jobs and the number of running ones, by lane.
#[derive(Debug)]
pub(crate) struct Lanes<J> {
    waiting: [VecDeque<J>; Lane::COUNT],
    working: [usize; Lane::COUNT],
    threads: usize,
    /// The lane that last started a job.
    turn: usize,
}

impl<J> Lanes<J> {
    pub(crate) fn new(threads: usize) -> Self {
        Self { waiting: std::array::from_fn(|_| VecDeque::new()), working: [0; Lane::COUNT], threads, turn: 0 }
    }

    pub(crate) fn push(&mut self, lane: Lane, job: J) {
        self.waiting[lane as usize].push_back(job);
    }

    /// The next job for an idle thread. Lanes take turns. If there are enough threads, one stays free for each idle lane, so that
    /// its next job starts at once.
    pub(crate) fn next(&mut self) -> Option<(Lane, J)> {
        let idle = self.threads.saturating_sub(self.working.iter().sum());
        for step in 1..=Lane::COUNT {
            let at = (self.turn + step) % Lane::COUNT;
            let idle_lanes = (0..Lane::COUNT).filter(|other| *other != at && self.working[*other] == 0).count();
            if (self.working[at] == 0 || idle > idle_lanes)
                && let Some(job) = self.waiting[at].pop_front()
            {
                self.turn = at;
                self.working[at] += 1;
                return Some((Lane::ALL[at], job));
            }
        }
        None
    }

    /// Whether no job waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.iter().all(VecDeque::is_empty)
    }

    pub(crate) fn done(&mut self, lane: Lane) {
        self.working[lane as usize] -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lanes_take_turns_and_keep_their_order() {
        let mut lanes = Lanes::new(1);
        for job in 0..3 {
            lanes.push(Lane::Index, ("index", job));
            lanes.push(Lane::Single, ("single", job));
        }
        let mut order = Vec::new();
        while let Some((lane, job)) = lanes.next() {
            order.push(job);
            lanes.done(lane);
        }
        assert_eq!(order, [("index", 0), ("single", 0), ("index", 1), ("single", 1), ("index", 2), ("single", 2)]);
    }

    proptest! {
        #[test]
        fn a_lane_that_floods_leaves_a_thread_to_each_of_the_others(
            threads in Lane::COUNT..9, flood in 0..Lane::COUNT, jobs in 1usize..50,
        ) {
            let mut lanes = Lanes::new(threads);
            (0..jobs).for_each(|job| lanes.push(Lane::ALL[flood], job));
            let mut begun = 0;
            while lanes.next().is_some() {
                begun += 1;
            }
            prop_assert_eq!(begun, jobs.min(threads + 1 - Lane::COUNT));
            for lane in Lane::ALL.iter().filter(|lane| **lane as usize != flood) {
                lanes.push(*lane, 0);
                prop_assert_eq!(lanes.next().map(|(lane, _)| lane), Some(*lane));
            }
        }
    }
}
