//! What is asked of repositories that are trees of files.

use crate::error::Error;
use crate::group::{self, Group};
use crate::question::{Actor, Ask, Found, Question};
use crate::repositories::Repositories;
use crate::repository::Repository;
use crate::tree;
use crate::tree::Tree;
use crate::upstream;
use std::sync::Arc;
use store::Staged;
use telemetry::{Event, Layer};

impl Repositories {
    pub(crate) fn files<'a>(&'a self, repository: &'a Arc<Repository>) -> Tree<'a> {
        Tree { store: &self.store, context: &self.context, repository }
    }

    /// Answers one question to a hosted repository that is a tree of files.
    pub(crate) async fn tree(
        &self,
        ask: &Ask,
        upload: Option<Staged>,
        by: Actor<'_>,
        event: &mut Event,
    ) -> Result<Found, Error> {
        event.layer = Layer::Hosted;
        let tree = self.files(&ask.repository);
        // A change has a room of its own: else each question would be moved about with all the room that takes.
        match &ask.question {
            Question::Fetch(path) => tree::fetch::fetch((tree, &self.inventory), path, self.clock.now(), event).await,
            Question::Deploy(path) => {
                let staged = upload.ok_or(Error::GivenUp)?;
                Box::pin(tree::deploy::deploy(tree, path, staged, (by, || self.clock.now()), event)).await
            }
            Question::Delete(path) => Box::pin(tree::remove::remove(tree, path, (by, self.clock.now()), event)).await,
            _ => Err(Error::GivenUp),
        }
    }

    /// Answers one question to a remote repository that is a tree of files.
    pub(crate) async fn remote(&self, ask: &Ask, event: &mut Event) -> Result<Found, Error> {
        match &ask.question {
            Question::Fetch(path) => {
                upstream::fetch::fetch(&self.remotes.remote(&ask.repository, &ask.place), path, event).await
            }
            // Who reads URLs lets nothing else through.
            _ => Err(Error::GivenUp),
        }
    }

    /// Answers one question to a group of repositories that are trees of files.
    pub(crate) async fn group(&self, ask: &Ask, event: &mut Event) -> Result<Found, Error> {
        let (store, context, inventory) = (&*self.store, &self.context, &self.inventory);
        let (remotes, merging, repository, place) = (&self.remotes, &self.merging, &ask.repository, &ask.place);
        let group = Group { store, context, inventory, remotes, merging, repository, place };
        match &ask.question {
            Question::Fetch(path) => group::answer(group, path, self.clock.now(), event).await,
            _ => Err(Error::GivenUp),
        }
    }

    /// Refuses an upload that can never be taken, before a byte of it is asked for.
    pub fn admit(&self, ask: &Ask, by: Actor<'_>) -> Result<(), Error> {
        match &ask.question {
            Question::Deploy(path) => tree::admit::admit(&ask.repository, path, by),
            _ => Ok(()),
        }
    }
}
