//! How soon an event can be asked for after its response.

use super::questions::{answer, at};
use crate::http::Connection;
use crate::process::Server;
use anyhow::{Result, ensure};
use serde_json::json;
use std::time::Instant;

/// Events that are asked for.
const EVENTS: usize = 50;

/// Sends requests, and asks for the event of each at once, until it is counted.
pub(super) fn measure(server: &Server) -> Result<()> {
    let mut connection = Connection::open(server.address.parse()?)?;
    let (mut times, mut asked) = (Vec::new(), 0);
    for number in 0..EVENTS {
        let path = format!("/repository/gems-private/info/absent-{number}");
        let reply = connection.call("GET", &path, &[], b"")?;
        ensure!(reply.status == 404, "{path}: {}", reply.status);
        let ended = Instant::now();
        let question = json!({ "from": "-10m", "where": [["path", "=", path]], "measures": ["count"] });
        loop {
            asked += 1;
            let (_, _, answer) = answer(&mut connection, &question)?;
            if answer["rows"][0]["count"].as_u64() > Some(0) {
                break;
            }
            ensure!(ended.elapsed().as_secs() < 10, "an event cannot be asked for");
        }
        times.push(ended.elapsed().as_secs_f64() * 1e3);
    }
    let [p50, most] = [0.5, 1.0].map(|part| at(&mut times, part));
    println!(
        "{EVENTS} events were counted by a question after their response: p50 {p50:.1} ms, at most {most:.1} ms, in {asked} questions"
    );
    Ok(())
}
