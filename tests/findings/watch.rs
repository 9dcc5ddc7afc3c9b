//! Findings of the watch, made by real faults: a core that hangs, a database that does not answer, a run that was killed. And these are no
//! fault: slow clients, an upstream that hangs, a process that was stopped.

use super::incident::{Incident, begun};
use crate::world::{Connection, FIRST, Says, Upstream, Watched, World, await_true, eventually};
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

/// Long enough for every test, in microseconds.
const LONG_US: u64 = 120_000_000;

/// The open finding of this id.
#[track_caller]
fn open(world: &World, id: &str) -> Value {
    eventually(|| {
        let all = world.findings();
        let found = all.iter().find(|one| one["id"] == id && one["state"] == "open").cloned();
        found.ok_or_else(|| format!("{id} is not open: {all:?}"))
    })
}

/// What the readiness probe says, on a connection of its own.
fn ready(world: &World) -> (u16, String) {
    let answer = world.anon().get("/health/ready");
    (answer.status, answer.text().to_owned())
}

/// Waits until serving goes on: the probe is green, and no such finding is open.
#[track_caller]
fn await_green(world: &World) {
    await_true("the probe is green", || ready(world).0 == 200);
    let stands = |id: &String| id.starts_with("serving-stands-still");
    await_true("the finding is closed", || !world.open_findings().iter().any(stands));
}

/// How many probes the server has sent to itself and got answers to.
fn probes(world: &World, side: &str) -> u64 {
    let metrics = world.admin().get("/metrics").expect(200);
    let line = format!("daylight_probe_duration_seconds_count{{side=\"{side}\"}} ");
    metrics.text().lines().find_map(|told| told.strip_prefix(&line)?.parse().ok()).unwrap()
}

/// Waits until the server has answered itself, so its loops run.
fn await_begun(world: &World) {
    await_true("the server has answered itself", || probes(world, "outside") > 0);
}

