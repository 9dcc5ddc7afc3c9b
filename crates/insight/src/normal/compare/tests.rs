//! Two exports against each other: which differences are told, and which are none.

use super::*;
use crate::normal::baseline::Minutes;
use crate::normal::cells::Cells;
use proptest::prelude::*;
use telemetry::{Class, Event, Figures, Glance, Layer, MemberRecord, MemberSaid, Millis, Op, Tick, UpstreamUse};

/// What a request of a group does.
#[derive(Debug, Clone, Copy)]
struct Costs {
    members: usize,
    reads: u32,
    hits: u64,
}

const USUAL: Costs = Costs { members: 3, reads: 2, hits: 50 };

fn see(cells: &mut Cells, file: &'static str, costs: Costs, hit: bool, slow: u64) {
    let mut event = Event::request(Millis(1), Tick(1));
    (event.status, event.subject.kind, event.bytes_out) = (200, file, 700);
    if hit {
        event.layer = Layer::Page;
        event.add(Op::PageLookup, 500 * slow);
    } else {
        (event.layer, event.class) = (Layer::Group, Some(Class::Downloads));
        event.add(Op::Route, 900 * slow);
        event.add(Op::MembersAsk, 40_000 * slow);
        for _ in 0..costs.members {
            let mut record = MemberRecord::new("member", MemberSaid::NotFound, None);
            record.ops = vec![(Op::TruthRead, telemetry::Tally { count: costs.reads, vain: 0, nanos: 10_000 * slow })];
            event.absorb(record);
        }
        // A busy machine makes requests wait that do not elsewhere.
        if slow > 1 {
            event.add(Op::LoopWait, 1_000_000);
            event.add(Op::TruthWait, 1_000_000);
        }
    }
    let figures = Figures::of(&event);
    cells.see(&Glance::of(&event, &figures));
}

/// An export of five minutes, each with 400 requests, of which a few more or less are hits. `poms` of a hundred are for POMs, which ask one
/// member.
fn export(costs: Costs, poms: u64, slow: u64, seed: u64) -> Baseline {
    let mut minutes = Minutes::default();
    for minute in 0..5 {
        let mut cells = Cells::default();
        for n in 0..400 + (seed + minute) % 7 {
            let is_pom = n * 37 % 100 < poms;
            let costs = if is_pom { Costs { members: 1, ..costs } } else { costs };
            let hit = (n * 61 + minute) % 100 < costs.hits + (seed + minute) % 5;
            see(&mut cells, if is_pom { "pom" } else { "jar" }, costs, hit, slow);
        }
        minutes.end(cells, Millis(minute as i64 * 60_000));
    }
    minutes.baseline(Millis(0), Millis(300_000), "1.0.0")
}

fn differs(a: &Baseline, b: &Baseline) -> Vec<String> {
    a.compare(b).differs.into_iter().map(|pair| format!("{} {}", pair.class, pair.ratio)).collect()
}

