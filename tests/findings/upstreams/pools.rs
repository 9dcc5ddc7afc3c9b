//! Pools with too few places.

use super::{change, crowd, first, remote, sentence, server, silent};
use crate::world::{Says, Upstream, World};
use std::time::Duration;

/// The time of each answer of the upstream.
const ANSWER: Duration = Duration::from_millis(200);

/// A server that calls a host so often at once, and its slow upstream.
fn slow(settings: &'static [(&'static str, &'static str)]) -> (World, Upstream) {
    let (world, upstream) = (server(settings), Upstream::start());
    upstream.says_otherwise(Says::bytes("bytes").after(ANSWER));
    remote(&world, "far", &upstream);
    (world, upstream)
}

#[test]
fn two_calls_at_once_before_64_clients_are_named_with_the_number_that_leaves_no_wait() {
    let settings = &[("DAYLIGHT_UPSTREAM_MAX_CALLS", "2"), ("DAYLIGHT_UPSTREAM_MAX_FETCHES", "1024")];
    let (world, upstream) = slow(settings);
    crowd(&world, "far", 64, 1);
    let found = first(&world, "pool-too-narrow", &format!("upstream:{}", upstream.address()));
    let (from, to) = change(&found, "upstream.max_calls");
    assert!(from == 2 && (50..=84).contains(&to), "{found:#}");
    assert!(sentence(&found).contains("has 2 calls at most"), "{found:#}");
    assert!(found["lost_s_per_hour"].as_f64().unwrap() > 60.0 * 12.0, "{found:#}");
}

#[test]
fn half_as_many_clients_again_as_calls_are_told_and_fewer_clients_than_calls_are_not() {
    let (world, upstream) = slow(&[("DAYLIGHT_UPSTREAM_MAX_CALLS", "4")]);
    crowd(&world, "far", 6, 16);
    let found = first(&world, "pool-too-narrow", &format!("upstream:{}", upstream.address()));
    let (from, to) = change(&found, "upstream.max_calls");
    assert!(from == 4 && (6..=11).contains(&to), "{found:#}");
    let (world, _upstream) = slow(&[("DAYLIGHT_UPSTREAM_MAX_CALLS", "5")]);
    crowd(&world, "far", 4, 10);
    silent(&world, "pool-too-narrow");
}

/// The seconds that calls waited for a place, with so many calls at once before 32 clients.
fn waited(calls: usize) -> f64 {
    let mut world = World::stopped_in_conformance();
    world.configure(&format!("[upstream]\nmax_calls = {calls}\nmax_fetches = 1024\n"));
    world.resume();
    let upstream = Upstream::start();
    upstream.says_otherwise(Says::bytes("bytes").after(ANSWER));
    remote(&world, "far", &upstream);
    crowd(&world, "far", 32, 2);
    let page = world.anon().get("/metrics").expect(200);
    let series = "daylight_bound_waited_seconds_total{bound=\"upstream.calls\"";
    let waits = page.text().lines().filter(|line| line.starts_with(series));
    waits.map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum()
}

#[test]
fn at_the_advised_number_of_calls_nearly_nothing_is_lost() {
    let settings = &[("DAYLIGHT_UPSTREAM_MAX_CALLS", "8"), ("DAYLIGHT_UPSTREAM_MAX_FETCHES", "1024")];
    let (world, upstream) = slow(settings);
    crowd(&world, "far", 32, 2);
    let found = first(&world, "pool-too-narrow", &format!("upstream:{}", upstream.address()));
    let (_, to) = change(&found, "upstream.max_calls");
    let widely = std::env::var("DAYLIGHT_SWEEPS").is_ok();
    let sweep: &[usize] = if widely { &[2, 4, 8, 16, 24, 28, 32, 40, 64] } else { &[8, 64] };
    let lost: Vec<f64> = sweep.iter().map(|calls| waited(*calls)).collect();
    let least = lost.iter().copied().fold(f64::INFINITY, f64::min);
    let at_advised = waited(usize::try_from(to).unwrap());
    println!("{sweep:?}: {lost:.1?}; {at_advised:.2} at {to}");
    // 64 calls of 200 ms take 12.8 s.
    assert!(at_advised <= 1.1 * least + 0.3, "{at_advised} at {to}, {sweep:?}: {lost:?}");
    assert!(lost[0] > 5.0, "{lost:?}");
}
