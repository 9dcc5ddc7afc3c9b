//! Answers questions to repositories that are trees of files.

use crate::actor::Actor;
use crate::content::Content;
use crate::error::Error;
use crate::found::Found;
use crate::group;
use crate::policy::package_version::Since;
use crate::question::{Ask, Question};
use crate::repositories::Repositories;
use crate::repositories::kept_names::KeptName;
use crate::repository::Repository;
use crate::tree::deploy::{Deployed, Deployment};
use crate::tree::file::File;
use crate::tree::{self, Tree};
use std::sync::Arc;
use store::{RepositoryKind, Staged};
use telemetry::{Event, Layer};

impl Repositories {
    pub(crate) fn files<'a>(&'a self, repository: &'a Arc<Repository>) -> Tree<'a> {
        Tree { store: &self.store, context: &self.context, repository }
    }

    /// Answers one question to a repository that is a tree of files. Each part has a future of its own, so that a small
    /// future is not as large as the largest.
    pub(crate) async fn tree(
        &self,
        question: &tree::Question<'_>,
        ask: &Ask<'_>,
        upload: Option<Staged>,
        by: Actor<'_>,
        event: &mut Event,
    ) -> Result<Found, Error> {
        let tree = self.files(&ask.repository);
        match question {
            tree::Question::Root => Ok(Found::Root),
            tree::Question::Fetch(file) => {
                let content = self.fetch(ask, file, event).await?;
                Ok(Found::Tree(tree::Found::Content(content)))
            }
            tree::Question::Folder(path) => {
                let list = Box::pin(self.list_folder(ask, path, event)).await?;
                Ok(Found::Tree(tree::Found::Folder(Arc::new(list))))
            }
            tree::Question::Deploy(file) => {
                event.layer = Layer::Hosted;
                let staged = upload.ok_or(Error::GivenUp)?;
                let hidden = self.hidden_by(ask, file, event).await?;
                let (claimed, conditions) = (ask.parameters.origin, ask.parameters.conditions);
                let (upload, now) = (Deployment { staged, claimed, conditions }, || self.store.now());
                let deployed = Box::pin(tree::deploy::deploy(tree, file, upload, by, now, event)).await?;
                let Deployed { new, published, since } = deployed;
                let hides = hidden.filter(|_| new).map(|hidden| hidden.notice(by.admin));
                let unseen = match since.and_then(|since| file.named(Since::Moment(since))) {
                    Some(what) => self.unseen(&ask.repository, &what, by.admin, event).await?,
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
                let (conditions, at) = (ask.parameters.conditions, self.store.now());
                Box::pin(tree::remove::remove(tree, file, conditions, by, at, event)).await?;
                let kept = Box::pin(self.kept_below(&ask.repository, file.path, at, event)).await;
                let notice = KeptName::notice(&kept, by.admin);
                if let Some(notice) = &notice {
                    event.detail.clone_from(notice);
                }
                Ok(Found::Tree(tree::Found::Removed { notice }))
            }
        }
    }

    async fn fetch(&self, ask: &Ask<'_>, file: &File<'_>, event: &mut Event) -> Result<Content, Error> {
        let (repository, now) = (&ask.repository, self.clock.now());
        match repository.record.kind {
            RepositoryKind::Hosted => {
                event.layer = Layer::Hosted;
                Box::pin(tree::fetch::fetch(self.files(repository), &self.inventory, file, now, event)).await
            }
            RepositoryKind::Remote => {
                Box::pin(tree::remote::fetch(&self.remotes.remote(repository, &ask.place), file, event)).await
            }
            RepositoryKind::Group => {
                Box::pin(group::answer(self.group(repository, &ask.place), file, now, event)).await
            }
        }
    }

    /// Refuses an upload that can never be accepted, before its body is read.
    pub fn admit(&self, ask: &Ask<'_>, by: Actor<'_>) -> Result<(), Error> {
        match &ask.question {
            Question::Tree(tree::Question::Deploy(file)) => tree::admit::admit(&ask.repository, file, by),
            Question::Gem(_) | Question::Tree(_) | Question::ClientSettings => Ok(()),
        }
    }
}
