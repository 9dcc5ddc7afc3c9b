//! The thread that asks the server through its public socket.

use super::{AskSelf, Shared};
use crate::signals::watch::ProbeSeen;
use std::io::ErrorKind;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use telemetry::{LongJob, Recorder, lock};

/// The interval between two probes.
const EVERY: Duration = Duration::from_secs(5);
/// The interval after a probe without an answer.
const AGAIN: Duration = Duration::from_secs(1);
/// The times that are kept: those of five minutes.
const TIMES_MAX: usize = 60;
/// How long a probe may take.
const LIMIT: Duration = Duration::from_secs(5);

/// Asks until the watch ends.
pub(super) fn run(shared: &Shared, recorder: &Recorder, ask: &AskSelf, job: &LongJob) {
    let (mut every, mut before) = (AGAIN, beats(recorder));
    while shared.wait(every) {
        job.moved();
        if shared.stopping.load(Relaxed) {
            continue;
        }
        shared.probe.asking.store(true, Relaxed);
        let answer = ask(LIMIT);
        // A second or more has passed since the last one, in which a loop that goes on beats.
        let beats = beats(recorder);
        let goes_on = std::mem::replace(&mut before, beats) != beats;
        every = if answer.is_ok() { EVERY } else { AGAIN };
        match answer {
            Ok(time) => {
                recorder.probes().answered(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
                remember(
                    shared,
                    ProbeSeen { outside_s: time.as_secs_f64(), inside_s: recorder.probes().last_inside() as f64 / 1e9 },
                );
            }
            Err(error) if is_silence(error.kind(), goes_on) => {
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

/// The beats of all event loops.
fn beats(recorder: &Recorder) -> u64 {
    recorder.loop_monitors().iter().fold(0, |sum, monitor| sum.wrapping_add(monitor.beats()))
}

/// Whether the server did not answer. `goes_on`: its loops do, so a connection that it closed was shed: the reserve for health checks is full.
/// Other errors are failures of this side.
fn is_silence(error: ErrorKind, goes_on: bool) -> bool {
    match error {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => true,
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => !goes_on,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_is_closed_is_silence_only_where_no_loop_goes_on() {
        let of = |error| [true, false].map(|goes_on| is_silence(error, goes_on));
        assert_eq!([ErrorKind::TimedOut, ErrorKind::WouldBlock].map(of), [[true; 2]; 2]);
        assert_eq!([ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset].map(of), [[false, true]; 2]);
        assert_eq!(of(ErrorKind::AddrNotAvailable), [false; 2]);
    }
}