#[test]
fn a_build_that_asks_members_twice_differs_and_nothing_else_does() {
    let twice = Costs { members: 6, ..USUAL };
    let found = export(USUAL, 0, 1, 0).compare(&export(twice, 0, 1, 0));
    let names: Vec<_> = found.differs.iter().map(|pair| (&*pair.ratio, pair.change)).collect();
    assert_eq!(names, [("inner_ops_per_request", Some(1.0)), ("members_per_group_request", Some(1.0))]);
    assert_eq!(found.differs[0].files, ["jar 2xx"]);
    assert_eq!(differs(&export(twice, 0, 1, 0), &export(USUAL, 0, 1, 0)).len(), 2);
    let reads = Costs { reads: 3, ..USUAL };
    assert_eq!(differs(&export(USUAL, 0, 1, 0), &export(reads, 0, 1, 0)), ["downloads inner_ops_per_request"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn the_same_build_does_not_differ_on_a_busy_machine_or_with_other_files(
        slow in 1_u64..200, poms in 10_u64..90, others in 10_u64..90, seed in 0_u64..100,
    ) {
        let (one, other) = (export(USUAL, poms, 1, seed), export(USUAL, others, slow, seed / 2));
        prop_assert_eq!(differs(&one, &other), Vec::<String>::new());
        prop_assert!(one.compare(&other).compared >= 5);
    }
}

#[test]
fn a_change_within_five_of_a_hundred_or_within_the_spread_is_none() {
    // 50 and 52 of a hundred are hits, and minutes differ by up to four.
    let more = Costs { hits: 52, ..USUAL };
    assert_eq!(differs(&export(USUAL, 0, 1, 0), &export(more, 0, 1, 0)), Vec::<String>::new());
    let fewer = Costs { hits: 30, ..USUAL };
    assert_eq!(differs(&export(USUAL, 0, 1, 0), &export(fewer, 0, 1, 0)), ["downloads hit_share"]);
}

#[test]
fn too_few_requests_minutes_or_kinds_of_files_in_common_are_told() {
    let (few, usual) = (
        {
            let (mut minutes, mut cells) = (Minutes::default(), Cells::default());
            (0..900).for_each(|_| see(&mut cells, "jar", USUAL, false, 1));
            minutes.end(cells, Millis(1));
            minutes.baseline(Millis(0), Millis(2), "1.0.0")
        },
        export(USUAL, 0, 1, 0),
    );
    let found = few.compare(&usual);
    assert_eq!((found.compared, found.not_compared[0].ratio.clone()), (0, None));
    assert!(found.not_compared[0].why.contains("900 and 20"), "{found:?}");
    let other = export(USUAL, 100, 1, 0);
    let why: BTreeSet<String> = usual.compare(&other).not_compared.into_iter().map(|one| one.why).collect();
    assert_eq!(why, ["too few requests of the same kinds of files on both sides".to_owned()].into());
    let (mut minutes, mut cells) = (Minutes::default(), Cells::default());
    (0..2000).for_each(|_| see(&mut cells, "jar", USUAL, false, 1));
    minutes.end(cells, Millis(1));
    let at_once = minutes.baseline(Millis(0), Millis(2), "1.0.0");
    assert!(at_once.compare(&at_once).not_compared[0].why.contains("3 minutes"));
}

#[test]
fn an_export_is_the_same_after_it_was_written_and_read() {
    let export = export(USUAL, 40, 1, 3);
    let text = serde_json::to_string(&export).unwrap();
    let read: Baseline = serde_json::from_str(&text).unwrap();
    assert_eq!(differs(&read, &export), Vec::<String>::new());
    assert_eq!((read.requests, read.minutes), (export.requests, 5));
}

#[test]
fn calls_are_those_of_the_event_that_made_them() {
    let (mut cells, mut minutes) = (Cells::default(), Minutes::default());
    let mut fetch = Event::job("fetch", Millis(1));
    fetch.add(Op::UpstreamFirstByte, 5);
    *fetch.upstream_mut() = UpstreamUse { calls: 2, connects: 1, ..UpstreamUse::default() };
    let mut follower = Event::request(Millis(1), Tick(1));
    follower.add(Op::FlightWait, 9);
    follower.more = fetch.more.clone();
    for event in [&fetch, &follower] {
        let figures = Figures::of(event);
        cells.see(&Glance::of(event, &figures));
    }
    minutes.end(cells, Millis(1));
    let baseline = minutes.baseline(Millis(0), Millis(2), "1.0.0");
    let jobs = &baseline.classes["jobs"].files["fetch"];
    assert_eq!((jobs["calls_per_fetch"].value, jobs["connects_per_fetch"].value), (2.0, 1.0));
    assert!(!baseline.classes["none"].files["other 0xx"].contains_key("calls_per_fetch"), "{baseline:?}");
}
