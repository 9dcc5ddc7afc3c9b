//! Malicious HTTP in raw bytes against the real program. Each piece is refused or bounded, the next client is served,
//! and the sums of attempts and outcomes are right afterwards.

pub(crate) mod beside;
mod floods;
mod formats;
mod framing;
mod http2_floods;
mod http2_frames;
mod http2_slow;
mod light;
mod ranges;
mod slow;
mod slow_bodies;
mod slow_forms;
mod slow_upstream;
mod spellings;
mod ssrf;

use crate::accounts;
use crate::world::{Answer, FIRST, World};
use std::net::Shutdown;
use std::time::Duration;

/// A valid request that asks to close the connection after it.
const LAST: &str = "GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// Much longer than a second, on a busy machine too.
const STUCK: Duration = Duration::from_secs(30);

/// The head of a push, without its end and without the length of its body.
fn push(world: &World) -> String {
    let secret = world.admin().secret().to_owned();
    format!("POST /repository/{FIRST}/api/v1/gems HTTP/1.1\r\nHost: localhost\r\nAuthorization: {secret}\r\n")
}

/// Sends these bytes, and reads every reply until the server ends the connection.
fn answers(world: &World, bytes: &[u8]) -> Vec<Answer> {
    let mut connection = world.anon().connect().unwrap();
    // The server may answer and close before everything is sent.
    let _ = connection.send(bytes);
    std::iter::from_fn(|| connection.answer(false).ok()).collect()
}

/// The statuses of these replies.
fn statuses(world: &World, bytes: &[u8]) -> Vec<u16> {
    answers(world, bytes).iter().map(|answer| answer.status).collect()
}

/// Asserts that the server still serves, and that every request has one outcome.
#[track_caller]
fn healthy(world: &World) {
    world.anon().get("/health/ready").expect(200);
    world.anon().get(&format!("/repository/{FIRST}/versions")).expect(200);
    accounts::settled(world);
}

/// Closes our half of a connection, as a client does that has nothing more to send.
fn hang_up(connection: &crate::world::Connection) {
    // Fails when the server has ended it already.
    let _ = connection.stream().shutdown(Shutdown::Write);
}
