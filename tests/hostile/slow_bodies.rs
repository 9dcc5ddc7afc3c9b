//! Hooks and calls of the API whose bodies arrive slowly hold no place for work, and end for others that need theirs.

use super::beside::await_metrics;
use super::healthy;
use crate::accounts::sum;
use crate::world::{Connection, FIRST, World};
use serde_json::json;

/// The server takes the client's address from a header, so that a test has many clients. A slow body has ten minutes.
const MANY_CLIENTS: &[(&str, &str)] = &[
    ("DAYLIGHT_SERVER_TRUSTED_PROXIES", "127.0.0.1"),
    ("DAYLIGHT_SERVER_CLIENT_FROM", "x-forwarded-for"),
    ("DAYLIGHT_SERVER_HEAD_TIMEOUT_S", "600"),
    ("DAYLIGHT_SERVER_MAX_FORMS", "32"),
    ("DAYLIGHT_SERVER_MAX_ADMIN", "8"),
];
/// The slow bodies of each attacker. As many hooks are answered at once as both of them send.
const SLOW: usize = 32;

/// Requests with bodies that never end, from this address, with a token or a stranger's.
fn slow(world: &World, token: Option<&str>, request: &str, from: &str) -> Vec<Connection> {
    let token = token.map(|token| format!("Authorization: {token}\r\n")).unwrap_or_default();
    let head = format!(
        "{request} HTTP/1.1\r\nHost: localhost\r\n{token}X-Forwarded-For: {from}\r\nContent-Type: application/json\r\n\
         Content-Length: 1000\r\n\r\n{{"
    );
    let open = || {
        let mut connection = world.anon().connect().unwrap();
        connection.send(head.as_bytes()).unwrap();
        connection
    };
    (0..SLOW).map(|_| open()).collect()
}

/// Waits until this many places of a class are taken, or all for bodies that arrive and as many were ended for others.
fn await_slow(world: &World, class: &str, count: u64, ended: u64) {
    let of = |metric: &str, class: &str| format!("daylight_bound_{metric}{{bound=\"requests\",which=\"{class}\"}}");
    await_metrics(world, class, |metrics| {
        sum(metrics, &of("used", class)) >= count
            || sum(metrics, &of("used", "forms")) == 32 && sum(metrics, &of("rejected_total", "forms")) >= ended
    });
}

#[test]
fn slow_hooks_of_strangers_keep_no_hook_waiting() {
    let world = World::start_with(MANY_CLIENTS);
    world.remote_of("gem", "far", "http://127.0.0.1:9");
    let [mut first, second] = ["192.0.2.66", "192.0.2.67"].map(|from| slow(&world, None, "POST /hooks/far", from));
    await_slow(&world, "hooks", 64, 32);
    // One that takes its time, of a client that sends no other, is not ended for others.
    let mut honest = world.anon().connect().unwrap();
    let head = "POST /hooks/far HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{";
    honest.send(head.as_bytes()).unwrap();
    for number in 0..40 {
        let from = format!("198.51.100.{number}");
        let refused = world.anon().ask("POST", "/hooks/far", &[("X-Forwarded-For", &from)], b"{}").expect(401);
        assert!(refused.header("daylight-event").is_some());
        world.admin().ask("POST", "/hooks/far", &[("X-Forwarded-For", &from)], b"{}").expect(202);
    }
    honest.send(b"}").unwrap();
    honest.answer(false).unwrap().expect(202);
    first.remove(0).answer(false).unwrap().expect(408);
    healthy(&world);
    drop((first, second));
}

#[test]
fn slow_calls_of_a_token_keep_no_call_waiting_not_even_of_that_token() {
    let world = World::start_with(MANY_CLIENTS);
    let admin = world.admin();
    let call = format!("PATCH /api/v1/repositories/{FIRST}");
    let all = ["192.0.2.66", "192.0.2.67"].map(|from| slow(&world, Some(admin.secret()), &call, from));
    await_slow(&world, "admin", 4, 32);
    for _ in 0..10 {
        admin.get("/api/v1/tokens").expect(200);
        admin.patch_json(&format!("/api/v1/repositories/{FIRST}"), &json!({ "private": false })).expect(200);
    }
    // A stranger's body is not waited for.
    let [mut strangers, _] = ["192.0.2.68", "192.0.2.69"].map(|from| slow(&world, None, &call, from));
    strangers.remove(0).answer(false).unwrap().expect(401);
    healthy(&world);
    drop(all);
}
