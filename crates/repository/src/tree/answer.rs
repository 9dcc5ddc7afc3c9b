//! Answers questions to repositories that are trees of files.

use crate::actor::Actor;
use crate::content::Content;
use crate::error::{Error, Result};
use crate::found::Found;
use crate::group;
use crate::group::kept_names::KeptName;
use crate::group::kept_names::kept_below;
use crate::policy::package_version::Since;
use crate::policy::unseen::unseen;
use crate::question::Ask;
use crate::services::Services;
use crate::tree;
use crate::tree::deploy::{Deployed, Deployment};
use crate::tree::file::File;
use crate::tree::folder_lists::list_folder;
use crate::tree::hiding::hidden_by;
use crate::tree::kept_names::gives_back;
use std::sync::Arc;
use store::{RepositoryKind, Staged};
use telemetry::{Event, Layer};

/// Answers one question to a repository that is a tree of files. Each part has a future of its own, so that a small
/// future is not as large as the largest.
pub(crate) async fn answer(
    services: &Services,
    question: &tree::Question<'_>,
    ask: &Ask<'_>,
    upload: Option<Staged>,
    by: Actor<'_>,
    event: &mut Event,
) -> Result<Found> {
    let tree = services.tree(&ask.repository);
    match question {
        tree::Question::Fetch(file) => {
            let content = fetch(services, ask, file, event).await?;
            Ok(Found::Tree(tree::Found::Content(content)))
        }
        tree::Question::Folder(path) => {
            let list = Box::pin(list_folder(services, ask, path, event)).await?;
            Ok(Found::Tree(tree::Found::Folder(Arc::new(list))))
        }
        tree::Question::Deploy(file) => {
            event.layer = Layer::Hosted;
            let staged = upload.ok_or(Error::Mismatched)?;
            let hidden = hidden_by(services, ask, file, event).await?;
            let (claimed, conditions) = (ask.parameters.origin, ask.parameters.conditions);
            let (upload, now) = (Deployment { staged, claimed, conditions }, || services.store.now());
            let deployed = Box::pin(tree::deploy::deploy(tree, file, upload, by, now, event)).await?;
            let Deployed { new, published, since } = deployed;
            let hides = hidden.filter(|_| new).map(|hidden| hidden.notice(by.admin));
            let unseen = match since.and_then(|since| file.named(Since::Moment(since))) {
                Some(what) => unseen(services, &ask.repository, &what, by.admin, event).await?,
                None => None,
            };
            let notice = hides.into_iter().chain(unseen).reduce(|one, other| format!("{one}; {other}"));
            if let Some(notice) = &notice {
                event.detail.clone_from(notice);
            }
            Ok(Found::Tree(tree::Found::Kept { new, published, notice }))
        }
        tree::Question::Delete(file) => {
            event.layer = Layer::Hosted;
            let (conditions, at) = (ask.parameters.conditions, services.store.now());
            Box::pin(tree::remove::remove(tree, file, conditions, by, at, event)).await?;
            let kept = Box::pin(kept_below(services, gives_back, &ask.repository, file.path, at, event)).await;
            let notice = KeptName::notice(&kept, by.admin);
            if let Some(notice) = &notice {
                event.detail.clone_from(notice);
            }
            Ok(Found::Tree(tree::Found::Removed { notice }))
        }
    }
}

/// The file, as clients get it.
pub(crate) async fn fetch(services: &Services, ask: &Ask<'_>, file: &File<'_>, event: &mut Event) -> Result<Content> {
    let (repository, now) = (&ask.repository, services.clock.now());
    match repository.record.kind {
        RepositoryKind::Hosted => {
            event.layer = Layer::Hosted;
            Box::pin(tree::fetch::fetch(services.tree(repository), &services.inventory, file, now, event)).await
        }
        RepositoryKind::Remote => {
            Box::pin(tree::remote::fetch(&services.remotes.remote(repository, &ask.place), file, event)).await
        }
        RepositoryKind::Group => {
            Box::pin(group::answer(services.group(repository, &ask.place), file, now, event)).await
        }
    }
}
