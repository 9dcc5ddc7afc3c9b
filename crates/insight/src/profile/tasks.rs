//! The threads of this process as the kernel shows them (`proc_pid_schedstat(5)`, `proc_pid_stat(5)`): their time on a processor, and
//! whether each runs.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The most threads that are looked at. Each has two open files meanwhile.
const TASKS_MAX: usize = 256;
const FOLDER: &str = "/proc/self/task";

/// A thread at a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TaskNow<'a> {
    pub(super) id: u32,
    pub(super) name: &'a str,
    /// Its nanoseconds on a processor since the last sample.
    pub(super) run_nanos: u64,
    /// Whether it runs, or is ready to run.
    pub(super) runs: bool,
}

/// The threads of this process.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    all: Vec<Task>,
    /// Whether the threads were listed before: a thread that is new then has run from nothing.
    listed: bool,
}

#[derive(Debug)]
struct Task {
    id: u32,
    name: String,
    schedule: File,
    stat: File,
    run_nanos: u64,
    ended: bool,
}

impl Tasks {
    /// Adds threads that are new.
    pub(super) fn list(&mut self) {
        self.all.retain(|task| !task.ended);
        let Ok(folder) = fs::read_dir(FOLDER) else { return };
        for entry in folder.flatten() {
            let id = entry.file_name().to_str().and_then(|name| name.parse().ok()).unwrap_or_default();
            if self.all.len() >= TASKS_MAX || self.all.iter().any(|task| task.id == id) {
                continue;
            }
            // A thread that has ended meanwhile has no files.
            self.all.extend(Task::open(id, &entry.path(), self.listed));
        }
        self.listed = true;
    }

    /// Looks at all threads that ran since the last time.
    pub(super) fn read(&mut self, mut see: impl FnMut(TaskNow<'_>)) {
        for task in &mut self.all {
            let Some(run_nanos) = read(&task.schedule).and_then(|text| nanos(&text)) else {
                task.ended = true;
                continue;
            };
            let ran = run_nanos.saturating_sub(task.run_nanos);
            task.run_nanos = run_nanos;
            // The kernel counts the time of a thread that runs a few times in each hundredth of a second, so its state is read, too.
            let runs = read(&task.stat).is_some_and(|text| runs(&text));
            if ran > 0 || runs {
                see(TaskNow { id: task.id, name: &task.name, run_nanos: ran, runs });
            }
        }
    }
}

impl Task {
    fn open(id: u32, folder: &Path, is_new: bool) -> Option<Self> {
        let name = fs::read_to_string(folder.join("comm")).ok()?.trim_end().to_owned();
        let (schedule, stat) = (File::open(folder.join("schedstat")).ok()?, File::open(folder.join("stat")).ok()?);
        let run_nanos = if is_new { 0 } else { nanos(&read(&schedule)?)? };
        Some(Self { id, name, schedule, stat, run_nanos, ended: false })
    }
}

/// The beginning of a file of the kernel.
fn read(file: &File) -> Option<String> {
    let mut text = [0; 256];
    let read = file.read_at(&mut text, 0).ok()?;
    Some(String::from_utf8_lossy(&text[..read]).into_owned())
}

/// Fields: nanoseconds run, nanoseconds starved, number of time slices.
fn nanos(schedule: &str) -> Option<u64> {
    schedule.split(' ').next()?.parse().ok()
}

/// The state follows the name, which is in parentheses and may have others.
fn runs(stat: &str) -> bool {
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_thread_follows_its_name_whatever_that_is() {
        assert!(runs("12 (core-0) R 1 2"));
        assert!(!runs("12 (a) R) S 1 2") && !runs("12 (core) D 1") && !runs(""));
        assert_eq!((nanos("77 5 1\n"), nanos("")), (Some(77), None));
    }

    #[test]
    fn the_calling_thread_runs_and_one_that_waits_does_not() {
        let (end, until) = std::sync::mpsc::channel::<()>();
        let waits = std::thread::Builder::new().name("waits".to_owned()).spawn(move || until.recv().is_ok()).unwrap();
        let asks = std::thread::Builder::new().name("asks".to_owned()).spawn(|| {
            let mut tasks = Tasks::default();
            // Until the other thread waits.
            loop {
                tasks.list();
                let mut seen = Vec::new();
                tasks.read(|task| seen.push((task.name.to_owned(), task.runs)));
                if seen.contains(&("asks".to_owned(), true)) && !seen.contains(&("waits".to_owned(), true)) {
                    return;
                }
            }
        });
        asks.unwrap().join().unwrap();
        drop(end);
        waits.join().unwrap();
    }
}
