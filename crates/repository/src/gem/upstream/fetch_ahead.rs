//! Fetches `/info` files before a client requests them: files that were requested before and whose MD5 in the index
//! changed.

use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::forbidden::forbidden;
use crate::upstream::Remembered;
use telemetry::{Event, Job, Outcome};
use tokio::task::JoinSet;

impl Follow {
    /// Starts a job that fetches them, unless one is running.
    pub(crate) fn fetch_ahead(self) {
        let Some(turn) = self.index().ahead.turn() else { return };
        let back = self.remote.remotes.back.clone();
        back.spawn(async move {
            let mut job = Job::begin(&self.remote.remotes.recorder, "info.ahead");
            job.subject.repository = self.remote.repository.record.name.as_str().into();
            job.subject.kind = "info";
            loop {
                let names = self.index().ahead.take(self.remote.remotes.width);
                if names.is_empty() {
                    break;
                }
                self.fetch(names, &mut job).await;
            }
            job.end(Outcome::Done);
            drop(turn);
        });
    }

    /// Fetches the files that were requested before. A failure is reported to the next client that requests the file.
    async fn fetch(&self, names: Vec<String>, event: &mut Event) {
        let mut fetches = JoinSet::new();
        for name in names {
            let repository = &self.remote.repository;
            if forbidden(repository, &name, "").is_some() || repository.is_claimed_by_others(&name) {
                continue;
            }
            let path = format!("info/{name}");
            let file = self.remote.repository.file(&path);
            if matches!(self.remote.recall(&file, event).await, Ok(Some(Remembered::File(_)))) {
                let (job, mut event) = (self.clone(), Event::job("info.ahead", self.now()));
                let fetch = async move {
                    drop(job.info(&name, &mut event).await);
                    event
                };
                fetches.spawn_on(fetch, &self.remote.remotes.back);
            }
        }
        while let Some(fetched) = fetches.join_next().await {
            let used = fetched.as_ref().ok().and_then(|fetched| fetched.upstream());
            used.iter().for_each(|used| event.upstream_mut().add(used));
        }
    }
}
