//! The last words: a small file that is rewritten while the server runs, and removed at an orderly end. The next start reads what the run
//! before did when it ended otherwise. The kernel keeps what a killed process has written, so the file is not synced.

use super::{Shared, doing};
use crate::disk;
use crate::signals::watch::PreviousRun;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::{Clock, Log, LongJob, Millis, Recorder, Tick, lock, resident_bytes};

/// The longest file that is read, in bytes.
const BYTES_MAX: u64 = 64 << 10;
/// The interval between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// Looks between two writes while nothing changes: no request is open, no job runs, and the memory stays.
const IDLE_LOOKS: u32 = 10;
/// A change of the memory that is written.
const GROWTH_BYTES: u64 = 4 << 20;
/// Jobs that are written.
const JOBS_MAX: usize = 32;
/// Earlier ends that are remembered.
const ENDS_MAX: usize = 16;
/// How long earlier ends are remembered.
const ENDS_FOR: Duration = Duration::from_secs(600);

/// The content of the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Words {
    began: Millis,
    at: Millis,
    resident_bytes: u64,
    limit_bytes: Option<u64>,
    /// Processes of the cgroup that the kernel had killed.
    oom_kills: Option<u64>,
    jobs: Vec<(String, u64)>,
    open: u64,
    requests: Vec<String>,
    /// When earlier runs ended without order, within the last ten minutes.
    ends: Vec<Millis>,
}

/// Writes the last words.
pub(super) struct LastWords {
    file: PathBuf,
    recorder: Arc<Recorder>,
    clock: Clock,
    log: Log,
    words: Words,
    pub(super) previous: Previous,
}

/// How the run before ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Previous(Option<Arc<Mutex<Unclean>>>);

#[derive(Debug)]
struct Unclean {
    run: PreviousRun,
    /// The count at the last words.
    oom_kills: Option<u64>,
}

impl Previous {
    /// How the run before ended; `None`: in order. Whether the kernel killed it is known once the first sample of the machine is.
    pub(super) fn get(&self, recorder: &Recorder) -> Option<PreviousRun> {
        let mut unclean = lock(self.0.as_ref()?);
        if let Some(memory) = recorder.machine().sample().and_then(|sample| sample.memory)
            && let (Some(before), Some(now)) = (unclean.oom_kills, memory.oom_kills)
        {
            unclean.run.oom_kill |= now > before;
            unclean.oom_kills = None;
        }
        Some(unclean.run.clone())
    }
}

impl LastWords {
    /// Reads the words of the run before, and writes the first ones of this.
    pub(super) fn begin(file: PathBuf, recorder: Arc<Recorder>, clock: Clock, log: Log) -> Self {
        let (before, now) = (read(&file), clock.now());
        let mut words = Words { began: now, ..Words::default() };
        let previous = before.map(|before| {
            words.ends = before.ends.iter().copied().filter(|end| *end <= now && end.plus(ENDS_FOR) > now).collect();
            words.ends.push(now);
            let excess = words.ends.len().saturating_sub(ENDS_MAX);
            words.ends.drain(..excess);
            let run = PreviousRun {
                at: before.at,
                ran_s: (before.at.0 - before.began.0).max(0) as f64 / 1000.0,
                resident_bytes: before.resident_bytes,
                limit_bytes: before.limit_bytes,
                oom_kill: false,
                jobs: before.jobs,
                open: before.open,
                requests: before.requests,
                ends: words.ends.len() as u64,
            };
            log.error(
                "the run before ended without order",
                &[
                    ("last_seen", &run.at),
                    ("resident_bytes", &run.resident_bytes),
                    ("jobs", &run.jobs.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(",")),
                    ("open_requests", &run.open),
                ],
            );
            Arc::new(Mutex::new(Unclean { run, oom_kills: before.oom_kills }))
        });
        let mut this = Self { file, recorder, clock, log, words, previous: Previous(previous) };
        this.look();
        let made = this.file.parent().map_or(Ok(()), disk::make_folder);
        if let Err(error) = made.and_then(|()| this.write()) {
            this.log.warn("the last words cannot be written", &[("cause", &error)]);
        }
        this
    }