#[test]
fn a_core_that_hangs_is_named_while_another_one_says_that_serving_stands_still() {
    let world = World::start_with(&[("DAYLIGHT_SERVER_CORES", "2")]);
    await_begun(&world);
    let fault = Watched::delay_thread(world.id(), "core-0", "epoll_wait", LONG_US);
    world.await_log("serving stands still what=core-0");
    let (status, told) = ready(&world);
    assert!(status == 503 && told.starts_with("not ready: serving stands still: core-0, for "), "{status} {told}");
    let finding = open(&world, "serving-stands-still@loop:core-0");
    let sentence = finding["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("the event loop `core-0` has been silent for 4 s; "), "{sentence}");
    assert!(finding["evidence"]["measures"].is_array(), "{finding}");
    drop(fault);
    world.await_log("serving goes on");
    await_green(&world);
}

#[test]
fn requests_that_nobody_answers_are_told_with_what_they_wait_for() {
    let world = World::start_with(&[("DAYLIGHT_STORE_READERS", "1"), ("DAYLIGHT_SERVER_CORES", "1")]);
    await_begun(&world);
    let fault = Watched::delay_thread(world.id(), "truth-reader", "futex", LONG_US);
    let mut waits: Vec<Connection> = Vec::new();
    // The thread hangs as soon as it waits for work again. Until then it answers, so others are sent.
    await_true("serving stands still", || {
        let open = world.admin().get("/api/v1/requests").expect(200).json();
        let waits_for_it = |one: &&Value| one["path"].as_str().unwrap().starts_with("/repository/");
        if open["requests"].as_array().unwrap().iter().filter(waits_for_it).count() < 3 {
            let mut connection = Connection::open(world.address()).unwrap();
            let number = waits.len();
            let head = format!("GET /repository/{FIRST}/info/lamp-{number} HTTP/1.1\r\nHost: localhost\r\n\r\n");
            connection.send(head.as_bytes()).unwrap();
            waits.push(connection);
        }
        world.log().contains("serving stands still what=requests")
    });
    let (status, told) = ready(&world);
    assert!(
        status == 503 && told.contains("serving stands still: requests, for 1") && told.contains("truth."),
        "{told}"
    );
    let finding = open(&world, "serving-stands-still@server");
    let doing = finding["guards"][1]["value"].as_array().unwrap();
    let of_test = doing.iter().filter(|line| line.as_str().unwrap().contains(" GET /repository/"));
    assert!(of_test.count() >= 3, "{doing:?}");
    assert!(world.log().contains("an open request request="), "{}", world.log());
    drop(fault);
    for mut connection in waits {
        assert_eq!(connection.answer(false).unwrap().status, 404);
    }
    await_green(&world);
}

#[test]
fn requests_that_wait_for_clients_and_upstreams_do_not_stand_still() {
    let (world, upstream) = (World::start_with(&[("DAYLIGHT_UPSTREAM_ANSWER_TIMEOUT_S", "600")]), Upstream::start());
    world.make(&json!({ "name": "near", "format": "raw" }));
    world.remote_of("raw", "far", &upstream.url());
    upstream.says_otherwise(Says::bytes("never").silent());
    world.admin().put("near", "large", &vec![7; 8 << 20]).expect(201);
    let begin = |head: String| {
        let mut connection = Connection::open(world.address()).unwrap();
        connection.send(head.as_bytes()).unwrap();
        connection
    };
    let get = |path: &str| begin(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    let _readers: Vec<Connection> = (0..20).map(|_| get("/repository/near/large")).collect();
    let _waits: Vec<Connection> = (0..5).map(|number| get(&format!("/repository/far/{number}"))).collect();
    let secret = world.admin().secret().to_owned();
    let _upload = begin(format!(
        "PUT /repository/near/slow HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {secret}\r\nContent-Length: 9999\r\n\r\n"
    ));
    // Probes come each five seconds: more than ten seconds pass between four of them.
    let before = probes(&world, "outside");
    await_true("time passes", || {
        assert_eq!(ready(&world), (200, "ready\n".to_owned()));
        probes(&world, "outside") > before + 3
    });
    assert!(!world.log().contains("serving stands still"), "{}", world.log());
}

#[test]
fn a_process_that_was_stopped_for_seconds_did_not_stand_still_by_its_own_fault() {
    let world = World::start();
    world.anon().get(&format!("/repository/{FIRST}/versions")).expect(200);
    let seconds = if std::env::var("DAYLIGHT_SWEEPS").is_ok() { 20 } else { 6 };
    let script = format!("kill -STOP {0}; sleep {seconds}; kill -CONT {0}", world.id());
    assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
    let before = probes(&world, "outside");
    await_true("the server goes on", || {
        assert_eq!(ready(&world).0, 200);
        probes(&world, "outside") > before
    });
    assert!(!world.log().contains("serving stands still"), "{}", world.log());
}

#[test]
fn a_probe_of_the_server_to_itself_is_in_no_figure_of_requests_and_no_client_can_hide_one() {
    let mut world = World::start();
    await_true("two probes", || probes(&world, "outside") >= 2 && probes(&world, "inside") >= 2);
    let answer = world.anon().ask("GET", "/health/live", &[("Daylight-Probe", "0123456789abcdef")], b"").expect(200);
    world.event(answer.header("daylight-event").unwrap());
    world.stop();
    let live = crate::pages::events(&world).into_iter().filter(|event| event["path"] == "/health/live");
    assert_eq!(live.count(), 1, "only that of the client");
}

#[test]
fn a_run_that_was_killed_is_told_at_the_next_start_with_what_it_did_and_an_orderly_end_is_not() {
    let mut world = World::start();
    let died = |world: &World| open(world, "previous-run-died@server")["sentence"].as_str().unwrap().to_owned();
    // Kills it when the next run has the states of findings: what this one said is open then, until it is known what happened meanwhile.
    let kill = |world: &mut World| {
        let states = world.data().join("events/findings/findings.json");
        await_true("the states are kept", || {
            std::fs::read_to_string(&states).unwrap_or_default().contains("previous-run-died")
        });
        world.kill();
    };
    let is_told = |world: &World| world.log().contains("the run before ended without order");
    let mut upload = Connection::open(world.address()).unwrap();
    let head = format!(
        "POST /repository/{FIRST}/api/v1/gems HTTP/1.1\r\nHost: a\r\nAuthorization: {}\r\nContent-Length: 9999\r\n\r\n",
        world.admin().secret()
    );
    upload.send(head.as_bytes()).unwrap();
    let words = world.data().join("events/last-words.json");
    await_true("the last words have the upload", || {
        std::fs::read_to_string(&words).unwrap_or_default().contains("/api/v1/gems")
    });
    drop(upload);
    world.restart();
    world.stop();
    assert!(!words.exists());
    world.resume();
    assert!(!is_told(&world), "a restart and a stop are orderly ends");
    world.kill();
    world.resume();
    let sentence = died(&world);
    assert!(sentence.starts_with("the run before ended without order after 20"), "{sentence}");
    assert!(sentence.contains(" MB") && !sentence.contains("second such end"), "{sentence}");
    for (ends, part) in [(2, "it is the second such end"), (3, "the server starts and dies in a loop")] {
        kill(&mut world);
        world.resume();
        let sentence = died(&world);
        assert!(sentence.contains(part), "{ends}: {sentence}");
    }
    kill(&mut world);
    std::fs::write(&words, b"{\"at\":").unwrap();
    world.resume();
    assert!(died(&world).contains("at an unknown moment"), "a damaged file does not hurt the start");
}

/// A server with one core, each of whose responses blocks it for so long, while so many clients ask so often; and what it finds six minutes later.
fn blocked(delay: Duration, clients: usize, times: usize) -> Incident {
    let world = begun(&[("DAYLIGHT_SERVER_CORES", "1")]);
    await_begun(&world);
    let micros = u64::try_from(delay.as_micros()).unwrap();
    let fault = Watched::delay_thread(world.id(), "core-0", "sendto,writev", micros);
    let address = world.address();
    std::thread::scope(|scope| {
        for client in 0..clients {
            scope.spawn(move || {
                let mut connection = Connection::open(address).unwrap();
                for time in 0..times {
                    let path = format!("/repository/{FIRST}/info/none-{client}-{time}");
                    assert_eq!(connection.call("GET", &path, &[], b"").unwrap().status, 404);
                }
            });
        }
    });
    drop(fault);
    // The watch hands over what it saw of the loops each five seconds, as often as it probes.
    let before = probes(&world, "outside");
    await_true("the watch has told", || probes(&world, "outside") > before + 1);
    Incident::of(world)
}

#[test]
fn a_loop_that_is_blocked_again_and_again_is_named_with_what_clients_waited() {
    let incident = blocked(Duration::from_millis(150), 10, 5);
    let finding = incident.open("loop-blocked@loop:core-0");
    assert!(finding["lost_s_per_hour"].as_f64().unwrap() >= 60.0, "{finding}");
    assert!(finding["sentence"].as_str().unwrap().starts_with("the event loop `core-0` was blocked "), "{finding}");
}

#[test]
fn a_loop_that_is_blocked_for_long_is_named_too() {
    blocked(Duration::from_secs(1), 4, 4).open("loop-blocked@loop:core-0");
}

#[test]
fn a_loop_that_is_blocked_for_moments_is_not() {
    blocked(Duration::from_millis(80), 1, 20).says_nothing_of("loop-blocked");
}
