//! A pool has too few places, and requests wait for one.

use super::cost;
use super::pool_saves::waits_saved;
use crate::findings::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::gauge::Gauge;
use crate::findings::wording::{count, length, percent, seconds};
use crate::signals::facts::HostFact;
use crate::signals::seen::Seen;
use crate::sizing::staffing::{WAIT, when_full_with_reserve};
use serde_json::{Value, json};
use telemetry::{BoundName, Histogram, Op, PoolName};

/// The pool is full for this share of the seconds.
const FULL: f64 = 0.05;
/// From this share of ready time without a processor on, more threads would not help.
const STARVED: f64 = 0.5;

pub(super) const CHECK: Check = Check {
    key: "pool-too-narrow",
    kind: FindingKind::Cause,
    about: "A pool of threads or of calls has too few places, and requests wait for one.",
    when: "it is full for 5 % of the seconds, and one wait in twenty exceeds 10 % of the time that a place is used",
    unless: "the waits are below 1 % of the time of all requests or below 5 s in five minutes; more threads would find no processor; without a \
             change to make if calls take longer the more are made at once",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

/// The pools of threads that requests wait for: the bound with their waits, the operation of a wait, the column of events that has it, and
/// whether their work needs a processor all the time.
const POOLS: [(PoolName, BoundName, Op, &str, bool); 4] = [
    (PoolName::TruthReaders, BoundName::TruthReaders, Op::TruthWait, "queue_wait_ms", false),
    (PoolName::WorkThreads, BoundName::WorkThreads, Op::WorkWait, "queue_wait_ms", true),
    (PoolName::BlobThreads, BoundName::BlobThreads, Op::BlobWait, "queue_wait_ms", false),
    (PoolName::FileThreads, BoundName::FileThreads, Op::BodyRead, "body_send_ms", false),
];

fn look(seen: &Seen) -> Verdict {
    let calls = seen.facts.hosts.iter().filter_map(|host| calls(seen, host));
    let threads = POOLS.iter().filter_map(|pool| threads(seen, pool));
    Verdict::Looked(calls.chain(threads).collect())
}

/// The calls to a host.
fn calls(seen: &Seen, fact: &HostFact) -> Option<Problem> {
    let host = seen.recent.hosts.of(&fact.host)?;
    let pool = seen.recent.bounds.of(BoundName::UpstreamCalls, &fact.number.to_string())?;
    if pool.full_share() < FULL || !waits_long(&pool.waits, host.service_s()) {
        return None;
    }
    let lost = cost::of_host(seen, host, &[Op::UpstreamWait]);
    let share = cost::share(seen, &lost)?;
    let name = &fact.host;
    let to = when_full_with_reserve(pool.capacity, &pool.demands);
    let has_room = !seen.hour.hosts.of(name).unwrap_or(host).load.slows_down();
    let change = Change::of_setting(seen, "upstream.max_calls", to)?;
    let then = if has_room {
        format!("{} at once would leave nearly no wait", count(to, "call"))
    } else {
        "the upstream takes longer the more calls it gets at once, so more calls would only wait there".to_owned()
    };
    let sentence = format!(
        "upstream `{name}` has {} at most and is full {} of the time; requests waited {} in {}; {then}",
        count(pool.capacity, "call"),
        percent(pool.full_share()),
        seconds(lost.recent_s),
        length(&seen.recent),
    );
    let saved = waits_saved(lost.recent_s, (pool.capacity, to), &pool.demands);
    Some(Problem {
        subject: format!("upstream:{name}"),
        saves: has_room.then(|| saved.of(Gauge::Host(name.clone()))),
        lost,
        confidence: if has_room { 0.9 } else { 0.6 },
        sentence,
        changes: if has_room { vec![change] } else { Vec::new() },
        evidence: json!({
            "measures": ["count", "sum(upstream_ms)", "max(upstream_ms)"], "by": ["method", "repository"],
            "where": [["kind", "=", "job"], ["upstream_host", "=", name]],
        }),
        event: host.part(Op::UpstreamWait).worst.event,
        guards: guards(
            share,
            Guard { passed: has_room, ..Guard::passed("more calls at once do not take longer", Value::Null) },
        ),
    })
}

/// A pool of threads.
fn threads(seen: &Seen, pool: &(PoolName, BoundName, Op, &str, bool)) -> Option<Problem> {
    let (name, bound, op, column, computes) = pool;
    let (pool, key) = (seen.recent.pools.of(*name)?, name.setting()?);
    let mut waits = Histogram::default();
    seen.recent.bounds.named(*bound).for_each(|(_, bound)| waits.merge(&bound.waits));
    // Each job has a wait, if only of nothing.
    let service = pool.nanos as f64 / 1e9 / waits.count().max(1) as f64;
    if pool.full_share() < FULL || !waits_long(&waits, service) {
        return None;
    }
    let lost = match op {
        Op::BodyRead => Lost::recent(waits.sum() as f64 / 1e9),
        op => Lost::of(seen.recent.repositories.seconds(*op)),
    };
    let share = cost::share(seen, &lost)?;
    let waiting = waits.sum() as f64 / 1e9 / pool.full.max(1) as f64;
    let wanted = when_full_with_reserve(pool.threads, &pool.demands).max((pool.threads as f64 + waiting).ceil() as u64);
    let processors = seen.facts.setting("server.cores").and_then(|setting| setting.number).unwrap_or(u64::MAX);
    let to = if *computes { wanted.min(processors) } else { wanted };
    let starved = seen.recent.machine.starved_share();
    if to <= pool.threads || starved >= STARVED {
        return None;
    }
    // These threads are set for each core.
    let cores = match (name, seen.facts.setting(key)?.number) {
        (PoolName::FileThreads, Some(each)) => (pool.threads / each.max(1)).max(1),
        _ => 1,
    };
    let change = Change::of_setting(seen, key, to.div_ceil(cores))?;
    let sentence = format!(
        "`{}` has {} and all work {} of the time; requests waited {} in {} for one of them; {} would leave nearly no wait",
        name.as_str(),
        count(pool.threads, "thread"),
        percent(pool.full_share()),
        seconds(lost.recent_s),
        length(&seen.recent),
        count(to, "thread"),
    );
    let saved = waits_saved(lost.recent_s, (pool.threads, to), &pool.demands);
    let gauge = Gauge::Pool(name.as_str().to_owned(), bound.as_str().to_owned());
    Some(Problem {
        subject: format!("pool:{}", name.as_str()),
        saves: Some(saved.each(cores).of(gauge)),
        lost,
        confidence: 0.8,
        sentence,
        changes: vec![change],
        evidence: json!({
            "measures": ["count", format!("sum({column})"), format!("p95({column})")], "by": ["class", "repository"],
            "where": [["kind", "=", "request"], [column, ">", 0]],
        }),
        event: seen.recent.ops.of(*op).worst.event,
        guards: guards(
            share,
            Guard::passed("threads that are ready have a processor", (starved * 1000.0).round() / 1000.0),
        ),
    })
}

/// Whether one wait in twenty is long beside the time that a place is used, in seconds.
fn waits_long(waits: &Histogram, service: f64) -> bool {
    waits.count() > 0 && waits.quantile(0.95) as f64 / 1e9 > WAIT * service
}

fn guards(share: f64, other: Guard) -> Vec<Guard> {
    vec![Guard::passed("waits are at least 1 % of the time of all requests", (share * 1000.0).round() / 1000.0), other]
}

#[cfg(test)]
mod tests {
    use super::super::staged::{HOST, found, host, server};
    use super::*;
    use crate::signals::bounds::BoundSeen;
    use crate::signals::concurrency::Concurrency;
    use crate::signals::pools::PoolSeen;

    const S: u64 = 1_000_000_000;

    /// Calls to a host that were waited for so long, of a bound that was full so often in 100 seconds.
    fn waited(wait: u64, waited: u64, full: u64) -> Seen {
        let mut seen = server(100);
        let one = host(&mut seen);
        (one.calls, one.part_mut(Op::UpstreamFirstByte).nanos) = (100, 20 * S);
        one.wait("central", Op::UpstreamWait, waited);
        let mut bound = BoundSeen { capacity: 2, samples: 100, full, ..BoundSeen::default() };
        bound.waits.record_many(wait, 100);
        bound.demands.record_many(8, full);
        seen.recent.bounds.0.insert((BoundName::UpstreamCalls, "7".into()), bound);
        seen
    }

    #[test]
    fn calls_that_are_waited_for_have_a_number_that_leaves_no_wait_and_each_border_holds() {
        let found_in = |seen: &Seen| found(look(seen));
        let [problem] = &found_in(&waited(S, 6 * S, 5))[..] else { panic!() };
        assert_eq!(problem.subject, format!("upstream:{HOST}"));
        assert_eq!((&problem.changes[0].to, problem.lost.recent_s), (&Some(14.into()), 6.0));
        for quiet in [waited(S / 60, 6 * S, 5), waited(S, 4 * S, 5), waited(S, 6 * S, 4)] {
            assert_eq!(found_in(&quiet), []);
        }
        let mut small = waited(S, 6 * S, 5);
        small.recent.requests.all.nanos = 700 * S;
        assert_eq!(found_in(&small), [], "that is less than 1 % of the time of requests");
    }

    #[test]
    fn a_host_that_slows_down_gets_no_more_calls() {
        let mut seen = waited(S, 6 * S, 5);
        for at_once in 1..8 {
            host(&mut seen).load.add(&Concurrency::of(10, at_once * S));
        }
        let [problem] = &found(look(&seen))[..] else { panic!() };
        assert!(
            problem.changes.is_empty() && !problem.guards[1].passed && problem.sentence.contains("only wait there")
        );
    }

    /// A pool whose jobs of 10 ms waited for a second each.
    fn pool(name: PoolName, bound: BoundName, op: Op, wanted: u64) -> Seen {
        let mut seen = server(100);
        let mut pool = PoolSeen { threads: 2, samples: 100, full: 50, nanos: 10 * S, ..PoolSeen::default() };
        pool.demands.record_many(wanted, 50);
        seen.recent.pools.0.insert(name, pool);
        let mut waits = BoundSeen::default();
        waits.waits.record_many(S / 10, 1000);
        seen.recent.bounds.0.insert((bound, "read".into()), waits);
        seen.recent.repositories.0.entry("central".into()).or_default().spend(op, 20 * S);
        seen
    }

    #[test]
    fn threads_that_compute_are_not_advised_beyond_the_cores_and_others_are() {
        let to = |seen: &Seen| found(look(seen)).first().map(|problem| problem.changes[0].to.clone().unwrap());
        let readers = pool(PoolName::TruthReaders, BoundName::TruthReaders, Op::TruthWait, 12);
        assert_eq!(to(&readers), Some(19.into()));
        let mut workers = pool(PoolName::WorkThreads, BoundName::WorkThreads, Op::WorkWait, 12);
        assert_eq!(to(&workers), Some(4.into()));
        (workers.recent.machine.starved_nanos, workers.recent.machine.run_nanos) = (6, 4);
        assert_eq!(to(&workers), None, "they would find no processor");
    }
}