    /// Writes until the watch ends, and removes the file then.
    pub(super) fn run(&mut self, shared: &Shared, job: &LongJob) {
        let (mut idle, mut written) = (0, self.words.resident_bytes);
        while shared.wait(EVERY) {
            job.moved();
            self.look();
            let words = &self.words;
            let grown = words.resident_bytes.abs_diff(written) > GROWTH_BYTES;
            idle = if words.open > 0 || !words.jobs.is_empty() || grown { IDLE_LOOKS } else { idle + 1 };
            if idle >= IDLE_LOOKS {
                (idle, written) = (0, words.resident_bytes);
                // A full disk: the words before stay.
                let _ = self.write();
            }
        }
        if let Err(error) = disk::remove(&self.file) {
            self.log.warn("the last words cannot be removed", &[("cause", &error)]);
        }
    }

    fn look(&mut self) {
        let (memory, now) = (self.recorder.machine().sample().and_then(|sample| sample.memory), Tick::now());
        let resident = resident_bytes();
        let oldest = doing::oldest(self.recorder.open_requests());
        let mut jobs = self.recorder.running_jobs();
        jobs.truncate(JOBS_MAX);
        let words = &mut self.words;
        (words.at, words.resident_bytes) = (self.clock.now(), resident);
        words.limit_bytes = memory.and_then(|memory| memory.limit_bytes);
        words.oom_kills = memory.and_then(|memory| memory.oom_kills);
        words.open = oldest.requests.len() as u64 + oldest.left_out as u64;
        words.requests = oldest.requests.iter().map(doing::line).collect();
        // The job that runs for a moment says nothing.
        let long = jobs.iter().filter(|job| now.since(job.began) > 100_000_000);
        words.jobs = long.map(|job| (job.name.to_owned(), resident.saturating_sub(job.before_bytes))).collect();
    }

    fn write(&self) -> std::io::Result<()> {
        let text = serde_json::to_vec(&self.words).map_err(std::io::Error::other)?;
        disk::replace_unsynced(&self.file, &text)
    }
}

/// The words of the run before. `None`: there are none, or nobody can read them.
fn read(file: &Path) -> Option<Words> {
    let bytes = disk::read(file, BYTES_MAX).ok()?;
    // A damaged file still says that the end was not in order.
    Some(bounded(serde_json::from_slice(&bytes).unwrap_or_default()))
}

/// Another program may have written the file.
fn bounded(mut words: Words) -> Words {
    words.jobs.truncate(JOBS_MAX);
    words.requests.truncate(doing::LINES_MAX);
    words.ends.truncate(ENDS_MAX);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(file: &std::path::Path, at: i64) -> LastWords {
        let clock = Clock::at(Millis(at));
        LastWords::begin(file.to_owned(), Recorder::silent(clock.clone()), clock, Log::silent())
    }

    #[test]
    fn a_run_that_ends_without_order_is_told_once_and_three_in_a_row_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("events/last-words.json");
        let recorder = Recorder::silent(Clock::at(Millis(1)));
        let first = begin(&file, 1_000_000);
        assert_eq!(first.previous.get(&recorder), None);
        drop(first);
        let second = begin(&file, 1_005_000);
        let run = second.previous.get(&recorder).unwrap();
        assert_eq!((run.at, run.ends, run.ran_s), (Millis(1_000_000), 1, 0.0));
        assert!(run.resident_bytes > 0);
        drop(second);
        assert_eq!(begin(&file, 1_006_000).previous.get(&recorder).unwrap().ends, 2);
        let mut later = begin(&file, 9_000_000);
        assert_eq!(later.previous.get(&recorder).unwrap().ends, 1, "the earlier ones are long ago");
        let shared = Shared::default();
        *lock(&shared.stop) = true;
        later.run(&shared, &recorder.long_job("last-words", EVERY));
        assert_eq!(begin(&file, 9_100_000).previous.get(&recorder), None, "that one ended in order");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test damages a file")]
    fn a_damaged_or_endless_file_only_says_that_the_end_was_not_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("last-words.json");
        let recorder = Recorder::silent(Clock::at(Millis(1)));
        for bytes in [&b""[..], b"{\"at\":", b"[]", b"\xff\xfe", &vec![b'['; 1 << 20], b"{\"ends\":[9e99]}"] {
            std::fs::write(&file, bytes).unwrap();
            let run = begin(&file, 5).previous.get(&recorder).unwrap();
            assert_eq!((run.at, run.open), (Millis(0), 0));
        }
    }

    #[test]
    fn a_file_is_small_however_many_requests_are_open() {
        let words = Words {
            requests: vec!["x".repeat(290); doing::LINES_MAX],
            jobs: vec![("j".repeat(40), u64::MAX); JOBS_MAX],
            ..Words::default()
        };
        assert!(serde_json::to_vec(&words).unwrap().len() < BYTES_MAX as usize / 2);
    }
}
