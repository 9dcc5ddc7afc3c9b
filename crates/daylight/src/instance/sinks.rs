//! The process log and the sinks of events, each with its file or stream, from the settings.

use crate::config::{self, Settings};
use std::path::Path;
use telemetry::log::AccessLog;
use telemetry::{Clock, JsonLines, Lines, LinesOptions, Log, Sink, Target};

/// The folder of events below the data folder, and the file in it.
const EVENTS: [&str; 2] = ["events", "events.jsonl"];
/// Largest file of the access log, in bytes.
const ACCESS_FILE_BYTES: u64 = 64 << 20;
/// Most files of the access log.
const ACCESS_FILES: usize = 4;

/// The process log on standard error, with its queue.
pub fn log(settings: &Settings, clock: &Clock) -> (Log, Lines) {
    let lines = Lines::start(LinesOptions { name: "log", ..LinesOptions::default() }, Target::stderr());
    let telemetry = &settings.telemetry;
    (Log::new(clock.clone(), telemetry.log_level, telemetry.log_format, lines.clone()), lines)
}

/// The sinks of the events.
pub fn events(settings: &Settings) -> Vec<Box<dyn Sink>> {
    let telemetry = &settings.telemetry;
    let data = &settings.store.data;
    let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
    if telemetry.json_lines == config::JsonLines::On {
        let file = EVENTS.iter().fold(data.clone(), |path, part| path.join(part));
        let files = usize::try_from(telemetry.json_lines_files).unwrap_or(usize::MAX);
        let target = Target::file(file, telemetry.json_lines_file_bytes, files);
        sinks.push(Box::new(JsonLines::new(above_floor(target, data, settings))));
    }
    let config::AccessLog::On(format) = telemetry.access_log else { return sinks };
    let target = match telemetry.access_log_file.as_path() {
        path if path == Path::new("-") => Target::stdout(),
        path => {
            let folder = path.parent().unwrap_or(data).to_owned();
            above_floor(Target::file(path.to_owned(), ACCESS_FILE_BYTES, ACCESS_FILES), &folder, settings)
        }
    };
    sinks.push(Box::new(AccessLog::new(format, target)));
    sinks
}

/// A file that is not written while free space is below the floor: the last space on the disk is for the truth database.
fn above_floor(target: Target, folder: &Path, settings: &Settings) -> Target {
    let (folder, floor_bytes) = (folder.to_owned(), settings.store.free_space_floor_bytes);
    target.while_allowed(move || store::above_floor(&folder, floor_bytes))
}
