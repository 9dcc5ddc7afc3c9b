//! Removing repositories, and undoing that within some days.
//!
//! A removal is one change: the record has its time. Entries, index lines and blobs stay, and so do the tokens for the repository, which
//! name it by its id. Undoing it is therefore one change, too.

use crate::author::Author;
use crate::bad_setting::BadSetting;
use crate::error::unrestorable::Unrestorable;
use crate::error::{Error, Result};
use crate::group::is_hosted;
use crate::record::RepositoryRecord;
use crate::repositories::change::{check, turn};
use crate::repositories::frees::{frees_below, frees_cached};
use crate::repositories::holding::Held;
use crate::repositories::holding::holds;
use crate::repositories::{Repositories, members};
use crate::repository::Repository;
use crate::services::TRIES;
use std::sync::Arc;
use store::{Change, CommitError, Conflict, Expect, Frees, RepositoryId, RepositoryKind, State};
use telemetry::{Event, Millis, Op};

/// A removed repository.
#[derive(Debug)]
pub struct RemovedRepository {
    /// Its size.
    pub holding: Held,
    /// How many bytes come free, and when.
    pub frees: Frees,
    /// The moment until which the removal can be undone; `None`: it is final.
    pub restorable_until: Option<Millis>,
    /// Whether it kept names from upstreams, which are asked for them from now on.
    pub kept_names: bool,
}

/// The removal of a repository, which can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepositoryRemoval {
    /// When it was removed.
    pub at: Millis,
    /// Until when that can be undone.
    pub restorable_until: Millis,
}

impl Repositories {
    /// Removes a repository, which frees its name. It is refused unless `confirmed` is the name.
    pub async fn remove(
        &self,
        name: &str,
        confirmed: Option<&str>,
        by: Author<'_>,
        event: &mut Event,
    ) -> Result<RemovedRepository> {
        let _turn = event.waited(Op::TurnWait, self.services.changing.lock()).await;
        for _ in 0..TRIES {
            let known = self.table(event).await?;
            let repository = known.named(name)?;
            members::free(name, &known)?;
            let holding = holds(&self.services, repository);
            if confirmed != Some(name) {
                let Held { files, size_bytes, .. } = holding;
                let names = if is_hosted(repository) { ", has upstreams asked for its names again," } else { "" };
                let text = format!(
                    "removing `{name}` takes away {files} files of {size_bytes} bytes{names} and is not confirmed"
                );
                return Err(BadSetting::new(text, &format!("name it twice: `?confirm={name}`")).into());
            }
            let at = self.services.store.now();
            let record = RepositoryRecord { removed: Some(at), ..repository.record.clone() };
            if self.services.change(repository, vec![known.unchanged()], record, by, event).await? {
                if repository.record.kind == RepositoryKind::Remote {
                    turn(&self.services, repository.id, None, event).await?;
                }
                let live = |entry: &store::Entry| entry.state == State::Live;
                let frees = match repository.record.kind {
                    RepositoryKind::Remote => frees_cached(&self.services, holding.size_bytes),
                    // The removal is committed, even if the figure cannot be read.
                    _ => frees_below(&self.services, repository.id, "", live, event).await.unwrap_or_default(),
                };
                let undo = self.services.store.blob_life().undo;
                let restorable_until = (!undo.is_zero()).then(|| at.plus(undo));
                let kept_names = is_hosted(repository);
                return Ok(RemovedRepository { holding, frees, restorable_until, kept_names });
            }
        }
        Err(Error::Contended(name.to_owned()))
    }

    /// Restores the repository that was removed last under `name`, as `new_name`.
    pub async fn restore_repository(
        &self,
        name: &str,
        new_name: &str,
        by: Author<'_>,
        event: &mut Event,
    ) -> Result<Arc<Repository>> {
        let _turn = event.waited(Op::TurnWait, self.services.changing.lock()).await;
        for _ in 0..TRIES {
            let (id, removed) = self.last_removed(name, event).await?;
            let known = self.table(event).await?;
            if known.by_name.contains_key(new_name) {
                return Err(Error::NameTaken(new_name.to_owned()));
            }
            let before = RepositoryRecord::read(&removed)?;
            let mut record = RepositoryRecord { name: new_name.to_owned(), removed: None, ..before };
            check(&self.services, &mut record, event).await?;
            members::check(&record, &known, &[])?;
            let expect = vec![
                Expect::RepositoryNameFree(new_name.to_owned()),
                Expect::RepositoryIs { id, record: Box::new(removed) },
                known.unchanged(),
            ];
            let origin = (record.kind == RepositoryKind::Remote).then(|| Repository::origin_of(id, &record));
            let changes = vec![Change::Repository { id, record: record.stored()? }];
            match self.services.store.commit(by.batch(self.services.store.now(), expect, changes), event).await {
                Err(CommitError::Conflict(Conflict(Expect::RepositoryNameFree(name)))) => {
                    return Err(Error::NameTaken(name));
                }
                // Its bytes are being deleted.
                Err(CommitError::Conflict(Conflict(Expect::RepositoryWhole(_)))) => {
                    return Err(Unrestorable::Repository(name.to_owned()).into());
                }
                Err(CommitError::Conflict(_)) => {}
                Err(CommitError::Error(error)) => return Err(error.into()),
                Ok(_) => {
                    if origin.is_some() {
                        turn(&self.services, id, origin, event).await?;
                    }
                    return Ok(self.find(new_name, event).await?.0);
                }
            }
        }
        Err(Error::Contended(name.to_owned()))
    }

    /// When the repository that had this name was removed, and until when that can be undone, if it can.
    pub async fn removed_repository(&self, name: &str, event: &mut Event) -> Result<Option<RepositoryRemoval>> {
        let at = match self.last_removed(name, event).await {
            Err(Error::Unrestorable(_)) => None,
            found => found?.1.removed,
        };
        let undo = self.services.store.blob_life().undo;
        Ok(at.map(|at| RepositoryRemoval { at, restorable_until: at.plus(undo) }))
    }

    /// The repository that was removed last under a name, if the removal can still be undone.
    async fn last_removed(&self, name: &str, event: &mut Event) -> Result<(RepositoryId, store::RepositoryRecord)> {
        let (undo, now) = (self.services.store.blob_life().undo, self.services.store.now());
        let all = self.services.store.removed_repositories(name, event).await?;
        let recent = all.into_iter().filter(|(_, record)| record.removed.is_some_and(|at| at.plus(undo) >= now));
        let last = recent.max_by_key(|(id, record)| (record.removed, *id));
        last.ok_or_else(|| Unrestorable::Repository(name.to_owned()).into())
    }
}
