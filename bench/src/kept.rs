//! Stored events: a folder is filled with events of a busy server by the server's own code. Then the server is asked about them, and page
//! hits are measured while it keeps new events and answers questions.

#[path = "../../crates/insight/src/sample/busy.rs"]
mod busy;
mod fill;
mod filled;
mod hits;
mod questions;
mod soon;

use crate::process::{Server, load_average};
use anyhow::{Context, Result, ensure};
use filled::Filled;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The number of events if none is given.
const EVENTS: usize = 1_000_000;
/// The most.
const EVENTS_MAX: usize = 50_000_000;
/// The time over which they are spread: the week before the folder was filled.
const SPAN: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Disk for events: more than the events take.
const KEEP_BYTES: &str = "1099511627776";

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    measure(EVENTS, None)
}

/// `kept [EVENTS [DIR]]`: with a folder the events stay there, and are used again.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let events = arguments.first().map_or(Ok(EVENTS), |events| events.replace('_', "").parse());
    let events = events.context("`kept` takes a number of events")?;
    ensure!((1_000..=EVENTS_MAX).contains(&events), "`kept` takes 1000 to {EVENTS_MAX} events");
    measure(events, arguments.get(1).map(PathBuf::from))
}

fn measure(events: usize, kept: Option<PathBuf>) -> Result<()> {
    println!("\n## Stored events");
    let folder = tempfile::tempdir()?;
    let data = kept.unwrap_or_else(|| folder.path().to_owned()).join("data");
    let settings = [("DAYLIGHT_TELEMETRY_KEEP_BYTES", KEEP_BYTES)];
    let filled = filled(&data, folder.path(), events)?;
    let Filled { files, bytes, .. } = filled;
    println!("{files} segments with {:.1} MB: {:.1} bytes an event", bytes as f64 / 1e6, bytes as f64 / events as f64);
    let server = Server::daylight_on(&data, folder.path(), &settings)?;
    questions::ask(&server, &filled)?;
    soon::measure(&server)?;
    drop(server);
    hits::measure(&data, folder.path(), &filled)?;
    println!("load average after it: {}", load_average()?);
    Ok(())
}

/// Fills the folder, unless it has these events.
fn filled(data: &Path, folder: &Path, events: usize) -> Result<Filled> {
    if let Some(filled) = Filled::read(data)? {
        ensure!(filled.events == events, "`{}` has {} events", data.display(), filled.events);
        println!("the events were written before");
        return Ok(filled);
    }
    // The first start makes the folder.
    drop(Server::daylight_on(data, folder, &[("DAYLIGHT_TELEMETRY_KEEP_BYTES", KEEP_BYTES)])?);
    let (to, ids) = fill::fill(&data.join("events"), events)?;
    Filled::write(data, events, to, ids)
}
