//! Records by the day when versions and files were last downloaded, so that cleanup can keep used ones. A census
//! collects uses from all events, after the reply; a job writes them every minute.

use repository::used_name;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use telemetry::{Bound, BoundName, Census, Glance, Kind, SamplingDecision, lock};

/// Maximum number of unwritten uses. Further ones are lost; then the recording starts again, and nothing counts as
/// unused for a while.
const WAITING_MAX: u64 = 1 << 20;
/// A day, in milliseconds.
const DAY: i64 = 86_400_000;
/// The name of the census.
pub(crate) const CENSUS: &str = "last_uses";

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
    uses: Uses,
    /// The number of names in it.
    names: u64,
    /// The number of lost events of the process at the last check.
    lost_before: u64,
    /// Whether uses were lost because the write failed.
    failed: bool,
}

/// By the number of the day and the name of the repository: the names of the used versions and files.
pub(crate) type Uses = HashMap<i64, HashMap<Box<str>, HashSet<Box<str>>>>;

/// Uses that are being written.
#[derive(Debug)]
pub(crate) struct TakenUses {
    pub(crate) uses: Uses,
    /// Whether no earlier use was lost.
    pub(crate) complete: bool,
}

/// Passes finished events to the uses.
struct UseCensus {
    uses: Arc<LastUses>,
    /// The name of the last use. Its memory is used again.
    name: String,
}

impl LastUses {
    /// An empty record.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            waiting: Mutex::default(),
            writing: tokio::sync::Mutex::default(),
            bound: Bound::new(BoundName::LastUses, "", WAITING_MAX),
        })
    }

    /// The census that gathers uses from finished events.
    pub fn census(self: &Arc<Self>) -> Box<dyn Census> {
        Box::new(UseCensus { uses: self.clone(), name: String::new() })
    }

    /// The bound of unwritten uses, to be registered.
    pub fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// Takes the unwritten uses. `lost` is the number of events that the process has lost so far, which shows whether
    /// all uses are known.
    pub(crate) fn take(&self, lost: u64) -> TakenUses {
        let lost = lost + self.bound.rejected();
        let mut waiting = lock(&self.waiting);
        let failed = std::mem::take(&mut waiting.failed);
        let complete = !failed && lost <= std::mem::replace(&mut waiting.lost_before, lost);
        waiting.names = 0;
        self.bound.observe(0);
        TakenUses { uses: std::mem::take(&mut waiting.uses), complete }
    }

    /// Records that taken uses could not be written.
    pub(crate) fn lose(&self) {
        lock(&self.waiting).failed = true;
    }

    fn add(&self, day: i64, repository: &str, name: &str) {
        let mut waiting = lock(&self.waiting);
        let known = waiting.uses.get(&day).and_then(|of_day| of_day.get(repository));
        if known.is_some_and(|names| names.contains(name)) {
            return;
        }
        if waiting.names >= WAITING_MAX {
            return self.bound.reject();
        }
        waiting.names += 1;
        waiting.uses.entry(day).or_default().entry(repository.into()).or_default().insert(name.into());
        self.bound.observe(waiting.names);
    }
}

/// Whether an event is a download that succeeded, or one that found the client's copy unchanged.
fn is_download(event: &Glance<'_>) -> bool {
    let figures = event.figures;
    figures.kind == Kind::Request
        && matches!(figures.method, "GET" | "HEAD")
        && matches!(figures.status, 200 | 206 | 304)
}

impl Census for UseCensus {
    fn name(&self) -> &'static str {
        CENSUS
    }

    fn see(&mut self, event: &Glance<'_>) -> SamplingDecision {
        let used = used_name(event.figures.file, event.package, event.version).filter(|_| is_download(event));
        if let Some(used) = used {
            self.name.clear();
            // Writing to a string cannot fail.
            let _ = write!(self.name, "{used}");
            self.uses.add(event.figures.at.0.div_euclid(DAY), event.repository, &self.name);
        }
        SamplingDecision::DROP
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::{Event, Figures, Millis, Subject, Tick};

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
        let mut census = uses.census();
        for event in &events {
            assert_eq!(census.see(&Glance::of(event, &Figures::of(event))), SamplingDecision::DROP, "it only counts");
        }
        let uses = uses.take(0).uses;
        let mut days: Vec<i64> = uses.keys().copied().collect();
        days.sort_unstable();
        assert_eq!(days, [0, 3]);
        for names in uses.values().map(|of_day| &of_day["all"]) {
            assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["org:lamp:1.0"]);
        }
    }
}
