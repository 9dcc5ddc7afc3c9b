//! The thread of the watch: it looks, tells, and hands over what it found.

use super::doing::{self, line, op_of_most};
use super::judge::{Judge, Sight, Standstill};
use super::last_words::Previous;
use super::loops::{EVERY, Loops};
use super::{Shared, TellSeen, waits};
use crate::signals::watch::{Stuck, WatchSeen};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use telemetry::{BoundName, Log, LongJob, Op, Recorder, Tick, lock, process_nanos};

/// Looks between two times at which the figures of loops and jobs are handed over.
const TELLS: u64 = 20;

/// Looks until the watch ends.
pub(super) fn run(shared: &Shared, recorder: &Recorder, tells: (&TellSeen, &Log), previous: &Previous, job: &LongJob) {
    let (tells, log) = tells;
    let (mut judge, mut loops, mut looks) = (Judge::default(), Loops::default(), 0_u64);
    let mut last = Tick::now();
    while shared.wait(EVERY) {
        job.moved();
        let now = Tick::now();
        let elapsed = Duration::from_nanos(now.since(std::mem::replace(&mut last, now)));
        let sight = look(shared, recorder, &mut loops, elapsed);
        let open = sight.open;
        let still = judge.look(sight).filter(|_| !shared.stopping.load(Relaxed));
        let before = lock(&shared.stuck).clone();
        let stuck = still.map(|still| tell(recorder, log, still, open, before.as_ref()));
        if stuck.is_none() && before.is_some() {
            log.info("serving goes on", &[]);
        }
        let changed = stuck.is_some() != before.is_some() || looks == 0;
        lock(&shared.stuck).clone_from(&stuck);
        if changed || looks % TELLS == 0 {
            let jobs = recorder.long_jobs().iter().map(|job| job.view()).collect();
            let previous_run = previous.get(recorder);
            let probes = lock(&shared.probe.times).iter().copied().collect();
            tells(WatchSeen { stuck, previous_run, loops: loops.seen(now), jobs, probes });
        }
        looks += 1;
    }
}

fn look(shared: &Shared, recorder: &Recorder, loops: &mut Loops, elapsed: Duration) -> Sight {
    let (mut open, mut bytes, mut others) = (0, 0_u64, 0_u64);
    recorder.open_requests().glance(|request| {
        bytes = bytes.wrapping_add(request.bytes);
        let own = waits::counts(&request, false);
        open += u64::from(own);
        others += u64::from(own && !waits::counts(&request, true));
    });
    if others > 0 && calls_upstreams(recorder) {
        open -= others;
    }
    Sight {
        elapsed,
        loops: loops.look(&recorder.loop_monitors(), elapsed),
        served: recorder.served(),
        bytes,
        open,
        worked: Duration::from_nanos(process_nanos()),
        asking: shared.probe.asking.load(Relaxed),
        answered: shared.probe.answered.load(Relaxed),
    }
}

/// Whether calls to upstreams are under way.
fn calls_upstreams(recorder: &Recorder) -> bool {
    let bounds = recorder.bounds_as_registered();
    bounds.iter().any(|bound| bound.name() == BoundName::UpstreamCalls && bound.used() + bound.waiters() > 0)
}

/// What stands still. The log tells what everybody was doing when that begins.
fn tell(recorder: &Recorder, log: &Log, still: Standstill, open: u64, before: Option<&Stuck>) -> Stuck {
    let (what, seconds) = (still.what, still.time.as_secs_f64());
    if let Some(before) = before {
        return Stuck { what, seconds, ..before.clone() };
    }
    let oldest = doing::oldest(recorder.open_requests());
    let op = op_of_most(&oldest.requests);
    let doing: Vec<String> = oldest.requests.iter().map(line).collect();
    let (open, event) = (open.max(doing.len() as u64), oldest.requests.first().map(|request| request.id));
    let rounded = format!("{seconds:.1}");
    log.error(
        "serving stands still",
        &[("what", &what), ("seconds", &rounded), ("open", &open), ("op", &op.map_or("none", Op::as_str))],
    );
    for line in &doing {
        log.error("an open request", &[("request", line)]);
    }
    Stuck { what, seconds, op, open, event, doing }
}
