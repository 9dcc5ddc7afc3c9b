//! A look at an upstream's `/versions`, as a job: new lines are written to the journal and then served.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::gem::upstream::dates_file;
use crate::gem::upstream::first_body::FirstBody;
use crate::gem::upstream::index::FollowedIndex;
use crate::gem::upstream::listing::Lines;
use crate::gem::upstream::looked::Looked;
use crate::services::Served;
use crate::upstream::Remote;
use crate::upstream::failure::Failure;
use crate::upstream::flight_use::FlightUse;
use telemetry::{Event, Job, Millis, Reason};
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinHandle;

/// Follows the index of an upstream.
#[derive(Debug, Clone)]
pub(crate) struct Follow {
    pub(crate) remote: Remote,
    pub(crate) context: Context,
}

/// Whether a look confirmed the known index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proven {
    Yes,
    No,
}

/// Who needs a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// A client needs the index.
    AClient,
    /// The regular work. It does not fetch an index that no client ever requested.
    Ours,
    /// A hint. It does not fetch such an index either.
    Hints,
}

impl Follow {
    /// Follows the index of the upstream of this repository.
    pub(crate) fn of(of: Served<'_>) -> Self {
        Self { remote: of.remote(), context: of.services.context.clone() }
    }

    pub(crate) fn now(&self) -> Millis {
        self.remote.now()
    }

    /// The known state of the index.
    pub(crate) fn index(&self) -> &FollowedIndex {
        &self.remote.repository.shared.gems().followed
    }

    /// Starts a look. The caller has the turn.
    pub(crate) fn start_look(&self, whose: Whose, turn: OwnedMutexGuard<()>) -> JoinHandle<Result<()>> {
        let mut job = Job::begin(&self.remote.remotes.recorder, "index.look");
        job.subject.repository = self.remote.repository.record.name.as_str().into();
        job.subject.kind = "versions";
        let used = FlightUse::of(job.id);
        self.index().begin_look(used.clone());
        self.remote.remotes.back.spawn(self.clone().run(whose, turn, job, used))
    }

    async fn run(self, whose: Whose, turn: OwnedMutexGuard<()>, mut job: Job, used: FlightUse) -> Result<()> {
        // The result describes the upstream at the beginning of the look.
        let now = self.remote.now();
        let look = self.hints().begin_look(now, whose == Whose::Hints);
        let done = Box::pin(self.look(whose, &mut job)).await;
        if let Err(error) = &done {
            let detail = match error {
                Error::Upstream(failure) => failure.detail(),
                other => other.to_string(),
            };
            (job.reason, job.detail) = (Some(error.reason()), detail);
            if let Error::Upstream(failure) = error {
                self.index().fail(failure.clone());
            }
        }
        let (origin, reason) = (self.remote.repository.origin, job.reason);
        let proven = matches!(done, Ok(Proven::Yes));
        self.index().change(origin, |known| {
            known.tried = now;
            match reason {
                None if proven => (known.checked, known.failed) = (now, None),
                None => {}
                Some(reason) => known.failed = Some(reason),
            }
        });
        used.end(&mut job);
        job.end_as(&done);
        drop(turn);
        self.settle_hints(look, now);
        dates_file::keep(&self.context, &self.remote.repository, false).await;
        self.fetch_ahead();
        done.map(|_| ())
    }

    async fn look(&self, whose: Whose, event: &mut Event) -> Result<Proven> {
        let (origin, followed) = (self.remote.repository.origin, self.index());
        self.load_as_job(event).await?;
        if whose != Whose::AClient && followed.read(origin, |_| ()).is_none() {
            return Ok(Proven::No);
        }
        let mut first = FirstBody::new(&self.remote.remotes.store, &followed.arrivals, origin);
        match self.ask(&mut first, event).await? {
            Looked::Later => return Ok(Proven::No),
            Looked::Unchanged(file) => {
                followed.change(origin, |known| (known.file, known.held_back) = (file, None));
            }
            Looked::HeldBack(held_back, file) => {
                let names = held_back.map_or(0, |held| held.names);
                followed.change(origin, |known| (known.file, known.held_back) = (file, held_back));
                let text = format!(
                    "the upstream's `/versions` lacks what it had of {names} names, and is held back for an hour"
                );
                return Err(Failure::new(Reason::UpstreamInvalid, text).into());
            }
            Looked::First { text, from, file } => {
                let (lines, kept) = (text.len(), file.kept.clone());
                self.begin(text, from, file, event).await?;
                first.land(kept.as_ref(), from, lines);
                self.save(from != Lines::Relayed);
            }
            Looked::Lines { difference, from, file } => {
                self.append(difference, from, file, event).await?;
                self.save(from != Lines::Relayed);
            }
        }
        Ok(Proven::Yes)
    }
}
