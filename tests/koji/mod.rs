//! Koji's hub as a source: the stand-in of a hub does what a real one does, and what Daylight makes of it.

mod answers;
mod builds;
mod client;
mod histories;
mod hostile;
mod hub;
mod protocol;
mod settings;
mod time;
mod trouble;

use crate::world::KojiHub;
use serde_json::{Value, json};

/// The folder of the lamp's first version.
const LAMP: &str = "org/example/lamp/1.0";

/// A build of one JAR and its POM.
fn lamp(hub: &KojiHub) -> u64 {
    built(hub, "org.example-lamp", "1.0", LAMP)
}

/// A build of one JAR and its POM in this folder.
fn built(hub: &KojiHub, name: &str, version: &str, folder: &str) -> u64 {
    let base = file_base(folder);
    let build = hub.build(name, version, "1").file(&format!("{base}.jar"), name.as_bytes());
    build.digest("sha256").pom(&format!("{base}.pom")).make()
}

/// `a/lamp/1.0` as `a/lamp/1.0/lamp-1.0`.
fn file_base(folder: &str) -> String {
    let mut parts = folder.rsplit('/');
    let (version, artifact) = (parts.next().unwrap(), parts.next().unwrap());
    format!("{folder}/{artifact}-{version}")
}

/// The builds of a tag now or at an event, by number, in the order of the hub.
fn tagged(hub: &KojiHub, tag: u64, event: Option<u64>) -> Vec<u64> {
    let mut named = json!({ "type": "maven", "latest": false });
    if let Some(event) = event {
        named["event"] = json!(event);
    }
    numbers(&hub.call("listTagged", json!([tag]), named).unwrap(), "build_id")
}

/// A number of each row.
fn numbers(rows: &Value, member: &str) -> Vec<u64> {
    rows.as_array().unwrap().iter().map(|row| row[member].as_u64().unwrap()).collect()
}
