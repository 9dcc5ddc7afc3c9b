//! Fetches `/info` files before a client requests them: files that were requested before and whose MD5 in the index
//! changed.

use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::forbidden::forbidden;
use crate::upstream::{Remembered, WIDTH};
use telemetry::{Event, Outcome, Tick};
use tokio::task::JoinSet;

impl Follow {
    /// Starts a job that fetches them, unless one is running.
    pub(crate) fn fetch_ahead(self) {
        let Some(turn) = self.index().ahead.turn() else { return };
        let back = self.remote.remotes.back.clone();
        back.spawn(async move {
            let mut event = Event::job("info.ahead", self.remote.now());
            event.subject.repository = self.remote.repository.record.name.as_str().into();
            event.subject.kind = "info";
            self.remote.remotes.recorder.attempt();
            loop {
                let names = self.index().ahead.take(WIDTH);
                if names.is_empty() {
                    break;
                }
                self.fetch(names, &mut event).await;
            }
            event.outcome = Some(Outcome::Done);
            event.duration = Tick::now().since(event.began);
            self.remote.remotes.recorder.release(event);
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
                let fetch = async move { drop(job.info(&name, &mut event).await) };
                fetches.spawn_on(fetch, &self.remote.remotes.back);
            }
        }
        while fetches.join_next().await.is_some() {}
    }
}
