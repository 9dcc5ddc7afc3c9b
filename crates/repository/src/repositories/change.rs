//! Creating repositories, and changing their settings.

use crate::author::Author;
use crate::error::unconfirmed::Unconfirmed;
use crate::error::{Error, Result};
use crate::policy::hidden_hosted::HiddenHosted;
use crate::record::RepositoryRecord;
use crate::repositories::cached::{Cached, FormerFiles};
use crate::repositories::former::{cached_of, take_over};
use crate::repositories::frees::frees_cached;
use crate::repositories::hidden_hosted::hidden_hosted;
use crate::repositories::setting_changes::difference;
use crate::repositories::upkeep::prune_later;
use crate::repositories::{Repositories, members};
use crate::repository::Repository;
use crate::services::TRIES;
use crate::services::{Services, list};
use crate::settings;
use std::sync::Arc;
use store::{Change, CommitError, Conflict, Expect, Frees, Lane, Origin, RepositoryId};
use telemetry::{Event, Job, Millis, Op};

/// Decisions about what a change of settings takes away. Without them such a change is refused.
#[derive(Debug, Clone, Copy)]
pub struct Decisions {
    /// The fate of the cached files of the former upstream, in case the URL changes.
    pub former_files: FormerFiles,
    /// Whether a policy of a group may hide versions of its hosted members.
    pub include_hosted: bool,
}

/// A repository after a change of its settings.
#[derive(Debug)]
pub struct ChangedRepository {
    /// The repository with its new settings.
    pub repository: Arc<Repository>,
    /// The cached files of its former upstream; `None`: the upstream is the same.
    pub former: Option<Cached>,
    /// The space that becomes free; `None`: the change deletes nothing.
    pub frees: Option<Frees>,
    /// The builds of snapshots that new rules delete.
    pub pruned: Option<crate::cleanup::PrunePlan>,
    /// The versions of hosted members that the change hides.
    pub hidden: Option<HiddenHosted>,
    /// The difference of the settings, in the words of the journal: `policy.deny: +rack -rake`. Empty: nothing changed.
    pub difference: String,
}

impl Repositories {
    /// Creates a repository with these settings, at this moment.
    pub async fn add(&self, record: RepositoryRecord, by: Author<'_>, event: &mut Event) -> Result<Arc<Repository>> {
        let name = record.name.clone();
        self.add_all(vec![record], by, event).await?;
        Ok(self.find(&name, event).await?.0)
    }

    /// Creates several repositories, or none of them.
    pub async fn add_all(&self, records: Vec<RepositoryRecord>, by: Author<'_>, event: &mut Event) -> Result<()> {
        let _turn = event.waited(Op::TurnWait, self.services.changing.lock()).await;
        for _ in 0..TRIES {
            let at = self.services.store.now();
            let (expect, changes) = self.creation(records.clone(), at, event).await?;
            match self.services.store.commit(by.batch(at, expect, changes), event).await {
                Err(CommitError::Conflict(Conflict(Expect::RepositoryNameFree(name)))) => {
                    return Err(Error::NameTaken(name));
                }
                Err(CommitError::Conflict(_)) => {}
                Err(CommitError::Error(error)) => return Err(error.into()),
                Ok(_) => return Ok(()),
            }
        }
        Err(contended(&records))
    }

    /// The changes that create several repositories at the moment `at`, with their expectations, for a batch of the
    /// caller.
    pub async fn creation(
        &self,
        records: Vec<RepositoryRecord>,
        at: Millis,
        event: &mut Event,
    ) -> Result<(Vec<Expect>, Vec<Change>)> {
        let known = self.table(event).await?;
        let (mut expect, mut changes) = (Vec::new(), Vec::new());
        for record in &records {
            let mut record = RepositoryRecord { created: at, ..record.clone() };
            check(&self.services, &mut record, event).await?;
            members::check(&record, &known, &records)?;
            expect.push(Expect::RepositoryNameFree(record.name.clone()));
            changes.push(Change::Repository { id: RepositoryId(0), record: record.stored()? });
        }
        expect.push(known.unchanged());
        Ok((expect, changes))
    }

    /// Changes settings that no index depends on. `change` receives the present settings. When this returns, every
    /// later answer uses the new ones.
    pub async fn set(
        &self,
        name: &str,
        change: impl Fn(&mut RepositoryRecord) -> Result<()> + Send,
        by: Author<'_>,
        event: &mut Event,
    ) -> Result<Arc<Repository>> {
        let decisions = Decisions { former_files: FormerFiles::Undecided, include_hosted: false };
        Ok(self.set_deciding(name, change, decisions, by, event).await?.repository)
    }

