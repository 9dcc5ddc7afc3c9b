//! The resident memory of the process while jobs run. A thread samples it ten times a second, and sleeps while no job runs.

use crate::Tick;
use crate::lock;
use rustix::param::page_size;
use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The time between two samples.
const EVERY: Duration = Duration::from_millis(100);
/// After this many samples without a job the thread sleeps until the next job.
const IDLE_SAMPLES: u32 = 10;
/// The most peaks that are remembered.
const PEAKS_MAX: usize = 1024;

/// Samples the memory of the process while jobs run. Dropping it ends the thread.
#[derive(Debug, Default)]
pub(crate) struct ProcessMemory(Arc<Sampler>);

#[derive(Debug, Default)]
struct Sampler {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    peaks: Peaks,
    /// Jobs in progress.
    jobs: u32,
    /// The thread sleeps until there is a job.
    asleep: bool,
    ended: bool,
}

impl ProcessMemory {
    /// Starts the thread. Without a thread, a job knows the memory at its begin and at its end.
    pub(crate) fn start() -> Self {
        let memory = Self::default();
        let sampler = memory.0.clone();
        let _ = std::thread::Builder::new().name("memory".to_owned()).spawn(move || sampler.run());
        memory
    }

    /// A job begins. Returns the resident bytes.
    pub(crate) fn begin(&self) -> u64 {
        let mut state = lock(&self.0.state);
        state.jobs += 1;
        if std::mem::take(&mut state.asleep) {
            self.0.changed.notify_all();
        }
        drop(state);
        resident_bytes()
    }

    /// A job ends that began at `began`. Returns the highest sample since then, 0 if there was none, and the resident bytes.
    pub(crate) fn end(&self, began: Tick) -> (u64, u64) {
        let mut state = lock(&self.0.state);
        state.jobs = state.jobs.saturating_sub(1);
        let highest = state.peaks.since(began);
        drop(state);
        (highest, resident_bytes())
    }
}

impl Drop for ProcessMemory {
    fn drop(&mut self) {
        lock(&self.0.state).ended = true;
        self.0.changed.notify_all();
    }
}

impl Sampler {
    fn run(&self) {
        let mut idle = 0;
        loop {
            let mut state = lock(&self.state);
            idle = if state.jobs == 0 { idle + 1 } else { 0 };
            if idle == IDLE_SAMPLES {
                (state.asleep, idle) = (true, 0);
                let waited = self.changed.wait_while(state, |state| state.asleep && !state.ended);
                state = waited.unwrap_or_else(PoisonError::into_inner);
                state.peaks.0.clear();
            } else {
                let waited = self.changed.wait_timeout_while(state, EVERY, |state| !state.ended);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            if state.ended {
                return;
            }
            drop(state);
            let bytes = resident_bytes();
            lock(&self.state).peaks.add(Tick::now(), bytes);
        }
    }
}

/// The samples that are higher than all later ones. They have the highest sample since any moment.
#[derive(Debug, Default)]
struct Peaks(VecDeque<(Tick, u64)>);

impl Peaks {
    fn add(&mut self, at: Tick, bytes: u64) {
        while self.0.back().is_some_and(|(_, last)| *last <= bytes) {
            self.0.pop_back();
        }
        // The two oldest become one, with the higher figure. It is too high only for a job that began between them.
        if self.0.len() == PEAKS_MAX
            && let (Some((_, highest)), Some((_, second))) = (self.0.pop_front(), self.0.front_mut())
        {
            *second = highest;
        }
        self.0.push_back((at, bytes));
    }

    /// The highest sample since `began`; 0 if there was none.
    fn since(&self, began: Tick) -> u64 {
        let first = self.0.partition_point(|(at, _)| *at < began);
        self.0.get(first).map_or(0, |(_, bytes)| *bytes)
    }
}

/// The resident memory of this process; 0 if the kernel does not tell.
fn resident_bytes() -> u64 {
    static FILE: OnceLock<Option<File>> = OnceLock::new();
    let Some(file) = FILE.get_or_init(|| File::open("/proc/self/statm").ok()) else { return 0 };
    let mut text = [0; 128];
    let read = file.read_at(&mut text, 0).unwrap_or(0);
    let text = str::from_utf8(&text[..read]).unwrap_or_default();
    let pages: Option<u64> = text.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0).saturating_mul(page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_sample_since_any_moment_is_known() {
        let mut peaks = Peaks::default();
        for (at, bytes) in [(1, 50), (2, 90), (3, 20), (4, 70), (5, 10)] {
            peaks.add(Tick(at), bytes);
        }
        assert_eq!([0, 2, 3, 4, 5, 6].map(|since| peaks.since(Tick(since))), [90, 90, 70, 70, 10, 0]);
    }

    #[test]
    fn memory_that_only_shrinks_takes_no_more_room_than_allowed_and_its_peak_is_not_lost() {
        let mut peaks = Peaks::default();
        for at in 0..3 * PEAKS_MAX as u64 {
            peaks.add(Tick(at), 1_000_000 - at);
        }
        assert_eq!((peaks.0.len(), peaks.since(Tick(0))), (PEAKS_MAX, 1_000_000));
        assert_eq!(peaks.since(Tick(3 * PEAKS_MAX as u64 - 1)), 1_000_001 - 3 * PEAKS_MAX as u64);
    }

    #[test]
    fn memory_that_a_job_frees_before_its_end_is_in_its_highest_figure() {
        const HELD: usize = 64 << 20;
        let memory = ProcessMemory::start();
        let (began, before) = (Tick::now(), memory.begin());
        let held = vec![1_u8; HELD];
        // The thread takes a sample while the memory is in use.
        while lock(&memory.0.state).peaks.since(began) < before + HELD as u64 / 2 {
            std::thread::yield_now();
        }
        drop(held);
        let (highest, after) = memory.end(began);
        assert!(before > 0 && highest >= before + HELD as u64 / 2 && after > 0, "{before} {highest} {after}");
    }

    #[test]
    fn the_thread_sleeps_without_jobs_and_wakes_for_one() {
        let memory = ProcessMemory::start();
        for _ in 0..2 {
            while !lock(&memory.0.state).asleep {
                std::thread::yield_now();
            }
            let began = Tick::now();
            memory.begin();
            while lock(&memory.0.state).peaks.since(began) == 0 {
                std::thread::yield_now();
            }
            memory.end(began);
        }
    }
}
