//! Merges the metadata of many members with many versions each: the memory and the time that this takes.

use super::fill::{filling, repositories, urls};
use crate::http::Connection;
use crate::process::Server;
use crate::spread::Spread;
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::time::Instant;
use store::{Arrival, CachedFile, Hashes, Origin};
use telemetry::Event;

const MEMBERS: usize = 16;
const VERSIONS: usize = 130_000;
const PATH: &str = "org/example/lamp/maven-metadata.xml";
/// The number of clients, first in sequence and then at the same time.
const CLIENTS: usize = 8;

/// Measures and prints it.
pub(super) fn row() -> Result<()> {
    println!("\n### Metadata of {MEMBERS} members with {VERSIONS} versions each");
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("data");
    let names: Vec<String> = (0..MEMBERS).map(|number| format!("far-{number}")).collect();
    let remote = |name: &String| {
        let remote = json!({ "urls": [format!("http://127.0.0.1:9/{name}/")] });
        json!({ "name": name, "format": "maven", "kind": "remote", "remote": remote })
    };
    let group = json!({ "name": "all", "format": "maven", "members": names });
    repositories(&data, names.iter().map(remote).chain([group]))?;
    let bytes = filling(&data, async |store, now| {
        let (mut event, mut bytes) = (Event::job("fill", now), 0);
        for (id, record) in store.repositories(&mut event).await? {
            let Some((number, urls)) = record.name.strip_prefix("far-").zip(urls(&record)) else { continue };
            let text = metadata(number).into_bytes();
            bytes += text.len();
            let hashes = Hashes::of(&text);
            let file = CachedFile::fetched(hashes, now);
            let arrival = Arrival::Bytes(text.into());
            ensure!(
                store.keep_cached(Origin::new(id, &urls), PATH, file, arrival, None, &mut event).await?,
                "not kept"
            );
        }
        Ok(bytes)
    })?;
    let server = Server::daylight_on(&data, folder.path(), &[])?;
    let before = server.resident()?;
    let mut took = Spread::default();
    for _ in 0..CLIENTS {
        took.add(ask(&server)?);
    }
    let one = server.highest()?;
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(|| ask(&server))).collect();
        clients.into_iter().try_for_each(|client| client.join().ok().context("a client panicked")?.map(drop))
    })?;
    let most = server.highest()?;
    let [bytes, before, one, most] = [bytes as u64, before, one, most].map(|bytes| bytes as f64 / 1e6);
    println!(
        "\n| bytes of all documents, MB | resident before, MB | at most, one at a time | at most, {CLIENTS} at once | ms each |"
    );
    println!("|---|---|---|---|---|\n| {bytes:.0} | {before:.0} | {one:.0} | {most:.0} | {took} |");
    Ok(())
}

/// The milliseconds until the reply: a document, or a 503 because there is no space for one.
fn ask(server: &Server) -> Result<f64> {
    let began = Instant::now();
    let reply = Connection::open(server.address.parse()?)?.call("GET", &format!("/repository/all/{PATH}"), &[], b"")?;
    ensure!(matches!(reply.status, 200 | 503), "{PATH}: {}", reply.status);
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

fn metadata(member: &str) -> String {
    let versions: String = (0..VERSIONS).map(|number| format!("<version>1.{member}.{number}</version>")).collect();
    format!(
        "<metadata><groupId>org.example</groupId><artifactId>lamp</artifactId><versioning><versions>{versions}</versions>\
         <lastUpdated>20260101000000</lastUpdated></versioning></metadata>"
    )
}
