//! The attacks: each goes on until it is over, and has begun when it says so.

use super::Field;
use super::standing::StandIn;
use crate::http::Connection;
use crate::process::{Server, TOKEN};
use anyhow::{Result, ensure};
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// One way to attack.
pub(super) type Attack = fn(&Field<'_>) -> Result<()>;

pub(super) const ATTACKS: &[(&str, Attack)] = &[
    ("1,024 who wait for a silent upstream", waiters),
    ("metadata of thousands of versions", first_seen),
    ("slow small forms", slow_forms),
    ("odd paths", odd_paths),
];

/// Clients who wait.
const WAITERS: usize = 1024;
/// Forms under way.
const FORMS: usize = 320;
/// Requests a second of the attacks that ask again and again.
const LISTS: f64 = 10.0;
const ODD: f64 = 200.0;

/// Makes the repository that they go through.
pub(super) fn prepare(server: &Server, upstream: &StandIn) -> Result<()> {
    let wanted = serde_json::json!({
        "name": "open", "format": "maven", "kind": "remote", "private": false, "remote": { "urls": [upstream.url] },
    });
    let headers = [("Authorization", TOKEN), ("Content-Type", "application/json")];
    let mut connection = Connection::open(server.address.parse()?)?;
    let made = connection.call("POST", "/api/v1/repositories", &headers, wanted.to_string().as_bytes())?;
    ensure!(made.status == 201, "{}", made.text());
    Ok(())
}

/// Everybody waits for one file that never comes.
fn waiters(field: &Field<'_>) -> Result<()> {
    let request = format!("GET /repository/open/silent/{}/1/x-1.jar HTTP/1.1\r\nHost: localhost\r\n\r\n", field.run);
    held(field, WAITERS, request.as_bytes(), None)
}

/// Forms whose last byte never comes, and the others slowly.
fn slow_forms(field: &Field<'_>) -> Result<()> {
    let request = "POST /repository/gems-private/api/v1/api_key HTTP/1.1\r\nHost: localhost\r\n\
                   Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nname=";
    held(field, FORMS, request.as_bytes(), Some(b"x"))
}

/// Lists that nobody asked for before.
fn first_seen(field: &Field<'_>) -> Result<()> {
    again(field, LISTS, |number| format!("/repository/open/g/{}/a{number}/maven-metadata.xml", field.run))
}

/// Paths that say one thing here and another elsewhere.
fn odd_paths(field: &Field<'_>) -> Result<()> {
    again(field, ODD, |number| match number % 3 {
        0 => format!("/repository/open/com/acme;y/x/{number}/x-{number}.jar"),
        1 => format!("/repository/open/com/%252e%252e/{}/{number}.jar", field.run),
        _ => format!("/repository/open/{}/{number}/x.jar", field.run),
    })
}

/// So many connections with a request that is not answered; of each one more byte a second.
fn held(field: &Field<'_>, count: usize, request: &[u8], drip: Option<&[u8]>) -> Result<()> {
    let address = field.server.address.parse()?;
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let mut connection = Connection::open(address)?;
        connection.send(request)?;
        all.push(connection);
    }
    // Until each is where it will wait.
    sleep(Duration::from_millis(500));
    field.begun.store(true, Relaxed);
    while !field.over.load(Relaxed) {
        sleep(Duration::from_secs(1));
        for connection in &mut all {
            // Who was refused is gone.
            drop(drip.map(|byte| connection.send(byte)));
        }
    }
    Ok(())
}

/// Asks for one path after the other, so many a second.
fn again(field: &Field<'_>, per_second: f64, path: impl Fn(usize) -> String) -> Result<()> {
    let mut connection = Connection::open(field.server.address.parse()?)?;
    field.begun.store(true, Relaxed);
    let began = Instant::now();
    for number in 0.. {
        let at = began + Duration::from_secs_f64(number as f64 / per_second);
        sleep(at.saturating_duration_since(Instant::now()));
        if field.over.load(Relaxed) {
            break;
        }
        let asked = connection.call("GET", &path(number), &[], b"")?;
        ensure!(asked.status < 600, "no status");
        if asked.header("connection") == Some("close") {
            connection = Connection::open(field.server.address.parse()?)?;
        }
    }
    Ok(())
}
