//! The process log, and where events go: each to its own file or stream, from the settings.

use crate::config::{self, Settings};
use std::path::Path;
use telemetry::log::AccessLog;
use telemetry::{Clock, JsonLines, Lines, LinesOptions, Log, Sink, Target};

/// The folder of the stored events, below the data folder, and the file in it.
const EVENTS: [&str; 2] = ["events", "events.jsonl"];
/// What the access log may grow to in a file before the next is begun, in bytes, and how many files there are in all.
const ACCESS_FILE: (u64, usize) = (64 << 20, 4);

/// The process log, to standard error, with the queue behind it.
pub fn log(settings: &Settings, clock: &Clock) -> (Log, Lines) {
    let lines = Lines::start(LinesOptions { name: "log", ..LinesOptions::default() }, Target::stderr());
    let telemetry = &settings.telemetry;
    (Log::new(clock.clone(), telemetry.log_level, telemetry.log_format, lines.clone()), lines)
}

/// The sinks of the events.
pub fn events(settings: &Settings) -> Vec<Box<dyn Sink>> {
    let telemetry = &settings.telemetry;
    let data = &settings.store.data;
    let file = EVENTS.iter().fold(data.clone(), |path, part| path.join(part));
    let files = usize::try_from(telemetry.events_files).unwrap_or(usize::MAX);
    let mut sinks: Vec<Box<dyn Sink>> = vec![Box::new(JsonLines::new(above_floor(
        Target::file(file, telemetry.events_max_bytes, files),
        data,
        settings,
    )))];
    let config::AccessLog::On(format) = telemetry.access_log else { return sinks };
    let target = match telemetry.access_log_file.as_path() {
        path if path == Path::new("-") => Target::stdout(),
        path => {
            let folder = path.parent().unwrap_or(data).to_owned();
            above_floor(Target::file(path.to_owned(), ACCESS_FILE.0, ACCESS_FILE.1), &folder, settings)
        }
    };
    sinks.push(Box::new(AccessLog::new(format, target)));
    sinks
}

/// A file that is not written while free space is below the floor: the last room on the disk is for changes of the truth.
fn above_floor(target: Target, folder: &Path, settings: &Settings) -> Target {
    let (folder, floor_bytes) = (folder.to_owned(), settings.store.free_space_floor_bytes);
    target.while_allowed(move || store::above_floor(&folder, floor_bytes))
}
