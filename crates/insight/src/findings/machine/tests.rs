//! Tests of the checks of the machine: just below a threshold nothing is said, above it the part is named, and each guard silences it.

use super::super::check::{Check, Problem, Verdict};
use super::{accept_queue, descriptors, disk_waits, outside, slow_storage, starved, throttled};
use crate::signals::bounds::BoundSeen;
use crate::signals::clients::client::ClientTime;
use crate::signals::seen::Seen;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{BoundName, CgroupCpu, EventId, MachineSample, Op, System};

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// Five minutes in which clients spent so many seconds, all in the server.
fn seen(seconds: u64) -> Seen {
    let mut seen = Seen::default();
    seen.recent.length = Duration::from_secs(300);
    let time = ClientTime { requests: 1000, nanos: seconds * S, work: seconds * S, ..ClientTime::default() };
    seen.recent.clients.all = time;
    seen.recent.machine.nanos = 300 * S;
    seen
}

#[track_caller]
fn problems(check: &Check, seen: &Seen) -> Vec<Problem> {
    let Verdict::Looked(problems) = (check.look)(seen) else { panic!("{} needs more", check.key) };
    for problem in &problems {
        assert!(problem.guards.iter().all(|guard| guard.passed) && !problem.sentence.contains("  "), "{problem:?}");
    }
    problems
}

/// So many runs of an operation that took so long each.
fn ran(seen: &mut Seen, op: Op, runs: u64, nanos: u64) {
    let of = seen.recent.ops.of_mut(op);
    (of.runs, of.requests, of.nanos) = (runs, runs, runs * nanos);
    of.worst.keep(nanos, EventId(7));
}

#[test]
fn storage_is_slow_from_5_ms_for_each_open_on() {
    let slow = |runs: u64, nanos: u64, client_s: u64, starved: u64| {
        let mut seen = seen(client_s);
        ran(&mut seen, Op::BlobOpen, runs, nanos);
        seen.recent.machine.storage_starved_nanos = starved;
        problems(&slow_storage::CHECK, &seen)
    };
    assert_eq!((slow(2000, 4 * MS, 20, 0), slow(600, 8 * MS, 20, 0)), (vec![], vec![]), "under 5 s");
    assert_eq!((slow(1000, 8 * MS, 1000, 0), slow(1000, 8 * MS, 20, 4 * S)), (vec![], vec![]), "under 1 %, or starved");
    let found = slow(1000, 9 * MS, 20, S).remove(0);
    assert_eq!((&*found.subject, found.event, found.lost.recent_s), ("disk", Some(EventId(7)), 7.5));
    assert!(found.sentence.contains("`blob.open` took 9 ms on average, 1000 times"), "{}", found.sentence);
}

#[test]
fn clients_wait_for_the_disk_while_the_kernel_says_so_and_bytes_come_from_it() {
    let waits = |io: u64, bytes: u64, nanos: u64| {
        let mut seen = seen(60);
        ran(&mut seen, Op::BodyRead, 1000, nanos);
        (seen.recent.machine.io_nanos, seen.recent.machine.disk_read_bytes) = (io, bytes);
        problems(&disk_waits::CHECK, &seen).len()
    };
    assert_eq!((waits(150 * S, 1 << 30, 20 * MS), waits(50 * S, 1 << 30, 200 * MS)), (1, 0));
    assert_eq!((waits(150 * S, 1 << 20, 20 * MS), waits(150 * S, 1 << 30, 5 * MS)), (0, 0));
}

#[test]
fn requests_wait_outside_when_the_median_is_three_times_that_inside() {
    let waits = |requests: u64, outside: u64, inside: u64, queue: u64| {
        let mut seen = seen(20);
        seen.recent.outside.outside.record_many(outside, requests);
        seen.recent.outside.inside.record_many(inside, requests);
        let queued = BoundSeen { used_max: queue, capacity: 4096, ..BoundSeen::default() };
        seen.recent.bounds.0.insert((BoundName::AcceptQueue, "a:1".into()), queued);
        problems(&outside::CHECK, &seen)
    };
    assert!(waits(100, 400 * MS, 5 * MS, 0)[0].sentence.contains("between the proxy"));
    assert_eq!((waits(49, 400 * MS, 5 * MS, 0), waits(200, 45 * MS, 5 * MS, 0)), (vec![], vec![]));
    assert_eq!((waits(100, 400 * MS, 150 * MS, 0), waits(100, 400 * MS, 5 * MS, 100)), (vec![], vec![]));
    assert_eq!(waits(60, 60 * MS, MS, 0), [], "under 5 s");
}

