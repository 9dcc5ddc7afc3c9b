//! A thread that writes lines to one target (a rotated file, stderr), behind a bounded queue that never blocks the caller.
//!
//! Logging must not harm the process. While the target hangs, the queue fills up and further lines are dropped and counted.
//! While the target fails (a full disk), each line is tried once, dropped and counted.

mod rotated;
mod target;

pub use target::{Lost, Target};

use crate::lock;
use crate::{Bound, BoundName};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The options of a [`Lines`].
#[derive(Debug, Clone)]
pub struct LinesOptions {
    /// The name of the log in metrics.
    pub name: &'static str,
    /// Most lines in the queue.
    pub lines: u64,
    /// Most bytes in the queue. As many again may be on their way to the target.
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
    /// Whole lines, each with its line end.
    waiting: Vec<u8>,
    /// The number of those lines.
    lines: u64,
    /// Lines that were ever accepted.
    accepted: u64,
    /// Accepted lines that are now written or lost.
    settled: u64,
    closed: bool,
}

impl Lines {
    /// Starts the thread that writes to `target`. If the operating system refuses the thread, every line is dropped and counted.
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

    /// Queues a line, which is given without its line end. Never blocks. `false`: the queue is full, and the line was dropped and counted.
    pub fn push(&self, line: &str) -> bool {
        let queue = &self.queue;
        if queue.bound.take(1).is_err() {
            return false;
        }
        let mut state = lock(&queue.state);
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

    /// Lines that were dropped so far, because the queue was full or the target failed.
    pub fn dropped(&self) -> u64 {
        self.queue.bound.rejected()
    }

    /// The bound of the queue, to be registered. Its rejections are all dropped lines.
    pub fn bound(&self) -> &Arc<Bound> {
        &self.queue.bound
    }

    /// Waits until the lines that were queued before are written or lost. `false`: they were not after `timeout`.
    pub fn flush(&self, timeout: Duration) -> bool {
        let state = lock(&self.queue.state);
        let until = state.accepted;
        let wait = self.queue.emptied.wait_timeout_while(state, timeout, |state| state.settled < until);
        !wait.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

impl Queue {
    /// The thread: takes all queued lines and writes them, until the queue is closed and empty.
    fn write_to(&self, mut target: Target) {
        let mut taken = Vec::new();
        loop {
            let waiting = |state: &mut State| state.lines == 0 && !state.closed;
            let mut state = self.filled.wait_while(lock(&self.state), waiting).unwrap_or_else(PoisonError::into_inner);
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
            lock(&self.state).settled += lines;
            self.emptied.notify_all();
        }
    }
}

/// Closes the queue when its last clone is dropped, which ends the thread.
#[derive(Debug)]
struct Closer(Arc<Queue>);

impl Drop for Closer {
    fn drop(&mut self) {
        lock(&self.0.state).closed = true;
        self.0.filled.notify_all();
    }
}

#[cfg(test)]
mod tests;
