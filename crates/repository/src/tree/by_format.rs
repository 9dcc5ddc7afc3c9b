//! The work that depends on the format of a tree: generated documents, publication, and files of upstreams. `file.rs`
//! has the facts that need no work.

use crate::actor::Actor;
use crate::as_of::Past;
use crate::content::Content;
use crate::error::Error;
use crate::group::Group;
use crate::maven::folder_versions;
use crate::maven::publication::Publication;
use crate::maven::{metadata, uploaded_metadata, upstream as maven};
use crate::raw;
use crate::tree::Tree;
use crate::tree::file::{File, Layout};
use crate::tree::folder_list::FolderVersions;
use crate::tree::further_changes::FurtherChanges;
use crate::upstream::Remote;
use crate::upstream::fetch::present;
use crate::upstream::trace::FetchTrace;
use std::pin::Pin;
use store::{Entry, Staged};
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
            Layout::Raw(_) | Layout::Gem(_) => Ok(None),
        }
    }

    /// Lists the facts that only the uploaded metadata has. The metadata itself is not stored.
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
            Layout::Raw(_) | Layout::Gem(_) => Ok(()),
        }
    }

    /// The facts that are published together with the uploaded file; `None`: only its bytes.
    pub(crate) async fn publication(
        &self,
        tree: Tree<'_>,
        staged: &Staged,
        event: &mut Event,
    ) -> Result<Option<Publication<'a>>, Error> {
        match &self.layout {
            Layout::Maven(path) => Publication::read(tree, path, staged, event).await.map(Some),
            Layout::Raw(_) | Layout::Gem(_) => Ok(None),
        }
    }
}

impl File<'_> {
    /// Further changes that follow from changes of files in its folder: `before` are all files of the folder, and
    /// `changed` some of them in their new state.
    pub(crate) async fn following(
        &self,
        tree: Tree<'_>,
        before: &[Entry],
        changed: &[Entry],
        at: Millis,
        event: &mut Event,
    ) -> Result<FurtherChanges, Error> {
        match &self.layout {
            Layout::Maven(_) => FurtherChanges::following(tree, before, changed, at, event).await,
            Layout::Raw(_) | Layout::Gem(_) => Ok(FurtherChanges::default()),
        }
    }

    /// The file as of a moment.
    pub(crate) async fn past(
        &self,
        remote: &Remote,
        past: Past,
        trace: &mut FetchTrace,
        event: &mut Event,
    ) -> Result<Content, Error> {
        match &self.layout {
            Layout::Maven(path) => maven::past::file(remote, past, self, path, trace, event).await,
            Layout::Raw(_) | Layout::Gem(_) => raw::past::file(remote, past, self, trace, event).await,
        }
    }

    /// The metadata, or its checksum, without the versions that the policy hides.
    pub(crate) async fn filtered(
        &self,
        remote: &Remote,
        trace: &mut FetchTrace,
        event: &mut Event,
    ) -> Result<Content, Error> {
        match &self.layout {
            Layout::Maven(path) => maven::filtered_metadata::metadata(remote, self, path, trace, event).await,
            Layout::Raw(_) | Layout::Gem(_) => present(remote, self, trace, event).await,
        }
    }

    /// Until when the upstream itself states that it has nothing in the folder of the file; `None`: it does not state
    /// that.
    pub(crate) fn excluded_by(&self, remote: &Remote) -> Option<Millis> {
        match &self.layout {
            Layout::Maven(_) => maven::prefixes::excludes(remote, self.folder),
            Layout::Raw(_) | Layout::Gem(_) => None,
        }
    }
}

impl File<'_> {
    /// Whether upstreams list the versions that are subfolders of the folder at this path.
    pub(crate) fn lists_versions(&self) -> bool {
        match &self.layout {
            Layout::Maven(_) => true,
            Layout::Raw(_) | Layout::Gem(_) => false,
        }
    }

    /// The versions that a remote repository lists in the folder at this path.
    pub(crate) async fn remote_versions(&self, remote: &Remote, event: &mut Event) -> Result<FolderVersions, Error> {
        match &self.layout {
            Layout::Maven(_) => folder_versions::of_remote(remote, self.path, event).await,
            Layout::Raw(_) | Layout::Gem(_) => Ok(FolderVersions::default()),
        }
    }

    /// The versions that a group lists there. It fails if a member fails.
    pub(crate) async fn group_versions(
        &self,
        group: Group<'_>,
        now: Millis,
        event: &mut Event,
    ) -> Result<FolderVersions, Error> {
        match &self.layout {
            Layout::Maven(_) => folder_versions::of_group(group, self.path, now, event).await,
            Layout::Raw(_) | Layout::Gem(_) => Ok(FolderVersions::default()),
        }
    }
}

/// Fetches a list of versions that may reveal the age of the file. Returns whether its age may be another now.
pub(crate) fn look_for_date<'a>(
    remote: &'a Remote,
    file: &'a File<'a>,
    event: &'a mut Event,
) -> Pin<Box<dyn Future<Output = Result<bool, Error>> + Send + 'a>> {
    match &file.layout {
        Layout::Maven(path) => Box::pin(maven::artifact_date::look(remote, *path, event)),
        Layout::Raw(_) | Layout::Gem(_) => Box::pin(async { Ok(false) }),
    }
}
