//! Writes collected observations of an upstream to the journal, in one commit after the other.

use crate::error::Result;
use crate::upstream::Remote;
use crate::upstream::first_seen::record;
use crate::upstream::first_seen::sights::{FirstSight, FirstSightQueue, pause_after};
use telemetry::{Event, Job, Layer, Op};
use tokio::time::sleep;

impl Remote {
    /// Lets new observations be written soon. Waits for that only if too many others do.
    pub(crate) async fn see_first(&self, sights: Vec<FirstSight>, event: &mut Event) -> Result<()> {
        if self.queue_sights(sights) { self.write_sights(event).await } else { Ok(()) }
    }

    /// Writes new observations now, and all that wait before them.
    pub(crate) async fn write_first(&self, sights: Vec<FirstSight>, event: &mut Event) -> Result<()> {
        self.queue_sights(sights);
        self.write_sights(event).await
    }

    /// Returns whether there are so many now that the caller has to write them.
    fn queue_sights(&self, sights: Vec<FirstSight>) -> bool {
        if sights.is_empty() {
            return false;
        }
        let sights_of = &self.remotes.first_sights;
        let added = sights_of.of(self.repository.origin).add(sights, sights_of.bound());
        if added.needs_task {
            // It outlives the request, and its look keeps files open.
            let remote = Self { looked_up: None, ..self.clone() };
            self.remotes.back.spawn(async move { remote.keep_writing_sights().await });
        }
        added.is_full
    }

    /// Writes all that wait.
    async fn write_sights(&self, event: &mut Event) -> Result<()> {
        let queue = self.remotes.first_sights.of(self.repository.origin);
        let _turn = event.during(Op::TurnWait, queue.turn.lock()).await;
        self.write_in_turn(&queue, event).await
    }

    /// The same, as a job. Returns how many there were. What the journal refuses is lost, and the next sight of the version
    /// repairs that.
    pub(crate) async fn write_sights_as_job(&self) -> usize {
        let queue = self.remotes.first_sights.of(self.repository.origin);
        let _turn = queue.turn.lock().await;
        let count = queue.unwritten().len();
        if count == 0 {
            return 0;
        }
        let mut job = Job::begin(&self.remotes.recorder, "first_seen");
        (job.subject.repository, job.layer) = (self.repository.record.name.as_str().into(), Layer::Remote);
        let written = self.write_in_turn(&queue, &mut job).await;
        if let Err(error) = &written {
            (job.reason, job.detail) = (Some(error.reason()), error.to_string());
        }
        job.end_as(&written);
        count
    }

    async fn write_in_turn(&self, queue: &FirstSightQueue, event: &mut Event) -> Result<()> {
        let sights = queue.unwritten();
        if sights.is_empty() {
            return Ok(());
        }
        let written = record::write(self, &sights, event).await;
        queue.remove(sights.len());
        written
    }

    async fn keep_writing_sights(self) {
        let queue = self.remotes.first_sights.of(self.repository.origin);
        loop {
            let written = self.write_sights_as_job().await;
            sleep(pause_after(written)).await;
            if queue.is_over() {
                return;
            }
        }
    }
}
