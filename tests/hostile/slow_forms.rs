//! Bodies that arrive slowly occupy a socket. A form takes no place in a class before it has arrived, and an upload
//! takes only places from the share of its own client and token.

use super::beside::{Others, await_metrics, bound};
use super::slow::drip;
use crate::accounts::sum;
use crate::world::{Answer, Connection, FIRST, Gem, Person, World};
use std::time::Duration;

/// The server takes the client's address from a header, so that a test has many clients.
const MANY_CLIENTS: [(&str, &str); 2] =
    [("DAYLIGHT_SERVER_TRUSTED_PROXIES", "127.0.0.1"), ("DAYLIGHT_SERVER_CLIENT_FROM", "x-forwarded-for")];

/// Of eight slow uploads, the number that exceeds the half of four places.
const REFUSED: usize = 6;

/// The beginning of a slow body, with its announced length.
const BEGUN: &str = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nname=slow";

/// Requests of `who` to this call of the default repository, from this address, whose bodies never end.
fn slow(who: &Person, method: &str, call: &str, from: &str, count: usize) -> Vec<Connection> {
    let head = format!(
        "{method} /repository/{FIRST}/api/v1/{call} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nX-Forwarded-For: {from}\r\n{BEGUN}",
        who.secret()
    );
    let open = || {
        let mut connection = who.connect().unwrap();
        connection.send(head.as_bytes()).unwrap();
        connection
    };
    (0..count).map(|_| open()).collect()
}

/// Waits until this number of places of a class is taken.
fn await_places(world: &World, class: &str, count: u64) {
    let key = format!("daylight_bound_used{{bound=\"requests\",which=\"{class}\"}}");
    await_metrics(world, class, |metrics| sum(metrics, &key) >= count);
}

#[test]
fn slow_forms_hold_up_no_administrator_no_upload_and_no_probe() {
    // As many places for administrators and uploads as forms that would take them.
    let world = World::start_with(&[
        ("DAYLIGHT_SERVER_MAX_ADMIN", "64"),
        ("DAYLIGHT_SERVER_MAX_ACCOUNTS", "64"),
        ("DAYLIGHT_SERVER_MAX_UPLOADS", "256"),
        ("DAYLIGHT_SERVER_MAX_FORMS", "800"),
        ("DAYLIGHT_SERVER_HEAD_TIMEOUT_S", "600"),
    ]);
    let mut others = Others::new(&world);
    let reader = world.person("reader", &["read"], &[]);
    world.person("leaked", &["write"], &[]);
    let from = "192.0.2.66";
    let keys = slow(&reader, "POST", "api_key", from, 64);
    let owners = slow(&reader, "POST", "gems/lamp/owners", from, 256);
    let yanks = slow(&reader, "DELETE", "gems/yank", from, 64);
    await_places(&world, "forms", 64 + 256 + 64);
    others.go_on();
    world.admin().ask("DELETE", "/api/v1/tokens/leaked", &[], b"").expect(204);
    // Complete forms are answered too: this client has its share of the places, and there are more.
    let mira = world.person("mira", &["write", "delete", "add_owner"], &[]);
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    mira.push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    mira.ask("POST", &format!("/repository/{FIRST}/api/v1/gems/oil/owners"), &form, b"email=reader").expect(200);
    mira.ask("POST", &format!("/repository/{FIRST}/api/v1/api_key"), &form, b"name=k&push_rubygem=true").expect(200);
    mira.yank(FIRST, "oil", "1.0.0").expect(200);
    let metrics = world.anon().get("/metrics").expect(200);
    assert_eq!(bound(metrics.text(), "rejected_total", "requests"), 0);
    drop((keys, owners, yanks));
}

#[test]
fn forms_that_arrive_byte_by_byte_end_after_their_time() {
    let world = World::start_with(&[("DAYLIGHT_SERVER_HEAD_TIMEOUT_S", "1")]);
    let admin = world.admin();
    let forms = slow(&admin, "POST", "api_key", "127.0.0.1", 10);
    drip(forms, || drop(world.anon().get("/metrics").expect(200)));
    super::healthy(&world);
}

/// The metric of the client with most places for uploads.
fn of_clients(metric: &str) -> String {
    format!("daylight_bound_{metric}{{bound=\"client.requests\",which=\"uploads\"}}")
}

/// The refusal of one client that sends too many uploads at once, and the answers to others meanwhile.
fn beside_slow_uploads(world: &World, attackers: &[(&Person, &str)]) -> Vec<Answer> {
    let mut slow: Vec<Connection> =
        attackers.iter().flat_map(|(who, from)| slow(who, "POST", "gems", from, 4)).collect();
    await_metrics(world, "all of them", |metrics| sum(metrics, &of_clients("rejected_total")) >= REFUSED as u64);
    let mut others = Others::new(world);
    others.go_on();
    // Two of them are still sending. The others are answered, or will be at once.
    let mut answers = Vec::new();
    for connection in &mut slow {
        connection.stream().set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    }
    while answers.len() < REFUSED {
        slow.retain_mut(|connection| connection.answer(false).map(|answer| answers.push(answer)).is_err());
    }
    assert_eq!((slow.len(), answers.len()), (2, REFUSED));
    answers
}

#[test]
fn one_client_or_token_takes_a_part_of_the_places_for_uploads_and_others_have_theirs() {
    let settings: &[_] = &[MANY_CLIENTS[0], MANY_CLIENTS[1], ("DAYLIGHT_SERVER_MAX_UPLOADS", "4")];
    let world = World::start_with(Box::leak(settings.into()));
    let (mira, olaf) = (world.person("mira", &["write"], &[]), world.person("olaf", &["write"], &[]));
    for answer in beside_slow_uploads(&world, &[(&mira, "192.0.2.66"), (&olaf, "192.0.2.66")]) {
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
        assert!(answer.text().contains("too many uploads of this client or token"), "{}", answer.text());
    }
    let world = World::start_with(Box::leak(settings.into()));
    let mira = world.person("mira", &["write"], &[]);
    for answer in beside_slow_uploads(&world, &[(&mira, "192.0.2.66"), (&mira, "192.0.2.67")]) {
        answer.expect(503);
    }
    let metrics = world.anon().get("/metrics").expect(200);
    assert_eq!(sum(metrics.text(), &of_clients("peak")), 2, "a token, wherever it is shown");
}