    /// The same, with decisions about what the change takes away.
    pub async fn set_deciding(
        &self,
        name: &str,
        change: impl Fn(&mut RepositoryRecord) -> Result<()> + Send,
        decisions: Decisions,
        by: Author<'_>,
        event: &mut Event,
    ) -> Result<ChangedRepository> {
        let turn = event.waited(Op::TurnWait, self.services.changing.lock()).await;
        let mut tries = 0;
        let former_files = decisions.former_files;
        let (repository, origin, former, hidden, difference) = loop {
            let known = self.table(event).await?;
            let repository = known.named(name)?.clone();
            let mut record = repository.record.clone();
            change(&mut record)?;
            if record == repository.record {
                let difference = String::new();
                let (former, frees, pruned, hidden) = (None, None, None, None);
                return Ok(ChangedRepository { repository, former, frees, pruned, hidden, difference });
            }
            record.date_members(&repository.record, self.services.store.now());
            check(&self.services, &mut record, event).await?;
            members::check(&record, &known, &[])?;
            let origin = Repository::origin_of(repository.id, &record);
            let former = match origin == repository.origin {
                true => None,
                false => Some(cached_of(&self.services, &repository, event).await?),
            };
            if let Some(cached) = former.filter(|cached| cached.files > 0 && former_files == FormerFiles::Undecided) {
                return Err(Unconfirmed::WouldLoseCached { name: name.to_owned(), cached }.into());
            }
            let after = list::table_with(&self.services.room, &known, Some(&repository), record.clone())?;
            let hidden = hidden_hosted(&self.services, &known, &after, name, event).await?;
            if let Some(hidden) = hidden.as_ref().filter(|_| !decisions.include_hosted) {
                let (name, hidden) = (name.to_owned(), Box::new(hidden.clone()));
                return Err(Unconfirmed::WouldHideHosted { name, hidden }.into());
            }
            // Another machine may have changed the settings again before the new ones are read below.
            let difference = difference(&repository.record.stored()?, &record.stored()?).unwrap_or_default();
            if self.services.change(&repository, vec![known.unchanged()], record, by, event).await? {
                break (repository, origin, former, hidden, difference);
            }
            tries += 1;
            if tries == TRIES {
                return Err(Error::Contended(name.to_owned()));
            }
        };
        if former.is_some() {
            self.services.store.set_upstream(repository.id, Some(origin), event).await?;
            if former_files == FormerFiles::KeepVerified {
                take_over(&self.services, &repository, origin, event).await?;
            }
            drop_former(&self.services, repository.id);
        }
        let (set, _) = self.find(name, event).await?;
        set.change_from(&repository.record);
        self.wake_hints();
        let mut frees = former.map(|cached| frees_cached(&self.services, cached.lost(former_files).1));
        let mut pruned = None;
        if set.record.retention != repository.record.retention {
            drop(turn);
            if set.record.retention.is_some() {
                // The change is committed, even if the figure cannot be read.
                pruned = self.prune_plan(&set, event).await.ok();
                frees = pruned.as_ref().map(|plan| plan.frees);
            }
            prune_later(&self.services, set.clone());
        }
        Ok(ChangedRepository { repository: set, former, frees, pruned, hidden, difference })
    }
}

/// Deletes the pinned networks of the hosts of a repository's upstream. The next call to each host pins its network
/// again.
pub async fn pin_anew(services: &Services, name: &str, event: &mut Event) -> Result<()> {
    let (repository, _) = services.find(name, event).await?;
    Ok(services.remotes.pin_anew(&repository, event).await?)
}

/// Refuses invalid settings and references that cannot be read.
pub(crate) async fn check(services: &Services, record: &mut RepositoryRecord, event: &mut Event) -> Result<()> {
    settings::settle(record)?;
    let (remote, hook_secret) = (record.remote.clone(), record.hook_secret.clone());
    if remote.is_none() && hook_secret.is_none() {
        return Ok(());
    }
    let remotes = services.remotes.clone();
    let read = move |_: &mut ()| {
        hook_secret.map_or(Ok(()), |reference| remotes.upstreams.secret(&reference).map(drop))?;
        remote.map_or(Ok(()), |remote| remotes.check(&remote))
    };
    Ok(services.context.workers.run(Lane::Change, Op::ReferencesRead, event, read).await??)
}

/// Assigns the cache to another upstream. The files of the former one are invisible at once and deleted in the
/// background.
pub(crate) async fn turn(services: &Services, id: RepositoryId, to: Option<Origin>, event: &mut Event) -> Result<()> {
    services.store.set_upstream(id, to, event).await?;
    drop_former(services, id);
    Ok(())
}

/// Deletes the files of former upstreams, in the background.
fn drop_former(services: &Services, id: RepositoryId) {
    let store = services.store.clone();
    let mut job = Job::begin(&services.context.recorder, "forget");
    services.context.back.spawn(async move {
        let dropped = store.drop_former(id, &mut job).await;
        if let Err(error) = &dropped {
            (job.reason, job.detail) = (Some(crate::error::store_reason(error)), error.to_string());
        }
        job.end_as(&dropped);
    });
}

fn contended(records: &[RepositoryRecord]) -> Error {
    let names: Vec<&str> = records.iter().map(|record| record.name.as_str()).collect();
    Error::Contended(names.join("`, `"))
}
