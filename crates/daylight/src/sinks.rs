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
    let file = EVENTS.iter().fold(settings.store.data.clone(), |path, part| path.join(part));
    let files = usize::try_from(telemetry.events_files).unwrap_or(usize::MAX);
    let mut sinks: Vec<Box<dyn Sink>> =
        vec![Box::new(JsonLines::new(Target::file(file, telemetry.events_max_bytes, files)))];
    let config::AccessLog::On(format) = telemetry.access_log else { return sinks };
    let target = match telemetry.access_log_file.as_path() {
        path if path == Path::new("-") => Target::stdout(),
        path => Target::file(path.to_owned(), ACCESS_FILE.0, ACCESS_FILE.1),
    };
    sinks.push(Box::new(AccessLog::new(format, target)));
    sinks
}
