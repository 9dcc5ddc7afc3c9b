//! An upstream that never answers: requests for its files wait, and no others do.

use super::beside::{Others, await_metrics, bound, remote};
use crate::accounts::sum;
use crate::world::frames::Frames;
use crate::world::{Connection, Says, Upstream, World};
use std::net::SocketAddr;

/// Few places in each class, so that a few waiting requests would take all of them.
const FEW: &[(&str, &str)] = &[
    ("DAYLIGHT_SERVER_MAX_DOWNLOADS", "8"),
    ("DAYLIGHT_SERVER_MAX_INDEXES", "8"),
    ("DAYLIGHT_SERVER_MAX_PAGES", "8"),
    ("DAYLIGHT_SERVER_MAX_ADMIN", "8"),
    ("DAYLIGHT_UPSTREAM_ANSWER_TIMEOUT_S", "600"),
];
/// The default number of places for two cores, and a limit of more connections than that.
const ALL: &[(&str, &str)] = &[
    ("DAYLIGHT_SERVER_CORES", "2"),
    ("DAYLIGHT_SERVER_MAX_CONNECTIONS", "4000"),
    ("DAYLIGHT_SERVER_MAX_CONNECTIONS_PER_CLIENT", "4000"),
    ("DAYLIGHT_UPSTREAM_ANSWER_TIMEOUT_S", "600"),
];

/// A server with a silent upstream, `hang`, as Maven's and `hang-raw`, as plain files.
struct Scene {
    world: World,
    upstream: Upstream,
}

impl Scene {
    fn new() -> Self {
        let world = World::start_with(if full() { ALL } else { FEW });
        let upstream = Upstream::start();
        upstream.says_otherwise(Says::bytes("never").silent());
        remote(&world, ("hang", "maven"), &upstream.url());
        remote(&world, ("hang-raw", "raw"), &upstream.url());
        Self { world, upstream }
    }

    /// Waits until this number of requests waits or was refused, and none of them occupies a class.
    fn await_waiting(&self, count: u64) {
        await_metrics(&self.world, "waiting requests", |metrics| {
            let refused = ["requests", "client.requests", "upstream.waiters", "client.waiters", "repository.flights"];
            let refused: u64 = refused.iter().map(|name| bound(metrics, "rejected_total", name)).sum();
            let worked_on = bound(metrics, "used", "requests");
            worked_on == 0 && bound(metrics, "used", "upstream.waiters") + refused >= count
        });
    }
}

/// Whether the attack is large enough for the default places of a server.
fn full() -> bool {
    std::env::var_os("DAYLIGHT_ATTACKERS").is_some()
}

/// This number, or as many as would take all places of a server with few.
fn attackers(count: usize) -> usize {
    if full() { count } else { 24 }
}

fn ask(address: SocketAddr, path: &str) -> Connection {
    let mut connection = Connection::open(address).unwrap();
    connection.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
    connection
}

/// Sends this number of requests, each on a connection of its own, and runs the normal clients beside them.
fn beside(count: usize, path: impl Fn(usize) -> String) {
    let scene = Scene::new();
    let mut others = Others::new(&scene.world);
    let waiting: Vec<_> =
        (0..count).map(|number| ask(scene.world.address(), &format!("/repository/{}", path(number)))).collect();
    scene.await_waiting(count as u64);
    others.go_on();
    drop(waiting);
    others.go_on();
}

#[test]
fn those_who_wait_for_a_silent_upstream_are_in_nobody_s_way() {
    let jar = |number: usize| format!("hang/org/example/lamp/{number}/lamp-{number}.jar");
    // One file, many files, what looks like an index, and what looks like a small answer.
    beside(attackers(1024), |_| jar(1));
    beside(attackers(1024), jar);
    beside(attackers(256), |_| "hang-raw/versions".into());
    beside(attackers(2048), |_| "hang-raw/downloads/lamp-1.0.0.gem".into());
}