#[test]
fn dropped_connections_are_ours_only_if_our_queue_was_full() {
    let dropped_of = |overflows: u64, used_max: u64, capacity: u64, somaxconn: u64| {
        let mut seen = seen(20);
        seen.recent.machine.overflows = overflows;
        let system = System { somaxconn: Some(somaxconn), ..System::default() };
        seen.machine = Some(Arc::new(MachineSample { system, ..MachineSample::default() }));
        let queue = BoundSeen { used_max, capacity, ..BoundSeen::default() };
        seen.recent.bounds.0.insert((BoundName::AcceptQueue, "127.0.0.1:80".into()), queue);
        problems(&accept_queue::CHECK, &seen)
    };
    let dropped = |overflows: u64, used_max: u64| dropped_of(overflows, used_max, 128, 128);
    assert_eq!((dropped(9, 128), dropped(100, 102)), (vec![], vec![]));
    let found = dropped(100, 129).remove(0);
    assert_eq!((&*found.subject, found.lost.recent_s), ("bound:accept.queue/127.0.0.1:80", 100.0));
    assert_eq!(found.changes[0].command.as_deref(), Some("sysctl -w net.core.somaxconn=4096"));
    // The queue is the server's own, or that of a socket that it was given: the kernel allows more.
    for (capacity, somaxconn, says) in
        [(4096, 4096, "wait longer"), (4096, 65_535, "wait longer"), (128, 4096, "`Backlog=`")]
    {
        let found = dropped_of(100, capacity, capacity, somaxconn).remove(0);
        assert!(found.changes.is_empty() && found.sentence.contains(says), "{found:?}");
    }
}

#[test]
fn descriptors_run_out_from_80_percent_on() {
    let open = |open: u64, limit: u64| {
        let mut seen = seen(20);
        seen.recent.machine.descriptors = (open, limit);
        problems(&descriptors::CHECK, &seen)
    };
    assert_eq!((open(819, 1024).len(), open(820, 1024).len(), open(0, 0).len()), (0, 1, 0));
    let command = format!("prlimit --nofile=65536:65536 --pid {}", std::process::id());
    assert_eq!(open(820, 1024)[0].changes[0].command.as_deref(), Some(&*command));
}

#[test]
fn a_quota_is_told_where_it_is_used_up_often_and_costs_time() {
    let stopped = |periods: u64, used_up: u64, throttled: u64, client_s: u64| {
        let mut seen = seen(client_s);
        let machine = &mut seen.recent.machine;
        (machine.periods, machine.throttled_nanos, machine.own_nanos) = ((periods, used_up), throttled, 30 * S);
        let cpu = CgroupCpu { limit: 0.5, ..CgroupCpu::default() };
        seen.machine = Some(Arc::new(MachineSample { cpu: Some(cpu), ..MachineSample::default() }));
        problems(&throttled::CHECK, &seen)
    };
    assert_eq!((stopped(1000, 240, 30 * S, 60), stopped(1000, 500, 30 * S, 9)), (vec![], vec![]));
    let found = stopped(1000, 500, 30 * S, 60).remove(0);
    assert_eq!(found.changes[0].command.as_deref(), Some("systemctl set-property daylight.service CPUQuota=100%"));
    assert!(found.sentence.contains("0.5 processors and used that up in 50 % of the periods"), "{}", found.sentence);
}

#[test]
fn starved_threads_are_told_where_clients_lose_much_by_them() {
    let starved = |run: u64, starved: u64, client_s: u64, used_up: u64| {
        let mut seen = seen(client_s);
        let machine = &mut seen.recent.machine;
        (machine.run_nanos, machine.starved_nanos, machine.periods) = (run, starved, (100, used_up));
        seen.uptime = Duration::from_secs(1800);
        problems(&starved::CHECK, &seen)
    };
    assert_eq!((starved(10 * S, 9 * S, 60, 0), starved(10 * S, 30 * S, 19, 0)), (vec![], vec![]));
    assert_eq!(starved(10 * S, 30 * S, 60, 50), [], "that is the quota");
    assert!(starved(10 * S, 30 * S, 60, 0)[0].sentence.contains("no processor for 75 % of the time"));
}
