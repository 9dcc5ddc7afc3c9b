//! One thread that writes lines to one place (a rotated file, stderr), behind a bounded queue that never blocks the caller.
//!
//! A log that must not harm what it reports on: while its target hangs the queue fills up and further lines are dropped
//! and counted; while its target fails (a full disk) each line is tried once, dropped and counted.

mod rotated;
mod target;

pub use target::{Lost, Target};

use crate::{Bound, BoundName};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How a [`Lines`] queues.
#[derive(Debug, Clone)]
pub struct LinesOptions {
    /// Which log it is, in metrics.
    pub name: &'static str,
    /// Lines that wait at most.
    pub lines: u64,
    /// Bytes that wait at most. As many again may be on their way to the target.
    pub bytes: usize,
}

impl Default for LinesOptions {
    fn default() -> Self {
        Self { name: "process", lines: 8192, bytes: 2 << 20 }
    }
}

/// A bounded queue of lines and the thread that writes them. Clones share it; the thread ends after the last clone.
#[derive(Debug, Clone)]
pub struct Lines {
    queue: Arc<Queue>,
    _closer: Arc<Closer>,
}

#[derive(Debug)]
struct Queue {
    bound: Arc<Bound>,
    bytes: usize,
    state: Mutex<State>,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Whole lines, each with its end.
    waiting: Vec<u8>,
    /// How many they are.
    lines: u64,
    /// Lines ever accepted.
    accepted: u64,
    /// Lines that were accepted and are now written or lost.
    settled: u64,
    closed: bool,
}

impl Lines {
    /// Starts the thread that writes to `target`. Without a thread (the machine refused one) every line is dropped and counted.
    pub fn start(options: LinesOptions, target: Target) -> Self {
        let queue = Arc::new(Queue {
            bound: Bound::new(BoundName::LogLines, options.name, options.lines),
            bytes: options.bytes,
            state: Mutex::default(),
            filled: Condvar::new(),
            emptied: Condvar::new(),
        });
        let work = queue.clone();
        let thread = std::thread::Builder::new().name(format!("lines {}", options.name));
        if thread.spawn(move || work.write_to(target)).is_err() {
            queue.bound.set_capacity(0);
        }
        Self { _closer: Arc::new(Closer(queue.clone())), queue }
    }

    /// Queues a line, given without its end, and never blocks. False when it was dropped, and counted, as the queue is full.
    pub fn push(&self, line: &str) -> bool {
        let queue = &self.queue;
        if queue.bound.take(1).is_err() {
            return false;
        }
        let mut state = queue.lock();
        let start = state.waiting.len();
        if start + line.len() >= queue.bytes {
            drop(state);
            queue.bound.give(1);
            queue.bound.reject();
            return false;
        }
        state.waiting.extend_from_slice(line.as_bytes());
        state.waiting[start..].iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
        state.waiting.push(b'\n');
        state.lines += 1;
        state.accepted += 1;
        drop(state);
        queue.filled.notify_one();
        true
    }

    /// Lines dropped so far: the queue was full, or the target refused them.
    pub fn dropped(&self) -> u64 {
        self.queue.bound.rejected()
    }

    /// The queue, to be registered. What it has rejected is what was dropped, for whichever reason.
    pub fn bound(&self) -> &Arc<Bound> {
        &self.queue.bound
    }

    /// Waits until what was queued before is written or lost, at most for `patience`. False when that was too short.
    pub fn flush(&self, patience: Duration) -> bool {
        let state = self.queue.lock();
        let until = state.accepted;
        let wait = self.queue.emptied.wait_timeout_while(state, patience, |state| state.settled < until);
        !wait.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread: takes all that waits, writes it, until the queue is closed and empty.
    fn write_to(&self, mut target: Target) {
        let mut taken = Vec::new();
        loop {
            let waiting = |state: &mut State| state.lines == 0 && !state.closed;
            let mut state = self.filled.wait_while(self.lock(), waiting).unwrap_or_else(PoisonError::into_inner);
            if state.lines == 0 {
                return;
            }
            std::mem::swap(&mut state.waiting, &mut taken);
            let lines = std::mem::take(&mut state.lines);
            drop(state);
            let lost = match catch_unwind(AssertUnwindSafe(|| target.write_lines(&taken))) {
                Ok(written) => written.err().map_or(0, |lost| lost.lines),
                Err(_) => lines,
            };
            self.bound.reject_many(lost);
            self.bound.give(lines);
            taken.clear();
            self.lock().settled += lines;
            self.emptied.notify_all();
        }
    }
}

/// Ends the thread when nobody can push any more.
#[derive(Debug)]
struct Closer(Arc<Queue>);

impl Drop for Closer {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.filled.notify_all();
    }
}

#[cfg(test)]
mod tests;
