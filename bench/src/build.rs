//! The first build of the morning and the next ones: builds with four releases of Maven and with Bundler, and their requests without a
//! client, on a server that has nothing cached and on one that has everything. The upstream is an nginx that sends no digests.

mod bundler;
mod central;
mod figures;
mod maven;
mod measured;
mod peers;
mod recorded;
pub(crate) mod replay;
mod replies;
mod wakes;

use crate::http::Connection;
use crate::process::{Server, TOKEN};
use anyhow::{Result, ensure};
use measured::Work;
pub(crate) use peers::{Peer, Peers};
pub(crate) use recorded::{Recorded, is_artifact};
use serde_json::{Value, json};
pub(crate) use wakes::row as wakes;

/// Cold builds, beside Nexus.
pub(crate) fn cold() -> Result<()> {
    println!("\n## Builds, nothing cached");
    each(|work, peers| work.cold(peers))
}

/// Warm builds, beside Nexus.
pub(crate) fn warm() -> Result<()> {
    println!("\n## Builds, everything cached");
    each(|work, peers| work.warm(peers))
}

/// Bundler first: Nexus and NORA take no part in it.
fn each(measure: fn(&Work<'_>, &Peers) -> Result<()>) -> Result<()> {
    let gems = Recorded::gems()?;
    Work::all(&gems).iter().try_for_each(|work| measure(work, &Peers::default()))?;
    let (peers, maven) = (Peers::find(true)?, Recorded::maven()?);
    Work::all(&maven).iter().try_for_each(|work| measure(work, &peers))
}

/// The requests of all Maven builds without a client, cold and warm, without Nexus: some minutes.
pub(crate) fn replay() -> Result<()> {
    println!("\n## The requests of builds, replayed");
    let (peers, recorded) = (Peers::find(false)?, Recorded::maven()?);
    let work = Work::replay(&recorded);
    work.cold(&peers)?;
    work.warm(&peers)
}

/// Creates a remote repository for an upstream.
fn make(daylight: &Server, name: &str, format: &str, upstream: &Value) -> Result<()> {
    let settings = json!({ "name": name, "format": format, "kind": "remote", "remote": upstream });
    let headers = [("Authorization", TOKEN), ("Content-Type", "application/json")];
    let mut connection = Connection::open(daylight.address.parse()?)?;
    let made = connection.call("POST", "/api/v1/repositories", &headers, settings.to_string().as_bytes())?;
    ensure!(made.status == 201, "making a repository: {}", made.text());
    Ok(())
}
