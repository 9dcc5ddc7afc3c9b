//! The handle of the rollups, and the thread that writes them.

use super::census::{Handover, RollupCensus};
use super::delta::Delta;
use super::folder::{self, Files, Found};
use super::log::RollupLog;
use super::name::{Level, Name};
use super::rows::Table;
use super::{HOUR, MINUTE, OTHER};
use crate::options::Surroundings;
use crate::row::RepositoryFacts;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::JoinHandle;
use std::time::Duration;
use telemetry::{Bound, BoundName, Census, Clock, Log, background, lock};

/// The options of rollups.
pub struct RollupOptions {
    /// The folder of their files, the facts about repositories, and whether the disk has room. Without room the counts of the last minutes
    /// wait in memory.
    pub surroundings: Surroundings,
    /// The most bytes of files. The oldest files are removed first.
    pub bytes: u64,
    /// The server's clock.
    pub clock: Clock,
    /// For files that cannot be read or written.
    pub log: Log,
}

/// Exact counts of all events, by minute and by hour.
pub struct Rollups {
    handover: Arc<Handover>,
    shared: OnceLock<Arc<Shared>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    keys: Arc<Bound>,
    disk: Arc<Bound>,
}

/// The state that the writer and questions share.
pub(super) struct Shared {
    pub(super) options: RollupOptions,
    state: RwLock<State>,
}

/// The counts in memory, and the files of the others.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) recent: Table,
    pub(super) files: Files,
}

impl Rollups {
    /// Counts that are not written yet. [`Rollups::start`] begins to write them.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            handover: Arc::default(),
            shared: OnceLock::new(),
            writer: Mutex::default(),
            keys: Bound::new(BoundName::RollupKeys, "", super::KEYS_MAX as u64),
            disk: Bound::new(BoundName::Rollups, "", 0),
        })
    }

    /// The census that counts. There is one for each recorder.
    pub fn census(&self) -> Box<dyn Census> {
        Box::new(RollupCensus::new(self.handover.clone()))
    }

    /// Its bounds, to be registered.
    pub fn bounds(&self) -> [Arc<Bound>; 2] {
        [self.keys.clone(), self.disk.clone()]
    }

    /// Reads the counts of the previous process, and starts the thread that writes. Only the first call has an effect.
    ///
    /// # Errors
    /// If the folder cannot be made or read, or no thread can be started. Then everything is counted in memory only, up to a limit, and
    /// cannot be asked for.
    pub fn start(&self, options: RollupOptions) -> io::Result<()> {
        let Found { files, pieces, number, unreadable } = folder::open(&options.surroundings.folder)?;
        for file in unreadable {
            options.log.warn("counts of events cannot be read", &[("file", &file)]);
        }
        let mut recent = Table::default();
        pieces.iter().for_each(|piece| recent.merge(piece));
        self.disk.set_capacity(options.bytes);
        let log = RollupLog::new(options.surroundings.folder.join(Name::log(number)));
        let shared = Arc::new(Shared { options, state: RwLock::new(State { recent, files }) });
        if self.shared.set(shared.clone()).is_err() {
            return Ok(());
        }
        let (keys, disk, handover) = (self.keys.clone(), self.disk.clone(), self.handover.clone());
        let writer = Writer { shared, log, number, since: None, retry: 0, failing: false, keys, disk };
        let end = End(handover.clone());
        let run = move || {
            let _end = end;
            writer.run(&handover);
        };
        let thread = std::thread::Builder::new().name("rollups".to_owned()).spawn(run)?;
        *lock(&self.writer) = Some(thread);
        Ok(())
    }

    /// How long a caller waits for the writer, whose disk may hang.
    const FLUSH_MAX: Duration = Duration::from_secs(10);

    /// Waits until everything that the census has seen can be asked for and is in the log. `false`: the writer did not do that in ten seconds.
    pub fn flush(&self) -> bool {
        self.shared.get().is_none() || self.handover.flush(Self::FLUSH_MAX)
    }

    /// Writes the rest, and ends the thread. Call it after the recorder was stopped.
    pub fn stop(&self) {
        self.handover.stop();
        let thread = lock(&self.writer).take();
        // A panic of the thread was reported when it happened.
        let _ = thread.map(JoinHandle::join);
    }

    /// Whether events are counted.
    pub(super) fn is_counting(&self) -> bool {
        self.handover.is_counting()
    }

    pub(super) fn shared(&self) -> Option<&Arc<Shared>> {
        self.shared.get()
    }
}

