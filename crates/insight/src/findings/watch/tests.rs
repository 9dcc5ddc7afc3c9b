//! The borders of the checks: below they say nothing, above they do, and each guard alone silences them.

use super::super::check::{Check, Problem, Verdict};
use super::{
    job_crash_loop, job_outgrows_memory, job_stands_still, loop_blocked, previous_run_died, serving_stands_still,
};
use crate::signals::jobs::{JobMemoryRuns, JobRun, JobSeen};
use crate::signals::seen::Seen;
use crate::signals::watch::{LoopSeen, PreviousRun, Stuck};
use std::sync::Arc;
use std::time::Duration;
use telemetry::{CgroupMemory, EventId, LongJobView, MachineSample, Millis, Op};

fn found(check: &Check, seen: &Seen) -> Vec<Problem> {
    match (check.look)(seen) {
        Verdict::Looked(problems) => problems,
        unknown @ Verdict::Unknown { .. } => panic!("{unknown:?}"),
    }
}

#[test]
fn what_stands_still_is_told_with_what_everybody_was_doing() {
    let mut seen = Seen::default();
    assert_eq!(found(&serving_stands_still::CHECK, &seen), []);
    let doing = vec!["01A 12.0 s truth.read GET /a in 0 out 0".to_owned()];
    let (what, event, op) = ("core-1".to_owned(), Some(EventId(5)), Some(Op::TruthRead));
    seen.watch.stuck = Some(Stuck { what, seconds: 2.0, op, open: 3, event, doing });
    let problem = found(&serving_stands_still::CHECK, &seen).remove(0);
    assert_eq!((&*problem.subject, problem.event, problem.lost.recent_s), ("loop:core-1", event, 6.0));
    assert_eq!(
        problem.sentence,
        "the event loop `core-1` has been silent for 2 s; 3 requests are open, and most of them wait for `truth.read`; the oldest: 01A 12.0 s \
         truth.read GET /a in 0 out 0"
    );
}

fn blocked(change: impl FnOnce(&mut LoopSeen)) -> Seen {
    let mut one = LoopSeen {
        name: "core-0".to_owned(),
        blocked: 3,
        blocked_s: 3.0,
        square_s: 3.0,
        waited_s: 5.0,
        longest_s: 1.0,
        op: Some(Op::IndexRender),
    };
    change(&mut one);
    let mut seen = Seen::default();
    // Requests waited as long for their loops.
    seen.recent.ops.of_mut(Op::LoopWait).nanos = 2_000_000_000;
    seen.watch.loops = vec![one];
    seen
}

#[test]
fn a_loop_that_is_blocked_names_the_operation_and_costs_what_requests_waited() {
    let check = &loop_blocked::CHECK;
    let problem = found(check, &blocked(|_| {})).remove(0);
    assert_eq!((&*problem.subject, problem.lost.recent_s), ("loop:core-0", 5.0));
    assert!(problem.sentence.contains("`index.render`"), "{}", problem.sentence);
    assert_eq!(found(check, &blocked(|one| one.blocked = 2)), []);
    assert_eq!(found(check, &blocked(|one| one.waited_s = 4.9)), []);
    let of_slow_clients = blocked(|one| (one.waited_s, one.blocked_s) = (150.0, 0.3));
    assert_eq!(found(check, &of_slow_clients), [], "a short block delays no request that waits for its client");
    let mut busy = blocked(|one| one.waited_s = 0.0);
    busy.recent.length = Duration::from_secs(300);
    busy.recent.requests.all.requests = 300 * 4;
    assert_eq!(found(check, &busy)[0].lost.recent_s, 6.0, "four requests a second arrive while it is blocked");
    busy.recent.requests.all.nanos = 601_000_000_000;
    assert_eq!(found(check, &busy), [], "less than 1 % of all seconds");
}

