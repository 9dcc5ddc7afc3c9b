//! Stored events: a folder is filled with events of a busy server by the server's own code. Then the server is asked about them, and page
//! hits are measured while it keeps new events and answers questions.

#[path = "../../crates/insight/src/sample/busy.rs"]
mod busy;
mod fill;
mod hits;
mod questions;

use crate::process::{Server, load_average};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The number of events if none is given.
const EVENTS: usize = 1_000_000;
/// The most.
const EVENTS_MAX: usize = 50_000_000;
/// The time over which they are spread: the last week.
const SPAN: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Disk for events: more than the events take.
const KEEP_BYTES: &str = "1099511627776";

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    measure(EVENTS)
}

/// `kept [EVENTS]`
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let events = arguments.first().map_or(Ok(EVENTS), |events| events.replace('_', "").parse());
    let events = events.context("`kept` takes a number of events")?;
    ensure!((1_000..=EVENTS_MAX).contains(&events), "`kept` takes 1000 to {EVENTS_MAX} events");
    measure(events)
}

fn measure(events: usize) -> Result<()> {
    println!("\n## Stored events");
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("data");
    let settings = [("DAYLIGHT_TELEMETRY_KEEP_BYTES", KEEP_BYTES)];
    // The first start makes the folder.
    drop(Server::daylight_on(&data, folder.path(), &settings)?);
    let ids = fill::fill(&data.join("events"), events)?;
    segments(&data, events)?;
    let server = Server::daylight_on(&data, folder.path(), &settings)?;
    questions::ask(&server, &ids)?;
    drop(server);
    hits::measure(&data, folder.path())?;
    println!("load average after it: {}", load_average()?);
    Ok(())
}

/// Prints how large the segments are.
fn segments(data: &Path, events: usize) -> Result<()> {
    let (mut files, mut bytes) = (0, 0);
    for file in fs::read_dir(data.join("events"))? {
        let file = file?;
        if file.path().extension().is_some_and(|extension| extension == "parquet") {
            (files, bytes) = (files + 1, bytes + file.metadata()?.len());
        }
    }
    println!("{files} segments with {:.1} MB: {:.1} bytes an event", bytes as f64 / 1e6, bytes as f64 / events as f64);
    Ok(())
}
