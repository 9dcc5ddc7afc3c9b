//! Makes the digests that cached files did not get when they arrived.

use crate::error::store_reason;
use crate::late_digests::LateDigests;
use crate::repositories::Repositories;
use store::{RepositoryId, Undigested};
use telemetry::{Event, Job, Millis};

/// The age of a file that gets its other digests, in milliseconds: the build that fetched it has ended by then, usually.
const AGE_MS: i64 = 10 * 60_000;
/// Bytes that are hashed in one round. At one round a minute, 50 GiB are done within an hour after their arrival.
const ROUND_BYTES: u64 = 1 << 30;

/// The files of one round.
#[derive(Default)]
struct Round {
    files: usize,
    damaged: usize,
    bytes: u64,
}

impl Repositories {
    /// Makes MD5 and SHA-512 of cached files that lack one of them, on threads of low priority. Answers that were made without them
    /// are not used again. Call it once a minute; `moved` is called after each file.
    pub async fn make_late_digests(&self, moved: impl Fn()) {
        let services = &self.services;
        if services.store.read_only().is_some() {
            return;
        }
        let now = services.clock.now();
        let (mut event, before) = (Event::job("digests.make", now), Millis(now.0 - AGE_MS));
        // The next round tries again, and a store that is closing needs none.
        let Ok(files) = services.store.undigested(before, &mut event).await else { return };
        if files.is_empty() {
            return;
        }
        let (mut job, mut round) = (Job::of(&services.context.recorder, event), Round::default());
        let done = self.digest(files, before, &mut round, &moved, &mut job).await;
        job.detail = format!("{} files of {} bytes, and {} damaged ones", round.files, round.bytes, round.damaged);
        if let Err(error) = &done {
            (job.reason, job.detail) = (Some(store_reason(error)), error.to_string());
        }
        job.end_as(&done);
    }

    /// Makes the digests of `files`, and of others from `before` a moment, as many as one round has.
    async fn digest(
        &self,
        mut files: Vec<Undigested>,
        before: Millis,
        round: &mut Round,
        moved: &impl Fn(),
        event: &mut Event,
    ) -> Result<(), store::Error> {
        let store = &self.services.store;
        let late = LateDigests { workers: &self.services.context.workers, store };
        while !files.is_empty() && round.bytes < ROUND_BYTES {
            let mut made = Vec::new();
            for file in files {
                match late.make(&file.held, file.size_bytes, event).await? {
                    Some(hashes) if hashes.sha256 == file.sha256 => {
                        round.bytes += file.size_bytes;
                        made.push(hashes);
                    }
                    Some(_) | None => {
                        round.damaged += 1;
                        event.subject.repository = self.name_of(file.of.repository).as_str().into();
                        store.drop_damaged(file, event).await?;
                    }
                }
                moved();
            }
            let (wanted, kept) = (made.len(), store.keep_digests(made, event).await?);
            round.files += kept;
            if kept == 0 && wanted > 0 {
                break;
            }
            files = store.undigested(before, event).await?;
        }
        Ok(())
    }

    /// The name of a repository for the log; empty if it is gone.
    fn name_of(&self, id: RepositoryId) -> String {
        let known = self.services.known.load();
        known.by_name.values().find(|one| one.id == id).map(|one| one.record.name.clone()).unwrap_or_default()
    }
}
