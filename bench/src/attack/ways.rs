//! The attacks. Each sets `begun` once it has started, and runs until `over` is set.

use super::AttackContext;
use super::fake_upstream::FakeUpstream;
use crate::http::Connection;
use crate::process::{Server, TOKEN};
use anyhow::{Result, ensure};
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// An attack.
pub(super) type Attack = fn(&AttackContext<'_>) -> Result<()>;

pub(super) const ATTACKS: &[(&str, Attack)] = &[
    ("1,024 requests that wait for a silent upstream", waiters),
    ("metadata of thousands of versions", first_seen),
    ("slow small forms", slow_forms),
    ("odd paths", odd_paths),
];

/// The number of waiting clients.
const WAITERS: usize = 1024;
/// The number of forms in progress.
const FORMS: usize = 320;
/// Requests a second of the attacks that repeat requests.
const LISTS: f64 = 10.0;
const ODD: f64 = 200.0;

/// Creates the repository that the attacks use.
pub(super) fn prepare(server: &Server, upstream: &FakeUpstream) -> Result<()> {
    let settings = serde_json::json!({
        "name": "open", "format": "maven", "kind": "remote", "private": false, "remote": { "urls": [upstream.url] },
    });
    let headers = [("Authorization", TOKEN), ("Content-Type", "application/json")];
    let mut connection = Connection::open(server.address.parse()?)?;
    let made = connection.call("POST", "/api/v1/repositories", &headers, settings.to_string().as_bytes())?;
    ensure!(made.status == 201, "{}", made.text());
    Ok(())
}

/// All requests wait for one file that never arrives.
fn waiters(context: &AttackContext<'_>) -> Result<()> {
    let request = format!("GET /repository/open/silent/{}/1/x-1.jar HTTP/1.1\r\nHost: localhost\r\n\r\n", context.run);
    held(context, WAITERS, request.as_bytes(), None)
}

/// Forms that arrive slowly and never end.
fn slow_forms(context: &AttackContext<'_>) -> Result<()> {
    let request = "POST /repository/gems-private/api/v1/api_key HTTP/1.1\r\nHost: localhost\r\n\
                   Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nname=";
    held(context, FORMS, request.as_bytes(), Some(b"x"))
}

/// Lists that were never requested before.
fn first_seen(context: &AttackContext<'_>) -> Result<()> {
    again(context, LISTS, |number| format!("/repository/open/g/{}/a{number}/maven-metadata.xml", context.run))
}

/// Paths that servers read in different ways.
fn odd_paths(context: &AttackContext<'_>) -> Result<()> {
    again(context, ODD, |number| match number % 3 {
        0 => format!("/repository/open/com/acme;y/x/{number}/x-{number}.jar"),
        1 => format!("/repository/open/com/%252e%252e/{}/{number}.jar", context.run),
        _ => format!("/repository/open/{}/{number}/x.jar", context.run),
    })
}

/// Holds this many connections with an unanswered request, and sends one more byte a second on each.
fn held(context: &AttackContext<'_>, count: usize, request: &[u8], drip: Option<&[u8]>) -> Result<()> {
    let address = context.server.address.parse()?;
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let mut connection = Connection::open(address)?;
        connection.send(request)?;
        all.push(connection);
    }
    // Until each waits in its final state.
    sleep(Duration::from_millis(500));
    context.begun.store(true, Relaxed);
    while !context.over.load(Relaxed) {
        sleep(Duration::from_secs(1));
        for connection in &mut all {
            // Refused clients are disconnected.
            drop(drip.map(|byte| connection.send(byte)));
        }
    }
    Ok(())
}

/// Requests one path after the other, this many a second.
fn again(context: &AttackContext<'_>, per_second: f64, path: impl Fn(usize) -> String) -> Result<()> {
    let mut connection = Connection::open(context.server.address.parse()?)?;
    context.begun.store(true, Relaxed);
    let began = Instant::now();
    for number in 0.. {
        let at = began + Duration::from_secs_f64(number as f64 / per_second);
        sleep(at.saturating_duration_since(Instant::now()));
        if context.over.load(Relaxed) {
            break;
        }
        let asked = connection.call("GET", &path(number), &[], b"")?;
        ensure!(asked.status < 600, "no status");
        if asked.header("connection") == Some("close") {
            connection = Connection::open(context.server.address.parse()?)?;
        }
    }
    Ok(())
}