impl Drop for Rollups {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Tells callers that wait for the writer when it has ended, also by a panic or because it could not begin.
struct End(Arc<Handover>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Shared {
    pub(super) fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state of the thread that writes.
struct Writer {
    shared: Arc<Shared>,
    log: RollupLog,
    number: u64,
    /// The hour in which the first of the counts in memory came.
    since: Option<i64>,
    /// After a failure, when the counts in memory may become a file again.
    retry: i64,
    /// Whether the last attempt to write failed, which is logged once.
    failing: bool,
    keys: Arc<Bound>,
    disk: Arc<Bound>,
}

/// A file is written when the counts in memory have so many bytes.
const MEMORY: u64 = 8 << 20;
/// Without a file, counts are kept in memory up to so many bytes.
const MEMORY_MAX: u64 = 32 << 20;
/// A file is written when the log has so many bytes.
const LOG: u64 = 16 << 20;

impl Writer {
    fn run(mut self, handover: &Handover) {
        background();
        if !self.shared.read().recent.rows().rows.is_empty() {
            self.since = Some(self.now() / HOUR);
        }
        self.maintain();
        loop {
            let mut work = handover.fetch();
            let delta = work.delta.take().map(|mut delta| {
                if !delta.is_empty() {
                    self.take(&delta);
                    delta.clear();
                }
                delta
            });
            let stop = work.stop;
            if self.is_due() {
                self.write_minutes();
            }
            handover.done(&work, delta);
            if stop {
                return;
            }
        }
    }

    fn now(&self) -> i64 {
        self.shared.options.clock.now().0
    }

    /// Adds counts to those in memory and to the log.
    fn take(&mut self, delta: &Delta) {
        let options = &self.shared.options;
        let (mut step, now) = (Table::default(), self.now());
        for (at, shape, repository, counts) in delta.rows() {
            match shape.figures() {
                Some(([kind, class, layer, outcome], status)) => {
                    let facts = match repository {
                        OTHER => RepositoryFacts { kind: OTHER, format: OTHER },
                        name => (options.surroundings.facts)(name),
                    };
                    let texts = [kind, class, layer, repository, facts.kind, facts.format, outcome];
                    step.add(at, texts, status, counts);
                }
                None => step.add(at, [OTHER; 7], 0, counts),
            }
        }
        // Nothing is known of them. So that an answer is not called exact without them, they count for this minute.
        let unknown = delta.crowded() + delta.missed();
        let rejected = if self.shared.read().recent.bytes() > MEMORY_MAX {
            let all: u64 = step.rows().rows.iter().map(|(_, counts)| counts.events).sum();
            step = Table::default();
            step.add_unknown(now, all + unknown);
            all
        } else {
            step.add_unknown(now, unknown);
            step.folded()
        };
        let before = self.shared.read().recent.folded();
        let folded = {
            let mut state = self.shared.write();
            state.recent.merge(step.rows());
            self.keys.observe(state.recent.keys_at(now - now.rem_euclid(MINUTE)) as u64);
            state.recent.folded() - before
        };
        self.keys.reject_many(folded + rejected + delta.crowded());
        self.since.get_or_insert(now / HOUR);
        if (options.surroundings.above_floor)() {
            let logged = self.log.append(step.rows());
            self.report(logged, "the counts of events cannot be logged, a kill would lose them");
        }
    }

    /// Whether the counts in memory are to become a file.
    fn is_due(&self) -> bool {
        let hour_is_over = self.since.is_some_and(|since| since != self.now() / HOUR);
        let due = hour_is_over || self.shared.read().recent.bytes() > MEMORY || self.log.bytes() > LOG;
        due && self.since.is_some() && self.retry <= self.now() && (self.shared.options.surroundings.above_floor)()
    }

    /// Writes the counts in memory as a file.
    fn write_minutes(&mut self) {
        let folder = &self.shared.options.surroundings.folder;
        let mut sorted = Table::default();
        sorted.merge(self.shared.read().recent.rows());
        let written = folder::write(folder, Level::Minutes, (self.number, self.number), &sorted.into_sorted());
        match written {
            Ok(file) => {
                {
                    let mut state = self.shared.write();
                    state.recent = Table::default();
                    state.files.add(file);
                }
                self.number += 1;
                let next = RollupLog::new(folder.join(Name::log(self.number)));
                self.log = next;
                self.since = None;
                let removed = folder::remove_logs(folder, self.number);
                self.report(removed, "old logs of counts cannot be removed");
                self.maintain();
            }
            Err(error) => {
                self.retry = self.now() + MINUTE;
                self.report(Err(error), "the counts of events cannot be written");
            }
        }
    }

    /// Makes files of hours, and removes old files.
    fn maintain(&mut self) {
        let (now, folder) = (self.now(), self.shared.options.surroundings.folder.clone());
        let due = self.shared.read().files.due(now);
        if let Some(due) = due {
            let (hours, unreadable) = folder::hours(&due);
            for error in unreadable {
                self.shared.options.log.warn("counts of events cannot be read", &[("file", &error.to_string())]);
            }
            let numbers = (due[0].name.first, due[due.len() - 1].name.last);
            match folder::write(&folder, Level::Hours, numbers, &hours.into_sorted()) {
                Ok(file) => self.shared.write().files.add(file),
                Err(error) => return self.report(Err(error), "the counts of events cannot be written"),
            }
        }
        let (old, bytes) = {
            let mut state = self.shared.write();
            let old = state.files.take_old(now, self.shared.options.bytes);
            (old, state.files.bytes())
        };
        let removed = old.iter().try_for_each(|file| crate::disk::remove(&file.path));
        self.report(removed, "old counts of events cannot be removed");
        self.disk.observe(bytes);
    }

    /// Logs the first of several failures.
    fn report(&mut self, result: io::Result<()>, what: &str) {
        if let Err(error) = &result
            && !self.failing
        {
            let path = self.shared.options.surroundings.folder.display().to_string();
            self.shared.options.log.warn(what, &[("folder", &path), ("why", &error.to_string())]);
        }
        self.failing = result.is_err();
    }
}
