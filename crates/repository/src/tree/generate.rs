//! What the format of a hosted tree makes of its files: generated documents, and what is published along with a file.

use crate::actor::Actor;
use crate::content::Content;
use crate::error::Error;
use crate::maven::publication::Publication;
use crate::maven::{metadata, uploaded_metadata};
use crate::tree::Tree;
use crate::tree::file::{File, Layout};
use store::Staged;
use telemetry::{Event, Millis};

impl<'a> File<'a> {
    /// The document that is generated at this path; `None`: it would be empty.
    pub(crate) async fn generate(
        &self,
        tree: Tree<'_>,
        now: Millis,
        event: &mut Event,
    ) -> Result<Option<Content>, Error> {
        match &self.layout {
            Layout::Maven(path) => metadata::make(tree, path, now, event).await,
            Layout::Raw(_) => Ok(None),
        }
    }

    /// Lists what uploaded metadata says and nothing else does. The metadata itself is not kept.
    pub(crate) async fn take_metadata(
        &self,
        tree: Tree<'_>,
        staged: &Staged,
        by: Actor<'_>,
        now: impl Fn() -> Millis,
        event: &mut Event,
    ) -> Result<(), Error> {
        match &self.layout {
            Layout::Maven(path) => uploaded_metadata::take(tree, path, staged, (by, now), event).await,
            Layout::Raw(_) => Ok(()),
        }
    }

    /// What is published along with the uploaded file; `None`: nothing but its bytes.
    pub(crate) async fn publication(
        &self,
        tree: Tree<'_>,
        staged: &Staged,
        event: &mut Event,
    ) -> Result<Option<Publication<'a>>, Error> {
        match &self.layout {
            Layout::Maven(path) => Publication::read(tree, path, staged, event).await,
            Layout::Raw(_) => Ok(None),
        }
    }
}
