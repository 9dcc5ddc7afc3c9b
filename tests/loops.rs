//! No work that grows with a repository runs on the event loops. The test counts which operation ran where, and never
//! measures time.

use crate::accounts::sum;
use crate::world::{FIRST, Gem, World};

/// More versions than an event loop renders in place.
const VERSIONS: usize = 24;

/// The metrics after every loop has reported its work.
fn told(world: &World) -> String {
    let read = || world.admin().get("/metrics").expect(200).text().to_owned();
    let beats = |metrics: &str| -> Vec<u64> {
        let lines = metrics.lines().filter(|line| line.starts_with("daylight_loop_late_seconds_count{loop=\"core-"));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect()
    };
    let before = beats(&read());
    assert!(!before.is_empty(), "no loop has a heartbeat");
    loop {
        let metrics = read();
        if beats(&metrics).iter().zip(&before).all(|(now, before)| now > before) {
            return metrics;
        }
    }
}

/// How often `op` ran in total, and how often on an event loop.
fn runs(metrics: &str, op: &str) -> (u64, u64) {
    let on_loops = metrics.lines().filter(|line| line.starts_with("daylight_loop_ops_total{"));
    let on_loops = on_loops.filter(|line| line.contains(&format!("op=\"{op}\"")));
    let count = |line: &str| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
    (sum(metrics, &format!("daylight_op_duration_seconds_count{{op=\"{op}\"}}")), on_loops.map(count).sum())
}

#[test]
fn what_grows_with_a_repository_runs_on_no_loop() {
    let world = World::start();
    let (admin, anon) = (world.admin(), world.anon());
    for version in 0..VERSIONS {
        admin.push(FIRST, &Gem::new("lamp", &format!("1.0.{version}"))).expect(200);
    }
    let before = told(&world);
    for round in 0..5 {
        admin.push(FIRST, &Gem::new("lamp", &format!("2.0.{round}"))).expect(200);
        admin.yank(FIRST, "lamp", &format!("1.0.{round}")).expect(200);
        for what in ["info/lamp", "versions"] {
            anon.get(&format!("/repository/{FIRST}/{what}")).expect(200);
        }
    }
    let after = told(&world);
    // The first of these pushes continues from the cached state of the gem. The others follow a yank, and read its
    // rows.
    for (op, least) in [("index.render", 10), ("facts.read", 4), ("package.read", 5), ("truth.read", 20)] {
        let (all, on_loops) = runs(&after, op);
        let (all_before, on_loops_before) = runs(&before, op);
        assert!(all >= all_before + least, "{op}: {all_before}, then {all}");
        assert_eq!(on_loops, on_loops_before, "{op} ran on a loop");
    }
    let (_, routes) = runs(&after, "route.read");
    assert!(routes > 20, "quick operations run on the loop, and are counted there: {routes}");
}

#[test]
fn every_loop_says_what_kept_it_longest() {
    let world = World::start_with(&[("DAYLIGHT_SERVER_CORES", "2")]);
    world.anon().get(&format!("/repository/{FIRST}/versions")).expect(200);
    let metrics = told(&world);
    for name in ["core-0", "core-1", "back"] {
        let longest = format!("daylight_loop_blocked_longest_seconds{{loop=\"{name}\",op=\"");
        assert_eq!(metrics.lines().filter(|line| line.starts_with(&longest)).count(), 1, "{metrics}");
    }
}
