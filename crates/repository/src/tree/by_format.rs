//! The work that depends on the format of a tree: generated documents, publication, and files of upstreams. `file.rs`
//! has the facts that need no work.

use crate::actor::Actor;
use crate::as_of::Past;
use crate::content::Content;
use crate::error::Result;
use crate::format::of_path;
use crate::group::Group;
use crate::repository::Repository;
use crate::tree::Tree;
use crate::tree::file::File;
use crate::tree::folder_list::FolderVersions;
use crate::tree::further_changes::FurtherChanges;
use crate::tree::past;
use crate::upstream::Remote;
use crate::upstream::fetch::present;
use crate::upstream::trace::FetchTrace;
use serde_json::Value;
use std::pin::Pin;
use store::{Entry, EntryOrigin, Staged};
use telemetry::{Event, Millis};

impl File<'_> {
    /// The document that is generated at this path; `None`: it would be empty.
    pub(crate) async fn generate(&self, tree: Tree<'_>, now: Millis, event: &mut Event) -> Result<Option<Content>> {
        of_path!(&self.read, generate(tree, now, event).await else Ok(None))
    }

    /// Lists the facts that only the uploaded metadata has. The metadata itself is not stored.
    pub(crate) async fn take_metadata(
        &self,
        tree: Tree<'_>,
        staged: &Staged,
        by: Actor<'_>,
        now: impl Fn() -> Millis,
        event: &mut Event,
    ) -> Result<()> {
        of_path!(&self.read, take_metadata(tree, staged, (by, now), event).await else Ok(()))
    }

    /// What the journal says of the uploaded file beside its bytes.
    pub(crate) async fn upload_facts(&self, tree: Tree<'_>, staged: &Staged, event: &mut Event) -> Result<Value> {
        of_path!(&self.read, upload_facts(tree, staged, event).await else Ok(Value::Null))
    }

    /// The further changes that the publication of the file causes, by its facts and whether it is the first file that its
    /// folder ever had.
    pub(crate) async fn publishing(
        &self,
        tree: Tree<'_>,
        upload: (&Value, bool),
        origin: Option<&EntryOrigin>,
        at: Millis,
        event: &mut Event,
    ) -> Result<FurtherChanges> {
        of_path!(&self.read, publishing(tree, upload, origin, at, event).await else Ok(FurtherChanges::default()))
    }

    /// Starts the work that follows from the publication of the file.
    pub(crate) fn published(&self, tree: Tree<'_>) {
        of_path!(&self.read, published(tree) else ())
    }

    /// Further changes that follow from changes of files in its folder: `before` are all files of the folder, and
    /// `changed` some of them in their new state.
    pub(crate) async fn following(
        &self,
        tree: Tree<'_>,
        before: &[Entry],
        changed: &[Entry],
        at: Millis,
        event: &mut Event,
    ) -> Result<FurtherChanges> {
        of_path!(&self.read, following(tree, before, changed, at, event).await else Ok(FurtherChanges::default()))
    }

    /// The file as of a moment.
    pub(crate) async fn past(
        &self,
        remote: &Remote,
        past: Past,
        trace: &mut FetchTrace,
        event: &mut Event,
    ) -> Result<Content> {
        of_path!(&self.read, past(remote, past, self, trace, event).await else past::file(remote, past, self, trace, event).await)
    }

    /// The metadata, or its checksum, without the versions that the policy hides.
    pub(crate) async fn filtered(&self, remote: &Remote, trace: &mut FetchTrace, event: &mut Event) -> Result<Content> {
        of_path!(&self.read, filtered(remote, self, trace, event).await else present(remote, self, trace, event).await)
    }

    /// Until when the upstream itself states that it has nothing in the folder of the file; `None`: it does not state
    /// that.
    pub(crate) fn excluded_by(&self, remote: &Remote) -> Option<Millis> {
        of_path!(&self.read, excluded_by(remote) else None)
    }

    /// Whether the upstream has the folder of the file, where all its files are known; `None`: they are not.
    pub(crate) fn mapped_in(&self, repository: &Repository) -> Option<bool> {
        of_path!(&self.read, mapped_in(repository) else None)
    }

    /// Whether upstreams list the versions that are subfolders of the folder at this path.
    pub(crate) fn lists_versions(&self) -> bool {
        of_path!(&self.read, lists_versions() else false)
    }

    /// The versions that a remote repository lists in the folder at this path.
    pub(crate) async fn remote_versions(&self, remote: &Remote, event: &mut Event) -> Result<FolderVersions> {
        of_path!(&self.read, remote_versions(remote, event).await else Ok(FolderVersions::default()))
    }

    /// The versions that a group lists there. It fails if a member fails.
    pub(crate) async fn group_versions(
        &self,
        group: Group<'_>,
        now: Millis,
        event: &mut Event,
    ) -> Result<FolderVersions> {
        of_path!(&self.read, group_versions(group, now, event).await else Ok(FolderVersions::default()))
    }
}

/// Fetches a list of versions that may reveal the age of the file. Returns whether its age may be another now.
pub(crate) fn look_for_date<'a>(
    remote: &'a Remote,
    file: &'a File<'a>,
    event: &'a mut Event,
) -> Pin<Box<dyn Future<Output = Result<bool>> + Send + 'a>> {
    Box::pin(async move { of_path!(&file.read, look_for_date(remote, event).await else Ok(false)) })
}
