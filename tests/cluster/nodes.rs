//! Two servers on one database: a change that one of them acknowledged is in the other, and a server that hears nothing says so.

use super::{VARIABLES, journal, settings_of};
use crate::rebuild::fill;
use crate::tail::listen;
use crate::world::{Answer, FIRST, Gem, Person, Postgres, World, await_true};
use rustix::process::{Pid, Signal, kill_process};
use std::time::{Duration, Instant};

fn node(postgres: &Postgres, name: &str) -> World {
    World::start_with_file_and(&settings_of(postgres, name), VARIABLES)
}

fn signal(world: &World, signal: Signal) {
    kill_process(Pid::from_raw(world.id()).unwrap(), signal).unwrap();
}

fn is_stale(answer: &Answer) -> bool {
    answer.header("daylight-stale") == Some("truth_unreachable")
}

/// The status by which a server says whether its answers are fresh.
fn probe(world: &World) -> u16 {
    world.anon().get("/health/ready?fresh").status
}

/// The paths of a gem, of its index, and of a file in a tree: pages, and answers that are made for each request.
fn versions(world: &World) -> Answer {
    world.anon().get(&format!("/repository/{FIRST}/versions")).expect(200)
}

#[test]
fn what_one_server_acknowledges_the_other_has_at_once() {
    let postgres = Postgres::start();
    let servers = ["a", "b"].map(|name| node(&postgres, name));
    for number in 0..12 {
        let (one, other) = (&servers[number % 2], &servers[(number + 1) % 2]);
        let version = format!("1.{number}.0");
        // It is a page by then. A server that gets no processor for a second says that its answers may be stale.
        await_true("answers are fresh", || !is_stale(&versions(other)) && !is_stale(&versions(one)));
        one.admin().push(FIRST, &Gem::new("lamp", &version)).expect(200);
        let there = versions(other);
        assert!(there.text().contains(&version) || is_stale(&there), "{there:?}");
        await_true("it is there", || versions(other).text().contains(&version));
        other.admin().yank(FIRST, "lamp", &version).expect(200);
        let there = versions(one);
        assert!(there.text().contains(&format!("-{version}")) || is_stale(&there), "{there:?}");
    }
    journal(&postgres);
}

#[test]
fn a_server_that_was_stopped_calls_nothing_fresh_until_it_has_caught_up_and_holds_up_others_once() {
    let postgres = Postgres::start();
    let (one, other) = (node(&postgres, "a"), node(&postgres, "b"));
    fill(&one);
    for round in 0..3 {
        await_true("a page that every client gets", || !is_stale(&versions(&other)));
        signal(&other, Signal::STOP);
        let version = format!("9.{round}.0");
        one.admin().push(FIRST, &Gem::new("lamp", &version)).expect(200);
        signal(&other, Signal::CONT);
        let there = versions(&other);
        assert!(is_stale(&there) || there.text().contains(&version), "{there:?}");
        await_true("it has caught up", || !is_stale(&versions(&other)));
        assert!(versions(&other).text().contains(&version));
    }
    // While it is stopped, only the first change waits for it.
    signal(&other, Signal::STOP);
    one.admin().push(FIRST, &Gem::new("oil", "9.0.0")).expect(200);
    let waited = |world: &World| {
        let metrics = world.admin().get("/metrics").expect(200);
        let line = metrics
            .text()
            .lines()
            .find(|line| line.starts_with("daylight_op_duration_seconds_sum{op=\"truth.commit.everywhere\"}"));
        line.and_then(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).unwrap_or_default()
    };
    let before = waited(&one);
    let more = ["9.1.0", "9.2.0", "9.3.0", "9.4.0", "9.5.0"];
    for version in more {
        one.admin().push(FIRST, &Gem::new("oil", version)).expect(200);
    }
    assert!(waited(&one) - before < more.len() as f64, "each would have waited for more than a second");
    signal(&other, Signal::CONT);
    await_true("it has caught up", || !is_stale(&versions(&other)));
    assert!(versions(&other).text().contains("9.5.0"));
    await_true("both say so", || probe(&one) == 200 && probe(&other) == 200);
}

