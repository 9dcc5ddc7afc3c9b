//! The event of a job for a path of an upstream.

use crate::upstream::Remote;
use telemetry::{Job, Layer, Subject};

impl Remote {
    /// Begins a job for a path. Its event names the same package as a request for that path, if the path names one.
    pub(crate) fn job(&self, name: &'static str, path: &str) -> Job {
        let mut job = Job::begin(&self.remotes.recorder, name);
        job.asked(path);
        let repository = self.repository.record.name.as_str().into();
        (job.subject, job.layer) =
            (Subject { repository, ..self.repository.file(path).subject("file") }, Layer::Remote);
        job
    }
}
