//! Hints that files changed upstream: the cached documents are fetched again until they have changed.

use crate::error::Result;
use crate::hints::announcement::Announcement;
use crate::hints::hint::Hint;
use crate::hints::waiting::Arrived;
use crate::upstream::document_bytes;
use crate::upstream::flight::{FlightLifetime, FollowUntil};
use crate::upstream::{KeptFile, Remembered, Remote};
use format::tree;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use store::Lane;
use telemetry::{Event, Job, Millis, Op};
use tokio::task::JoinSet;

/// Maximum size of a document that is searched for a version, in bytes.
const DOCUMENT_BYTES: usize = 16 << 20;

/// How a format checks a hint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HintedFiles {
    /// The hint in an announcement.
    pub(crate) hint: fn(&Announcement) -> Hint,
    /// The paths of the documents that confirm a hint.
    pub(crate) documents: fn(&Hint) -> Vec<String>,
    /// The folders and paths that a hint affects; an empty one: everything.
    pub(crate) about: fn(&Hint) -> Vec<String>,
    /// Whether a document confirms the hint.
    pub(crate) tells: fn(&Hint, &[u8]) -> bool,
}

/// A repository of files whose upstream is looked at because of hints.
#[derive(Debug, Clone)]
pub(crate) struct HintedRemote {
    pub(crate) remote: Remote,
    pub(crate) files: HintedFiles,
}

impl HintedRemote {
    /// Accepts a hint, and looks at once if a look is due.
    pub(crate) async fn take_hint(
        &self,
        said: &Announcement,
        shared: &Arc<AtomicBool>,
        event: &mut Event,
    ) -> Result<()> {
        let (repository, at) = (&self.remote.repository, self.remote.now());
        let (hint, published) = ((self.files.hint)(said), said.published);
        repository.shared.due.set_recent(said.recent.clone());
        let basis = self.digests(&hint, event).await?;
        repository.shared.hints.count_taken(at);
        repository.shared.hints.take(
            Arrived { hint, at, published, basis, shared },
            false,
            &self.remote.remotes.hints.bound,
        );
        self.look_for_hints();
        Ok(())
    }

    /// Starts a look if one is due. Returns the time of the next.
    pub(crate) fn look_for_hints(&self) -> Option<Millis> {
        let (repository, now) = (&self.remote.repository, self.remote.now());
        let due = repository.shared.hints.due(now)?;
        if due > now || !repository.asks {
            return Some(due);
        }
        if let Ok(turn) = repository.shared.due.looking.clone().try_lock_owned() {
            let look = repository.shared.hints.begin_look(now, true);
            // Before the sender is told that the hint was accepted.
            repository.shared.hints.waiting().iter().for_each(|hint| self.mark(hint, now));
            let job = self.clone();
            self.remote.remotes.back.spawn(async move {
                job.look(look, now).await;
                drop(turn);
                job.remote.remotes.hints.changed.notify_one();
            });
        }
        Some(due)
    }

    /// Marks the files that a hint affects, so that the next request for one fetches it again. Answers in memory are
    /// voided.
    fn mark(&self, hint: &Hint, now: Millis) {
        let (store, repository) = (&self.remote.remotes.store, &self.remote.repository);
        for path in (self.files.about)(hint) {
            repository.shared.due.mark(&path, now);
            let units =
                if path.is_empty() { repository.shared.due.recent() } else { vec![tree::folder(&path).to_owned()] };
            units.iter().for_each(|unit| store.upstream_changed(repository.id, unit));
            store.upstream_changed(repository.id, &path);
        }
    }

    /// Fetches the cached documents again, and records which hints are confirmed.
    async fn look(&self, look: u64, began: Millis) {
        let (remotes, repository) = (&self.remote.remotes, &self.remote.repository);
        let mut own = Job::begin(&remotes.recorder, "hints.look");
        own.subject.repository = repository.record.name.as_str().into();
        let mut seen = BTreeMap::new();
        let hints = repository.shared.hints.waiting();
        let mut done = Ok(());
        for some in hints.chunks(remotes.width) {
            let mut looks = JoinSet::new();
            for hint in some {
                let (job, hint, mut event) = (self.clone(), hint.clone(), Event::job("hints.look", began));
                let look = async move {
                    let looked = job.look_for(&hint, &mut event).await;
                    (hint, looked, event)
                };
                looks.spawn_on(look, &remotes.back);
            }
            while let Some(Ok((hint, looked, event))) = looks.join_next().await {
                event.upstream().iter().for_each(|used| own.upstream_mut().add(used));
                match looked {
                    Ok(now) => drop(seen.insert((hint.package, hint.version, hint.gone), now)),
                    Err(error) => done = Err(error),
                }
            }
        }
        let true_now = |hint: &Hint, basis: &str| {
            let seen = seen.get(&(hint.package.clone(), hint.version.clone(), hint.gone));
            seen.is_some_and(|seen| seen.is_true.unwrap_or_else(|| seen.digests != basis))
        };
        repository.shared.hints.end_look(look, began, self.remote.now(), true_now);
        if let Err(error) = &done {
            (own.reason, own.detail) = (Some(error.reason()), error.to_string());
        }
        own.end_as(&done);
    }

    /// Fetches the cached documents of one hint again.
    async fn look_for(&self, hint: &Hint, event: &mut Event) -> Result<SeenNow> {
        let (mut is_true, mut none) = (None, true);
        for path in (self.files.documents)(hint) {
            let file = self.remote.repository.file(&path);
            let Some(Remembered::File(_)) = self.remote.recall(&file, event).await? else { continue };
            none = false;
            let flight = self.remote.flight(&path, FlightLifetime::ToItsEnd)?;
            flight.follow(FollowUntil::Done, event).await;
            if let Some(Remembered::File(kept)) = self.remote.recall(&file, event).await?
                && hint.is_exact()
            {
                let tells = self.tells(hint.clone(), kept, event).await?;
                is_true = Some(is_true.unwrap_or_default() || tells);
            }
        }
        // No older document is cached, so the next request fetches the present one.
        let is_true = if none && hint.is_exact() { Some(true) } else { is_true };
        Ok(SeenNow { is_true, digests: self.digests(hint, event).await? })
    }

    async fn tells(&self, hint: Hint, kept: KeptFile, event: &mut Event) -> Result<bool> {
        let read = document_bytes::read(&kept.held, kept.known.hashes.size_bytes, DOCUMENT_BYTES);
        let tells = self.files.tells;
        let look = move |_: &mut ()| read().is_ok_and(|bytes| tells(&hint, &bytes));
        Ok(self.remote.remotes.workers.run(Lane::Index, Op::PackageRead, event, look).await?)
    }

    /// The digests of the cached documents of a hint.
    async fn digests(&self, hint: &Hint, event: &mut Event) -> Result<String> {
        let mut digests = String::new();
        for path in (self.files.documents)(hint) {
            if let Some(Remembered::File(kept)) = self.remote.recall(&self.remote.repository.file(&path), event).await?
            {
                digests += &kept.known.hashes.sha256.to_string();
            }
        }
        Ok(digests)
    }
}

/// The result of a look for one hint.
struct SeenNow {
    /// `None`: the hint does not describe the change.
    is_true: Option<bool>,
    digests: String,
}