#[test]
fn a_server_without_postgresql_is_ready_and_not_fresh() {
    let postgres = Postgres::start();
    let one = node(&postgres, "a");
    one.tree("files", "raw");
    await_true("its answers are fresh", || probe(&one) == 200);
    postgres.suspend();
    await_true("its answers are stale", || is_stale(&versions(&one)));
    let told = one.anon().get("/health/ready?fresh").expect(503);
    assert_eq!(told.text(), "not ready: changes of other machines may be missing\n");
    one.anon().get("/health/ready").expect(200);
    let doubted = [
        one.admin().yank(FIRST, "lamp", "1.0.0").expect(503),
        one.admin().delete("files", "a/b.bin").expect(503),
        one.admin().ask("DELETE", "/api/v1/repositories/elsewhere", &[], b"").expect(503),
    ];
    for refused in doubted {
        let text = refused.text();
        assert!(text.contains("other nodes may be missing") && refused.header("retry-after").is_some(), "{refused:?}");
    }
    one.admin().ask("DELETE", "/api/v1/nothing", &[], b"").expect(404);
    postgres.run_on();
    await_true("its answers are fresh", || probe(&one) == 200 && !is_stale(&versions(&one)));
    await_true("there is no version", || one.admin().yank(FIRST, "lamp", "1.0.0").status == 404);
    await_true("there is no file", || one.admin().delete("files", "a/b.bin").status == 404);
}

#[test]
fn a_server_that_hears_nothing_of_others_believes_tokens_for_a_limited_time() {
    let postgres = Postgres::start();
    let [one, other] = ["a", "b"]
        .map(|name| World::start_with_file_and(&(settings_of(&postgres, name) + "stale_private_s = 1\n"), VARIABLES));
    one.repository("secret", true);
    one.admin().push("secret", &Gem::new("lamp", "1.0.0")).expect(200);
    let read = |by: &Person, repository: &str| by.get(&format!("/repository/{repository}/versions"));
    let admin = other.admin();
    // They are pages by then. A server that gets no processor for two seconds doubts tokens, too.
    let reads = || ["secret", FIRST].map(|repository| read(&admin, repository).status);
    await_true("tokens are believed", || (0..3).all(|_| reads() == [200, 200]));
    let watcher = other.anon().with_secret(one.person("watcher", &["observe"], &[]).secret());
    let (_, mut before) = listen(&watcher, "status = 404");
    postgres.suspend();
    await_true("tokens are doubted", || read(&admin, "secret").status == 503);
    let refused = read(&admin, "secret").expect(503);
    let said = refused.text();
    assert!(said.contains("tokens are not believed") && said.contains("hint: "), "{said}");
    read(&admin, FIRST).expect(200);
    read(&other.anon(), FIRST).expect(200);
    admin.get("/api/v1/cluster").expect(200);
    let (_, mut meanwhile) = listen(&watcher, "status = 404");
    postgres.run_on();
    await_true("tokens are believed", || read(&admin, "secret").status == 200);
    // Listeners go on, whether they came before or meanwhile, until their token is revoked.
    other.anon().get("/nothing").expect(404);
    for stream in [&mut before, &mut meanwhile] {
        while stream.message().unwrap().1["path"] != "/nothing" {}
    }
    await_true("it is revoked", || one.admin().ask("DELETE", "/api/v1/tokens/watcher", &[], b"").status == 204);
    other.anon().get("/nothing").expect(404);
    for stream in [&mut before, &mut meanwhile] {
        while stream.message().is_some() {}
    }
    // One that was alone has nobody who revokes.
    drop(one);
    postgres.sql("UPDATE daylight.node SET at = at - interval '2 hours' WHERE name = 'a'");
    await_true("it is alone", || {
        other.admin().get("/metrics").expect(200).text().contains("daylight_cluster_nodes 1\n")
    });
    postgres.suspend();
    await_true("its answers are stale", || is_stale(&versions(&other)));
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(2) {
        assert!(is_stale(&read(&admin, "secret").expect(200)));
    }
}

#[test]
fn a_server_does_not_start_under_the_name_of_another_and_stops_following_where_it_cannot() {
    let postgres = Postgres::start();
    let one = node(&postgres, "a");
    let said = World::fails_to_start(&settings_of(&postgres, "a"), VARIABLES);
    assert!(said.contains("another node with the name `a` is running") && said.contains("cluster.node"), "{said}");
    let last = journal(&postgres).len();
    let row = format!(r#"{{"v":99,"seq":{},"at":1,"by":"x","change":"miracle"}}"#, last + 1);
    let insert = format!("INSERT INTO daylight.journal VALUES ({}, '{row}', 'z', 'z')", last + 1);
    postgres.sql(&format!("{insert}; UPDATE daylight.counter SET seq = {}", last + 1));
    await_true("it is not ready", || one.anon().get("/health/ready").status == 503);
    let told = one.anon().get("/health/ready").expect(503);
    assert_eq!(told.text(), "not ready: changes of other machines cannot be taken in\n");
    one.await_log("it has version `99`");
    let refused = one.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(503);
    assert!(refused.text().contains("hint: "), "{refused:?}");
}
