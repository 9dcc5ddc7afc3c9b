//! Answers questions to repositories that are trees of files.

use crate::actor::Actor;
use crate::error::Error;
use crate::found::Found;
use crate::group::{self, Group};
use crate::maven;
use crate::question::{Ask, Question};
use crate::repositories::Repositories;
use crate::repository::Repository;
use crate::tree::file::File;
use crate::tree::{self, Tree};
use std::sync::Arc;
use store::{RepositoryKind, Staged};
use telemetry::{Event, Layer};

impl Repositories {
    pub(crate) fn files<'a>(&'a self, repository: &'a Arc<Repository>) -> Tree<'a> {
        Tree { store: &self.store, context: &self.context, repository }
    }

    /// Answers one question to a repository that is a tree of files.
    pub(crate) async fn tree(
        &self,
        question: &tree::Question<'_>,
        ask: &Ask<'_>,
        upload: Option<Staged>,
        by: Actor<'_>,
        event: &mut Event,
    ) -> Result<Found, Error> {
        let (tree, now) = (self.files(&ask.repository), self.clock.now());
        // A change has a future of its own: else each question would be moved about with all the room that takes.
        match *question {
            tree::Question::Root => Ok(Found::Root),
            tree::Question::Fetch(path) => self.fetch(ask, &ask.repository.file(path), event).await,
            tree::Question::Deploy(path) => {
                event.layer = Layer::Hosted;
                let (file, staged) = (ask.repository.file(path), upload.ok_or(Error::GivenUp)?);
                Box::pin(tree::deploy::deploy(tree, &file, staged, by, || self.clock.now(), event)).await
            }
            tree::Question::Delete(path) => {
                event.layer = Layer::Hosted;
                let file = ask.repository.file(path);
                Box::pin(tree::remove::remove(tree, &file, by, now, event)).await
            }
        }
    }

    async fn fetch(&self, ask: &Ask<'_>, file: &File<'_>, event: &mut Event) -> Result<Found, Error> {
        let (repository, now) = (&ask.repository, self.clock.now());
        match repository.record.kind {
            RepositoryKind::Hosted => {
                event.layer = Layer::Hosted;
                tree::fetch::fetch(self.files(repository), &self.inventory, file, now, event).await
            }
            RepositoryKind::Remote => {
                tree::remote::fetch(&self.remotes.remote(repository, &ask.place), file, event).await
            }
            RepositoryKind::Group => {
                let (store, context, inventory) = (&*self.store, &self.context, &self.inventory);
                let (remotes, merging, place) = (&self.remotes, &self.merging, &ask.place);
                let group = Group { store, context, inventory, remotes, merging, repository, place };
                group::answer(group, file, now, event).await
            }
        }
    }

    /// Refuses an upload that can never be taken, before a byte of it is asked for.
    pub fn admit(&self, ask: &Ask<'_>, by: Actor<'_>) -> Result<(), Error> {
        match ask.question {
            Question::Maven(maven::Question::Tree(tree::Question::Deploy(path)))
            | Question::Raw(tree::Question::Deploy(path)) => {
                tree::admit::admit(&ask.repository, &ask.repository.file(path), by)
            }
            _ => Ok(()),
        }
    }
}