#[test]
fn those_who_wait_on_streams_of_http2_are_in_nobody_s_way() {
    let scene = Scene::new();
    let mut others = Others::new(&scene.world);
    let connections = attackers(1024) / 8;
    let mut all: Vec<Frames> = (0..connections).map(|_| Frames::open(scene.world.address(), &[])).collect();
    for frames in &mut all {
        for _ in 0..8 {
            frames.get("/repository/hang/org/example/lamp/1/lamp-1.jar").unwrap();
        }
    }
    scene.await_waiting(connections as u64 * 8);
    others.go_on();
    // A probe on a connection with streams that wait is answered as well.
    let probe = all[0].get("/health/live").unwrap();
    assert_eq!(all[0].ended(probe).status(), 200);
}

#[test]
fn what_was_waited_for_comes_to_all_who_waited() {
    let scene = Scene::new();
    let path = "/lamp.zip";
    scene.upstream.says(path, Says::file("lamp").silent());
    let count = attackers(1024);
    let mut waiting = Vec::new();
    while waiting.len() < count {
        // Not more at once than there are places: each request returns its place once it waits.
        waiting.extend((0..2).map(|_| ask(scene.world.address(), &format!("/repository/hang-raw{path}"))));
        scene.await_waiting(waiting.len() as u64);
        let waits = |metrics: &str| bound(metrics, "used", "upstream.waiters") == waiting.len() as u64;
        await_metrics(&scene.world, "all of them", waits);
    }
    scene.upstream.release(path);
    for mut connection in waiting {
        assert_eq!(connection.answer(false).unwrap().expect(200).text(), "lamp");
    }
    assert_eq!(scene.upstream.count(path), 1);
    let metrics = scene.world.anon().get("/metrics").expect(200);
    assert_eq!(bound(metrics.text(), "used", "upstream.waiters"), 0);
}

#[test]
fn who_waits_beyond_the_part_of_one_client_is_told_at_once_to_come_again() {
    let world =
        World::start_with(&[("DAYLIGHT_SERVER_MAX_WAITING", "8"), ("DAYLIGHT_UPSTREAM_ANSWER_TIMEOUT_S", "600")]);
    let upstream = Upstream::start();
    upstream.says_otherwise(Says::bytes("never").silent());
    remote(&world, ("hang", "raw"), &upstream.url());
    let waiting = [0, 1].map(|_| ask(world.address(), "/repository/hang/lamp.zip"));
    await_metrics(&world, "waiting requests", |metrics| bound(metrics, "used", "client.waiters") == 2);
    let refused = world.anon().file("hang", "lamp.zip").expect(503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert!(refused.text().contains("too many requests wait for upstreams"), "{}", refused.text());
    drop(waiting);
    await_metrics(&world, "room", |metrics| bound(metrics, "used", "upstream.waiters") == 0);
    let metrics = world.anon().get("/metrics").expect(200);
    assert_eq!(sum(metrics.text(), "daylight_reasons_total{reason=\"waiters_full\"}"), 1);
}

#[test]
fn where_all_connections_are_taken_probes_and_metrics_are_answered_and_others_come_again() {
    let world = World::start_with(&[
        ("DAYLIGHT_SERVER_MAX_CONNECTIONS", "64"),
        ("DAYLIGHT_SERVER_MAX_CONNECTIONS_PER_CLIENT", "48"),
        ("DAYLIGHT_SERVER_HEAD_TIMEOUT_S", "600"),
    ]);
    // All allowed connections without a request, and as many in reserve.
    let crowd: Vec<_> = (0..400).map(|_| Connection::open(world.address()).unwrap()).collect();
    for _ in 0..20 {
        super::beside::healthy(&world);
        let refused = world.anon().get("/repository/gems-private/versions").expect(503);
        assert_eq!((refused.header("retry-after"), refused.header("connection")), (Some("1"), Some("close")));
    }
    drop(crowd);
    await_metrics(&world, "room", |metrics| bound(metrics, "used", "connections") < 48);
    world.anon().get("/repository/gems-private/versions").expect(200);
}
