//! A recording of live events: `daylight tail --all --out`.

use super::{World, await_true};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// A recording that has begun, and ends with a number of events.
pub(crate) struct Recorder {
    child: Child,
    file: PathBuf,
}

impl Recorder {
    /// Begins to record so many events that fit the filter into a new file. Returns when the server sends them.
    pub(crate) fn begin(world: &World, file: &Path, filter: &str, events: usize) -> Self {
        let mut command =
            world.command(&["tail", "--all", "--for", "600s", "--count", &events.to_string(), filter, "--out"]);
        let child = command.arg(file).stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap();
        await_true("the recording has begun", || {
            let page = world.admin().get("/metrics").expect(200);
            page.text().contains("daylight_bound_used{bound=\"tail.listeners\",which=\"\"} 1\n")
        });
        Self { child, file: file.to_owned() }
    }

    /// Waits for its end. Returns its lines.
    pub(crate) fn lines(mut self) -> Vec<String> {
        assert!(self.child.wait().unwrap().success(), "it did not record all events");
        std::fs::read_to_string(&self.file).unwrap().lines().map(str::to_owned).collect()
    }
}
