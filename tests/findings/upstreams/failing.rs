//! Upstreams that fail or are slow.

use super::{ask, crowd, first, remote, sentence, server, silent};
use crate::world::{Says, Upstream, World};
use std::time::Duration;

/// A server and an upstream that answers one request of so many with 500: the last one of each client's `every` requests.
fn failing(every: usize) -> (World, Upstream) {
    let (world, upstream) = (server(&[]), Upstream::start());
    upstream.says_otherwise(Says::bytes("bytes"));
    remote(&world, "far", &upstream);
    for client in 0..10 {
        for round in (every - 1..100).step_by(every) {
            upstream.says(&format!("/a/{client}-{round}"), Says::status(500));
        }
    }
    (world, upstream)
}

#[test]
fn an_upstream_that_fails_is_named_from_one_request_in_twenty_on() {
    for (every, rounds) in [(13, 26), (2, 4)] {
        let (world, upstream) = failing(every);
        let statuses = ask(&world.anon(), "far", "a", 10, rounds);
        assert!(statuses.iter().filter(|status| **status != 200).count() >= 20);
        let found = first(&world, "upstream-fails", &format!("upstream:{}", upstream.address()));
        assert!(sentence(&found).contains("upstream_failed"), "{found:#}");
    }
}

#[test]
fn fewer_failures_and_those_of_a_gap_that_is_over_are_not_told() {
    let (world, _upstream) = failing(25);
    ask(&world.anon(), "far", "a", 10, 50);
    silent(&world, "upstream-fails");
    let (world, upstream) = failing(100);
    crowd(&world, "far", 4, 10);
    upstream.unplug();
    assert!(ask(&world.anon(), "far", "b", 4, 10).iter().all(|status| *status >= 500));
    upstream.plug();
    // Its circuit is tried again.
    world.set_time("2026-11-02T12:00:30Z");
    world.anon().file("far", "c/again").expect(200);
    ask(&world.anon(), "far", "d", 4, 20);
    silent(&world, "upstream-fails");
}

/// A server and an upstream whose answers take so long.
fn slow(millis: u64) -> (World, Upstream) {
    let (world, upstream) = (server(&[]), Upstream::start());
    upstream.says_otherwise(Says::bytes("bytes").after(Duration::from_millis(millis)));
    remote(&world, "far", &upstream);
    (world, upstream)
}

#[test]
fn an_upstream_whose_answers_take_longer_than_a_second_is_named_with_the_part_of_a_call_that_takes_long() {
    for (millis, clients, rounds) in [(1500, 12, 2), (4000, 20, 1)] {
        let (world, upstream) = slow(millis);
        crowd(&world, "far", clients, rounds);
        let found = first(&world, "upstream-slower", &format!("upstream:{}", upstream.address()));
        assert!(sentence(&found).contains("the head of its response"), "{found:#}");
    }
    let (world, _upstream) = slow(800);
    crowd(&world, "far", 12, 2);
    silent(&world, "upstream-slower");
}
