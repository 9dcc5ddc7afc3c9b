//! Requests in progress: an administrator sees what each waits for, and `/metrics` has the age of the oldest.

use crate::world::{Connection, FIRST, Says, Upstream, World, eventually};
use serde_json::{Value, json};

/// Sends a request and leaves its answer.
fn begin(world: &World, path: &str) -> Connection {
    let mut connection = Connection::open(world.address()).unwrap();
    connection.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
    connection
}

/// Waits until this holds for the open requests below repositories.
#[track_caller]
fn open(world: &World, holds: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let observer = world.admin();
    eventually(|| {
        let all = observer.get("/api/v1/requests").expect(200).json();
        let mut all = all["requests"].as_array().unwrap().clone();
        all.retain(|one| one["path"].as_str().unwrap().starts_with("/repository/"));
        if holds(&all) { Ok(all) } else { Err(format!("{all:?}")) }
    })
}

#[test]
fn requests_that_an_upstream_leaves_waiting_are_listed_with_what_they_wait_for() {
    let (world, upstream) = (World::start_with(&[("DAYLIGHT_UPSTREAM_ANSWER_TIMEOUT_S", "600")]), Upstream::start());
    world.remote_of("raw", "far", &upstream.url());
    world.make(&json!({ "name": "all", "format": "raw", "kind": "group", "members": ["far"] }));
    upstream.says_otherwise(Says::bytes("never").silent());
    upstream.says("/half", Says::bytes(vec![7; 1 << 20]).held_at(300_000));
    let secret = "daylight_0123456789abcdefghijklmnop";
    let first = begin(&world, &format!("/repository/far/{secret}"));
    open(&world, |all| all.len() == 1);
    let second = begin(&world, "/repository/all/file");
    open(&world, |all| all.len() == 2 && all.iter().all(|one| one["op"] == "flight.wait"));
    let third = begin(&world, "/repository/far/half");
    let all = open(&world, |all| all.len() == 3 && all[2]["bytes_out"].as_u64() > Some(100_000));
    let told: Vec<(&str, &str)> =
        all.iter().map(|one| (one["path"].as_str().unwrap(), one["repository"].as_str().unwrap())).collect();
    let expected =
        [("/repository/far/daylight_***", "far"), ("/repository/all/file", "all"), ("/repository/far/half", "far")];
    assert_eq!(told, expected, "the oldest first, and no secrets");
    assert_eq!(
        (&all[0]["method"], &all[2]["op"]),
        (&json!("GET"), &json!("body.wait")),
        "the client of the third reads"
    );
    assert_eq!(all[0]["ops"], json!(["flight.wait"]));
    assert_eq!(all[1]["ops"], json!(["flight.wait", "members.ask"]));
    let ages: Vec<u64> = all.iter().map(|one| one["age_ms"].as_u64().unwrap()).collect();
    assert!(ages.is_sorted_by(|one, next| one >= next), "{ages:?}");

    world.person("reader", &["read"], &[]).get("/api/v1/requests").expect(403);
    world.person("observer", &["observe"], &[]).get("/api/v1/requests").expect(200);

    // The page is rendered within the age that a later list shows.
    let page = world.anon().get("/metrics").expect(200);
    let oldest = page.text().lines().find_map(|line| {
        line.strip_prefix("daylight_open_request_age_seconds{op=\"flight.wait\"} ")?.parse::<f64>().ok()
    });
    assert!(oldest.unwrap() * 1000.0 >= ages[0] as f64, "{oldest:?} {ages:?}");

    drop((first, second, third));
    open(&world, <[Value]>::is_empty);
    world.event(all[0]["id"].as_str().unwrap());
}

#[test]
fn an_event_tells_the_places_that_were_taken_when_it_arrived() {
    let (world, upstream) = (World::start_with(&[("DAYLIGHT_SERVER_CORES", "1")]), Upstream::start());
    world.make(&json!({ "name": "near", "format": "raw" }));
    world.admin().put("near", "file", b"bytes").expect(201);
    let mut slow = Connection::open(world.address()).unwrap();
    let head = format!(
        "PUT /repository/near/slow HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nContent-Length: 3\r\n\r\n",
        world.admin().secret()
    );
    slow.send(head.as_bytes()).unwrap();
    open(&world, |all| all.len() == 1 && all[0]["op"] == "body.receive");
    let answer = world.admin().put("near", "other", b"bytes").expect(201);
    let event = world.event(answer.header("daylight-event").unwrap());
    assert_eq!(event["arrival"]["class_used"], 1, "{event}");
    assert_eq!(event["arrival"]["in_flight"], 1, "{event}");
    assert!(event["arrival"]["late_ms"].is_number(), "{event}");
    drop(upstream);
}

#[test]
fn a_sampled_trace_is_recorded_for_pages_too() {
    let world = World::start();
    let path = format!("/repository/{FIRST}/names");
    world.anon().get(&path).expect(200);
    let (id, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
    for (flags, kept) in [("01", true), ("00", false)] {
        let trace = format!("00-{id}-{parent}-{flags}");
        let answer = world.anon().ask("GET", &path, &[("traceparent", &trace)], b"").expect(200);
        let event = world.event(answer.header("daylight-event").unwrap());
        let told = (event["layer"].as_str(), event["trace"].as_str(), event["trace_parent"].as_str());
        assert_eq!(told, (Some("page"), kept.then_some(id), kept.then_some(parent)));
    }
}
