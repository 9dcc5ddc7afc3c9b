//! The files of a hosted tree, for operators.

use crate::actor::Actor;
use crate::bad_setting::BadSetting;
use crate::error::Result;
use crate::listed::{ListedFile, Page, PageRequest, Shown};
use crate::repository::Repository;
use crate::services::Served;
use crate::tree::restore;
use crate::visible;
use crate::visible::removed;
use store::{Entry, RepositoryKind};
use telemetry::Event;

/// A page of the visible files, or of the deleted ones.
pub(crate) async fn list(
    of: Served<'_>,
    part: PageRequest<'_>,
    shown: Shown,
    event: &mut Event,
) -> Result<Page<ListedFile>> {
    let Served { services, repository, .. } = of;
    let PageRequest { path, after, limit } = part;
    let rows = match shown {
        Shown::Visible => services.store.live_entries_beginning(repository.id, path, after, limit, event).await?,
        Shown::Removed => {
            refuse_other_kinds(repository)?;
            services.store.entries_beginning(repository.id, path, after, limit, event).await?
        }
    };
    let files: Vec<ListedFile> = match shown {
        Shown::Visible => {
            event.more_mut().sized(rows.len());
            visible(&rows, repository.view(services.clock.now())).map(|seen| listed(seen.entry())).collect()
        }
        Shown::Removed => removed(&rows).map(listed).collect(),
    };
    let files = files.into_iter().filter(|file| part.has(&file.path)).collect();
    Ok(part.listed(&rows, |entry| &entry.key, files))
}

/// Restores what the last deletion of a path, or of anything below it, removed. Returns the number of files.
pub(crate) async fn restore(of: Served<'_>, what: &str, by: Actor<'_>, event: &mut Event) -> Result<u64> {
    refuse_other_kinds(of.repository)?;
    let path = of.repository.checked_path(what)?;
    restore::restore(of.tree(), &path, by, of.services.store.now(), event).await
}

/// Refuses repositories that hold no files of their own.
pub(crate) fn refuse_other_kinds(repository: &Repository) -> Result<(), BadSetting> {
    match repository.record.kind {
        RepositoryKind::Hosted => Ok(()),
        RepositoryKind::Remote | RepositoryKind::Group => {
            let text = format!("`{}` holds no files of its own", repository.record.name);
            Err(BadSetting::new(text, "ask a hosted repository"))
        }
    }
}

fn listed(entry: &Entry) -> ListedFile {
    let Entry { key, hashes, changed, origin, .. } = entry.clone();
    ListedFile { path: key, hashes, changed, origin, version: None }
}