#[test]
fn an_end_without_order_is_told_for_an_hour_with_its_memory_and_its_jobs() {
    let mut seen = Seen::default();
    assert_eq!(found(&previous_run_died::CHECK, &seen), []);
    let run = PreviousRun {
        at: Millis(1_700_000_000_000),
        ran_s: 90.0,
        resident_bytes: 498_000_000,
        limit_bytes: Some(512_000_000),
        oom_kill: true,
        jobs: vec![("index-sync".to_owned(), 310_000_000)],
        open: 2,
        requests: Vec::new(),
        ends: 3,
    };
    seen.watch.previous_run = Some(run.clone());
    let sentence = found(&previous_run_died::CHECK, &seen).remove(0).sentence;
    for part in
        ["498 MB of 512 MB", "killed a process of its cgroup", "`index-sync` (+310 MB)", "2 requests", "in a loop"]
    {
        assert!(sentence.contains(part), "{sentence}");
    }
    seen.watch.previous_run = Some(PreviousRun { oom_kill: false, ends: 1, ..run });
    let sentence = found(&previous_run_died::CHECK, &seen).remove(0).sentence;
    assert!(sentence.contains("nearly used up") && !sentence.contains("loop"), "{sentence}");
    seen.uptime = Duration::from_secs(3600);
    assert_eq!(found(&previous_run_died::CHECK, &seen), []);
}

#[test]
fn jobs_that_crash_or_stand_still_are_named() {
    let job = |recent_panics, age: Option<u64>| {
        let (every, age, message) = (Duration::from_secs(60), age.map(Duration::from_secs), "why".to_owned());
        let mut seen = Seen::default();
        seen.watch.jobs = vec![LongJobView { name: "hooks", every, age, panics: 3, recent_panics, message }];
        seen
    };
    assert_eq!(found(&job_crash_loop::CHECK, &job(2, None)), []);
    assert_eq!(found(&job_crash_loop::CHECK, &job(3, None))[0].subject, "job:hooks");
    assert_eq!(found(&job_stands_still::CHECK, &job(0, Some(599))), []);
    assert_eq!(found(&job_stands_still::CHECK, &job(0, None)), [], "it has ended");
    let mut still = job(0, Some(600));
    assert_eq!(found(&job_stands_still::CHECK, &still)[0].subject, "job:hooks");
    still.watch.stuck =
        Some(Stuck { what: "requests".to_owned(), seconds: 10.0, op: None, open: 1, event: None, doing: Vec::new() });
    assert_eq!(found(&job_stands_still::CHECK, &still), []);
}

/// Runs that gained so many MiB each, with a limit of 1 GiB of which 200 MiB were in use before each.
fn runs(gained: &[u64]) -> Seen {
    let mut memory = JobMemoryRuns::default();
    for (at, mib) in gained.iter().enumerate() {
        memory.push(JobRun { event: EventId(at as u64 + 1), before: 200 << 20, gained: mib << 20 });
    }
    let mut seen = Seen::default();
    seen.day.jobs.0.insert("sync", JobSeen { memory, ..JobSeen::default() });
    let limit = CgroupMemory {
        usage_bytes: 0,
        cache_bytes: None,
        limit_bytes: Some(1 << 30),
        high_bytes: None,
        oom_kills: None,
    };
    seen.machine = Some(Arc::new(MachineSample { memory: Some(limit), ..MachineSample::default() }));
    seen
}

#[test]
fn a_job_that_grows_from_run_to_run_is_told_before_it_does_not_fit() {
    let check = &job_outgrows_memory::CHECK;
    let problem = found(check, &runs(&[300, 350, 400, 450, 500, 550])).remove(0);
    assert_eq!((&*problem.subject, problem.event), ("job:sync", Some(EventId(6))));
    // 1024 - 200 - 550 = 274 MiB are left.
    assert!(problem.sentence.contains("in 5 more runs"), "{}", problem.sentence);
    assert_eq!(found(check, &runs(&[350, 400, 450, 500])), [], "too few");
    assert_eq!(found(check, &runs(&[300, 550, 310, 560, 300, 550])), [], "it goes up and down");
    assert_eq!(found(check, &runs(&[500, 505, 510, 515, 520, 525])), [], "it hardly grows");
    assert_eq!(found(check, &runs(&[10, 11, 12, 13, 14, 15])), [], "it is small");
    assert_eq!(found(check, &runs(&[40, 42, 45, 47, 49, 51])), [], "it fits for long");
    let mut unlimited = runs(&[300, 350, 400, 450, 500, 550]);
    unlimited.machine = None;
    assert_eq!(found(check, &unlimited), []);
}
