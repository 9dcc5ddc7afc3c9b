//! The slots of one lane, and the requests that wait for them.

use super::glob::Glob;
use crate::view::LaneView;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use telemetry::{Bound, BoundName, Event, Op, Recorder, Slot, Text, Tick};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The most requests that wait for the slots of one lane.
const WAITING_MAX: u64 = 4096;
/// How long a request waits for a slot.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// The slots of a lane.
#[derive(Debug)]
pub(super) struct Lane {
    globs: Vec<Glob>,
    /// The globs as they are in the settings. Empty: the slots that no lane has.
    paths: Vec<String>,
    /// The first glob.
    name: Text,
    semaphore: Arc<Semaphore>,
    bound: Arc<Bound>,
    /// How long the request waited that got the last slot, in nanoseconds.
    waited: AtomicU64,
}

/// A slot of a lane, until it is dropped.
#[derive(Debug)]
pub(crate) struct LaneSlot {
    /// Dropped first: the next request takes its own place in the bound.
    _place: Option<Slot>,
    _permit: OwnedSemaphorePermit,
}

/// No slot was free in time.
#[derive(Debug)]
pub(crate) struct LaneFull {
    /// When another request may get one.
    pub(crate) retry_after: Duration,
}

impl Lane {
    /// A lane of an application, with its globs as read and as they are in the settings. Without any it has the slots of no lane.
    pub(super) fn new(app: &str, globs: Vec<Glob>, paths: &[String], slots: usize, recorder: &Arc<Recorder>) -> Self {
        let name = paths.first().map_or("", String::as_str);
        // Globs begin with a slash.
        let bound = Bound::new(BoundName::AppSlots, &format!("{app}{name}"), slots as u64);
        recorder.register(bound.clone());
        Self {
            globs,
            paths: paths.to_vec(),
            name: name.into(),
            semaphore: Arc::new(Semaphore::new(slots)),
            bound,
            waited: AtomicU64::new(0),
        }
    }

    /// Whether a path is one of its paths.
    pub(super) fn has(&self, path: &[Cow<'_, [u8]>]) -> bool {
        self.globs.iter().any(|glob| glob.matches(path))
    }

    /// Waits for a slot, first come, first served.
    pub(super) async fn enter(&self, event: &mut Event) -> Result<LaneSlot, LaneFull> {
        let ahead = self.bound.waiters();
        let used = event.more_mut().app.get_or_insert_default();
        (used.lane, used.ahead) = (self.name.clone(), u32::try_from(ahead).unwrap_or(u32::MAX));
        // It succeeds only where no other request waits.
        let permit = match self.semaphore.clone().try_acquire_owned() {
            Ok(permit) => {
                // Each request has a wait, if only of nothing, as the jobs of pools of threads have.
                self.bound.waited(0);
                permit
            }
            Err(_) if ahead >= WAITING_MAX => return Err(self.full()),
            Err(_) => self.wait(event).await?,
        };
        Ok(LaneSlot { _place: self.bound.enter().ok(), _permit: permit })
    }

    async fn wait(&self, event: &mut Event) -> Result<OwnedSemaphorePermit, LaneFull> {
        let (waiting, began) = (self.bound.wait(), Tick::now());
        let permit = event.during(Op::AppWait, timeout(WAIT_MAX, self.semaphore.clone().acquire_owned())).await;
        drop(waiting);
        self.waited.store(Tick::now().since(began), Relaxed);
        // It is never closed.
        permit.ok().and_then(Result::ok).ok_or_else(|| self.full())
    }

    fn full(&self) -> LaneFull {
        self.bound.reject();
        let waited = Duration::from_nanos(self.waited.load(Relaxed));
        LaneFull { retry_after: waited.clamp(Duration::from_secs(1), WAIT_MAX) }
    }

    pub(super) fn view(&self) -> LaneView {
        LaneView {
            paths: self.paths.clone(),
            slots: usize::try_from(self.bound.capacity()).unwrap_or(usize::MAX),
            busy: self.bound.used(),
            waiting: self.bound.waiters(),
        }
    }
}
