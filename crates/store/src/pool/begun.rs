//! A job that was queued for a thread, and whose caller goes on until it needs the result.

use crate::error::{Error, Result};
use crate::pool::job_times::{JobStart, JobTimes};
use std::any::Any;
use std::marker::PhantomData;
use telemetry::{Event, Op, Tick};
use tokio::sync::oneshot;

/// The result of a job.
pub(super) type Done = Box<dyn Any + Send>;

/// A queued job with a result of this type. Dropping it cancels a job that has not started.
#[derive(Debug)]
pub(crate) struct Begun<T> {
    job: BegunJob,
    result: PhantomData<fn() -> T>,
}

/// The same for a result of any type, which is compiled once and not for each type.
#[derive(Debug)]
pub(super) struct BegunJob {
    pub(super) wait: Op,
    pub(super) op: Op,
    pub(super) began: JobStart,
    /// Brings the result, and when the job ended.
    pub(super) answered: oneshot::Receiver<(Done, Tick)>,
}

impl<T: 'static> Begun<T> {
    pub(super) fn of(job: BegunJob) -> Self {
        Self { job, result: PhantomData }
    }

    /// Waits for the result. Only this wait is recorded, because the caller did other things before it.
    pub(crate) async fn done(self, event: &mut Event) -> Result<T> {
        self.job.done(event).await?.downcast().map(|done| *done).map_err(|_| Error::Closed)
    }
}

impl BegunJob {
    async fn done(self, event: &mut Event) -> Result<Done> {
        let times = JobTimes::since_now(self.wait, self.op, self.began, event);
        let (done, ended) = self.answered.await.map_err(|_| Error::Closed)?;
        times.ended(ended);
        Ok(done)
    }
}
