//! `daylight probe`: where the time of requests goes, seen from a client.

use crate::world::{ADMIN, Door, Says, Upstream, World, program};
use serde_json::Value;
use std::time::Duration;

/// The least that is told of a request that a proxy holds for 400 ms: one round trip, which a busy machine delays, counts as the road.
const HELD_MS: f64 = 390.0;

/// What a probe says as JSON.
#[track_caller]
fn probe(url: &str, token: &str, flags: &[&str]) -> Value {
    let mut command = program(&["probe", "--json", url]);
    let done = command.args(flags).env("DAYLIGHT_TOKEN", token).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    serde_json::from_slice(&done.stdout).unwrap()
}

#[test]
fn a_proxy_that_holds_requests_is_told_from_the_server_and_from_the_road() {
    let world = World::start();
    let door = Door::holding(world.address(), Duration::from_millis(400));
    let url = format!("http://{}/health/live", door.address());
    // The events are read where nothing holds the requests.
    let root = world.root();
    let mut command = program(&["probe", &url, "--count", "6", "--every-ms", "300", "--server", &root]);
    let done = command.env("DAYLIGHT_TOKEN", ADMIN).output().unwrap();
    let said = String::from_utf8([done.stdout, done.stderr].concat()).unwrap();
    let verdict = said.lines().next().unwrap();
    assert!(verdict.starts_with("outside, "), "{said}");
    let waited = verdict.split(' ').nth(1).unwrap();
    assert!(waited.parse::<f64>().unwrap() >= HELD_MS, "{said}");
    assert!(
        verdict.contains(&format!(" ms: requests wait {waited} "))
            && verdict.contains("in front of the server, which then takes "),
        "{said}"
    );
    assert!(said.contains("6 answers, ") && said.contains(": 6 with 200"), "{said}");

    let told = probe(&url, ADMIN, &["--count", "4", "--every-ms", "500"]);
    let outside = told["places_ms"]["outside"].as_f64().unwrap();
    let whole = told["open_connection_ms"].as_f64().unwrap();
    assert!((HELD_MS..=whole).contains(&outside) && told["verdict"]["where"] == "outside", "{told:#}");
    assert_eq!((&told["inside_known"], &told["statuses"]["200"]), (&4.into(), &4.into()), "{told:#}");
    let requests = told["requests"].as_array().unwrap();
    let new: Vec<bool> = requests.iter().map(|request| request["new_connection"].as_bool().unwrap()).collect();
    assert!(new.contains(&true) && new.contains(&false), "{told:#}");
}

#[test]
fn without_a_token_that_may_observe_the_answers_tell_their_time_or_nothing_is_told_apart() {
    let world = World::start_with(&[("DAYLIGHT_TELEMETRY_SERVER_TIMING", "on")]);
    let url = format!("{}/repository/nowhere/x", world.root());
    let told = probe(&url, "", &["--count", "4", "--every-ms", "20"]);
    assert_eq!((&told["inside_known"], &told["statuses"]["404"]), (&4.into(), &4.into()), "{told:#}");
    assert!(told["inside_refused"].as_str().unwrap().contains("(401)"), "{told:#}");

    // Something else than Daylight, which says who it is.
    let other = Upstream::start();
    let slow = Says::bytes("a file")
        .header("Server", "other/1.0")
        .header("Via", "1.1 cache")
        .after(Duration::from_millis(150));
    other.says("/file", slow);
    let url = format!("{}file", other.url());
    let told = probe(&url, "", &["--count", "3", "--every-ms", "20"]);
    let (verdict, ms) = (&told["verdict"], told["verdict"]["ms"].as_f64().unwrap());
    assert!(verdict["where"] == "unknown" && ms >= 140.0, "{told:#}");
    assert_eq!(told["proxies"], serde_json::json!(["Via: 1.1 cache", "Server: other/1.0"]), "{told:#}");
    other.unplug();
    let done = program(&["probe", &url, "--count", "2", "--every-ms", "1"]).output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(done.status.code() == Some(1) && said.contains("answers no request"), "{said}");
    let done = program(&["probe", "http://me:hush@a.test/"]).output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(done.status.code() == Some(2) && !said.contains("hush"), "{said}");
}
