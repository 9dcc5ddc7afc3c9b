//! The thread that asks the server through its public socket.

use super::{AskSelf, Shared};
use crate::signals::watch::ProbeSeen;
use std::io::ErrorKind;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use telemetry::{Recorder, lock};

/// The interval between two probes.
const EVERY: Duration = Duration::from_secs(5);
/// The interval after a probe without an answer.
const AGAIN: Duration = Duration::from_secs(1);
/// The times that are kept: those of five minutes.
const TIMES_MAX: usize = 60;
/// How long a probe may take.
const LIMIT: Duration = Duration::from_secs(5);

/// Asks until the watch ends.
pub(super) fn run(shared: &Shared, recorder: &Recorder, ask: &AskSelf) {
    let mut every = AGAIN;
    while shared.wait(every) {
        if shared.stopping.load(Relaxed) {
            continue;
        }
        shared.probe.asking.store(true, Relaxed);
        let answer = ask(LIMIT);
        every = if answer.is_ok() { EVERY } else { AGAIN };
        match answer {
            Ok(time) => {
                recorder.probes().answered(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
                remember(
                    shared,
                    ProbeSeen { outside_s: time.as_secs_f64(), inside_s: recorder.probes().last_inside() as f64 / 1e9 },
                );
            }
            Err(error) if is_silence(error.kind()) => {
                recorder.probes().unanswered();
                continue;
            }
            // It could not be asked, for lack of descriptors or ports: that says nothing about serving.
            Err(_) => {}
        }
        shared.probe.answered.fetch_add(1, Relaxed);
        shared.probe.asking.store(false, Relaxed);
    }
}

/// Keeps the times of five minutes.
fn remember(shared: &Shared, seen: ProbeSeen) {
    let mut times = lock(&shared.probe.times);
    if times.len() == TIMES_MAX {
        times.pop_front();
    }
    times.push_back(seen);
}

/// Whether the server did not answer. Other errors are failures of this side.
fn is_silence(error: ErrorKind) -> bool {
    matches!(error, ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset)
}
