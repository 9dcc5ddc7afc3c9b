//! Records by the day when versions and files were last downloaded, so that cleanup can keep used ones. A sink
//! collects uses from events, after the reply; a job writes them every minute.

use repository::used_name;
use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use telemetry::{Bound, BoundName, Event, Kind, Millis, Sink};

/// Maximum number of unwritten uses. Further ones are lost; then the recording starts again, and nothing counts as
/// unused for a while.
const WAITING_MAX: u64 = 1 << 20;
/// A day, in milliseconds.
const DAY: i64 = 86_400_000;
/// The name of the sink.
pub(crate) const SINK: &str = "last_uses";

/// Uses that are not written yet.
#[derive(Debug)]
pub struct LastUses {
    waiting: Mutex<Waiting>,
    /// Held from taking uses until they are written, so that a reader that waits for it sees all of them.
    pub(crate) writing: tokio::sync::Mutex<()>,
    bound: Arc<Bound>,
}

#[derive(Debug, Default)]
struct Waiting {
    uses: HashSet<Use>,
    /// The last use. The next one is often equal.
    last: Option<Use>,
    /// The number of lost events of the process at the last check.
    lost_before: u64,
    /// Whether uses were lost because the write failed.
    failed: bool,
}

/// The name of the repository, the name of the used version or file, and the number of the day.
pub(crate) type Use = (Box<str>, Box<str>, i64);

/// Uses that are being written.
#[derive(Debug)]
pub(crate) struct TakenUses {
    pub(crate) uses: HashSet<Use>,
    /// Whether no earlier use was lost.
    pub(crate) complete: bool,
}

/// Passes finished events to the uses.
struct UseSink(Arc<LastUses>);

impl LastUses {
    /// An empty record.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            waiting: Mutex::default(),
            writing: tokio::sync::Mutex::default(),
            bound: Bound::new(BoundName::LastUses, "", WAITING_MAX),
        })
    }

    /// The sink that gathers uses from finished events.
    pub fn sink(self: &Arc<Self>) -> Box<dyn Sink> {
        Box::new(UseSink(self.clone()))
    }

    /// The bound of unwritten uses, to be registered.
    pub fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// Takes the unwritten uses. `lost` is the number of events that the process has lost so far, which shows whether
    /// all uses are known.
    pub(crate) fn take(&self, lost: u64) -> TakenUses {
        let lost = lost + self.bound.rejected();
        let mut waiting = self.lock();
        let failed = std::mem::take(&mut waiting.failed);
        let complete = !failed && lost <= std::mem::replace(&mut waiting.lost_before, lost);
        waiting.last = None;
        self.bound.observe(0);
        TakenUses { uses: std::mem::take(&mut waiting.uses), complete }
    }

    /// Records that taken uses could not be written.
    pub(crate) fn lose(&self) {
        self.lock().failed = true;
    }

    fn gather(&self, events: &[Event]) {
        let mut waiting = self.lock();
        for event in events.iter().filter(|event| is_download(event)) {
            let Some(name) = used_name(&event.subject) else { continue };
            self.add(&mut waiting, &event.subject.repository, &name, event.at);
        }
        self.bound.observe(waiting.uses.len() as u64);
    }

    fn add(&self, waiting: &mut Waiting, repository: &str, name: &str, at: Millis) {
        let day = at.0.div_euclid(DAY);
        if waiting.last.as_ref().is_some_and(|last| (&*last.0, &*last.1, last.2) == (repository, name, day)) {
            return;
        }
        let one: Use = (repository.into(), name.into(), day);
        waiting.last = Some(one.clone());
        if waiting.uses.contains(&one) {
            return;
        }
        if waiting.uses.len() as u64 >= WAITING_MAX {
            return self.bound.reject();
        }
        waiting.uses.insert(one);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an event is a download that succeeded, or one that found the client's copy unchanged.
fn is_download(event: &Event) -> bool {
    event.kind == Kind::Request && matches!(event.method, "GET" | "HEAD") && matches!(event.status, 200 | 206 | 304)
}

impl Sink for UseSink {
    fn name(&self) -> &'static str {
        SINK
    }

    fn write(&mut self, events: &[Event]) -> io::Result<()> {
        self.0.gather(events);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::{Subject, Tick};

    fn download(kind: &'static str, status: u16, at: i64) -> Event {
        let mut event = *Event::request(Millis(at), Tick(0));
        (event.method, event.status) = ("GET", status);
        event.subject = Subject { repository: "all".into(), package: "org:lamp".into(), version: "1.0".into(), kind };
        event
    }

    #[test]
    fn downloads_that_succeed_are_uses_and_each_counts_once_a_day() {
        let uses = LastUses::new();
        let events = [
            download("artifact", 200, 5),
            download("pom", 304, 6),
            download("artifact", 404, DAY),
            download("metadata", 200, 2 * DAY),
            download("artifact", 206, 3 * DAY),
        ];
        uses.gather(&events);
        let mut days: Vec<_> = uses.lock().uses.iter().map(|(_, name, day)| (name.to_string(), *day)).collect();
        days.sort();
        assert_eq!(days, [("org:lamp:1.0".to_owned(), 0), ("org:lamp:1.0".to_owned(), 3)]);
    }
}
