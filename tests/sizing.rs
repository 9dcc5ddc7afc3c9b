//! `daylight sizing`: at its figure nearly nobody waits, at six tenths of it many do; a size of twice the need is named, and an idle server says so.

use crate::world::{Says, Upstream, World, program};
use serde_json::Value;
use std::time::Duration;

/// The time of each answer of the upstream.
const ANSWER: Duration = Duration::from_millis(400);
/// Clients that ask at the same time.
const CLIENTS: u64 = 12;

/// A server that calls a host so often at once, after these clients have asked it for so many files each, one after the other.
fn asked(calls: u64, rounds: u64) -> (World, Upstream) {
    let world = World::start_with_file(&format!("[upstream]\nmax_calls = {calls}\nmax_fetches = 1024\n"));
    let upstream = Upstream::start();
    upstream.says_otherwise(Says::bytes("bytes").after(ANSWER));
    world.remote_of("raw", "far", &upstream.url());
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let anon = world.anon();
            scope.spawn(move || {
                let mut connection = anon.connect().unwrap();
                for round in 0..rounds {
                    let path = format!("/repository/far/a/{client}-{round}");
                    assert_eq!(anon.on(&mut connection, "GET", &path, &[], b"").unwrap().status, 200);
                }
            });
        }
    });
    (world, upstream)
}

fn sizing(world: &World) -> Value {
    world.admin().get("/api/v1/sizing?from=-1h&times=2").expect(200).json()
}

/// The row of an upstream.
#[track_caller]
fn row(sizing: &Value, upstream: &Upstream) -> Value {
    let subject = format!("upstream:{}", upstream.address());
    let row = sizing["rows"].as_array().unwrap().iter().find(|row| row["subject"] == subject);
    row.unwrap_or_else(|| panic!("{sizing:#}")).clone()
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} of {value:#}"))
}

/// The advice about a setting.
fn advice(sizing: &Value, setting: &str) -> Option<Value> {
    sizing["advice"].as_array().unwrap().iter().find(|one| one["setting"] == setting).cloned()
}

/// How long 95 % of the calls waited for a place at most, as a part of the time that one takes; and the same on average, by the metrics.
fn waits(world: &World, upstream: &Upstream) -> (f64, f64) {
    let data = row(&sizing(world), upstream)["data"].clone();
    let figure = |key: &str| data[key].as_f64().unwrap_or_else(|| panic!("{key} of {data}"));
    let page = world.admin().get("/metrics").expect(200);
    // Of all hosts: nobody asks the others.
    let metric = |name: &str| {
        let start = format!("{name}{{bound=\"upstream.calls\"");
        let lines = page.text().lines().filter(|line| line.starts_with(&start)).map(str::to_owned).collect::<Vec<_>>();
        lines.iter().map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum::<f64>()
    };
    let mean = metric("daylight_bound_waited_seconds_total") / metric("daylight_bound_waits_total");
    (figure("wait_p95_ms") / figure("service_ms"), mean / ANSWER.as_secs_f64())
}

#[test]
fn at_the_figure_nearly_nobody_waits_and_at_six_tenths_of_it_all_do() {
    let (world, upstream) = asked(4, 8);
    let told = sizing(&world);
    let found = row(&told, &upstream);
    let needed = number(&found, "needed");
    // Each client has one call under way at nearly every moment.
    assert!((CLIENTS - 1..=CLIENTS + 3).contains(&needed) && found["verdict"] == "too_small", "{found:#}");
    assert!((2 * needed - 2..=2 * needed + 2).contains(&number(&found, "needed_at")), "{found:#}");
    let change = advice(&told, "upstream.max_calls").unwrap_or_else(|| panic!("{told:#}"));
    assert_eq!((&change["from"], &change["to"]), (&4.into(), &found["needed_at"]), "{change:#}");
    assert!(change["sentence"].as_str().unwrap().contains("4 calls are too few"), "{change:#}");
    drop((world, upstream));
    let (world, upstream) = asked(needed, 18);
    let (p95, mean) = waits(&world, &upstream);
    assert!(p95 < 0.1 && mean < 0.1, "{p95} {mean} at {needed}: {:#}", row(&sizing(&world), &upstream));
    assert_eq!(row(&sizing(&world), &upstream)["verdict"], "too_small_for_more");
    let (world, upstream) = asked(needed * 6 / 10, 12);
    let (p95, mean) = waits(&world, &upstream);
    assert!(p95 > 0.1 && mean > 0.1, "{p95} {mean} at {}", needed * 6 / 10);
    assert_eq!(row(&sizing(&world), &upstream)["verdict"], "too_small");
}

#[test]
fn a_pool_of_twice_the_need_is_named_in_words_and_in_the_table() {
    let (world, upstream) = asked(2 * CLIENTS + 8, 20);
    let told = sizing(&world);
    let found = row(&told, &upstream);
    assert!(
        (CLIENTS - 2..=CLIENTS + 3).contains(&number(&found, "needed")) && found["verdict"] == "twice_too_large",
        "{found:#}"
    );
    let change = advice(&told, "upstream.max_calls").unwrap_or_else(|| panic!("{told:#}"));
    assert!(change["sentence"].as_str().unwrap().contains("`upstream.max_calls`: 32 calls, 1"), "{change:#}");
    assert_eq!((&change["from"], &change["to"]), (&32.into(), &found["needed_at"]), "{change:#}");
    assert!(told["machines"]["needed"].as_u64() >= Some(1), "{told:#}");
    let mut command = program(&["sizing", "--from", "-1h", "--server", &world.root()]);
    let printed = command.env("DAYLIGHT_TOKEN", world.admin().secret()).output().unwrap();
    let text = String::from_utf8(printed.stdout).unwrap();
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    for part in ["WHAT", "AT 2x", "machine:processors (server.cores)", "  change    upstream.max_calls = "] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn an_idle_server_says_so_and_names_no_size() {
    let world = World::start();
    let told = sizing(&world);
    assert_eq!(
        (&told["idle"], &told["advice"], &told["machines"]),
        (&true.into(), &Value::Array(Vec::new()), &Value::Null)
    );
    let rows = told["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["verdict"] == "unknown" && row["needed"].is_null()), "{told:#}");
    let observer = world.person("observer", &["observe"], &[]);
    observer.get("/api/v1/sizing").expect(200);
    world.anon().get("/api/v1/sizing").expect(401);
    let refused = observer.get("/api/v1/sizing?from=-1h&times=0").expect(400);
    assert!(refused.text().contains("`times` must be a number from 1 to 100"), "{}", refused.text());
}
