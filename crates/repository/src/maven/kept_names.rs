//! Names of artifacts that groups keep from upstreams.

use crate::boxed::Trying;
use crate::group::kept_names::{NameKeeping, PAGE};
use crate::maven::guard::artifact_folders;
use crate::maven::layout::MavenPath;
use crate::repository::Repository;
use crate::tree::file::Guarded;
use crate::tree::kept_names::gives_back;
use format::tree;
use store::{Entry, Store};
use telemetry::Event;

/// Folders of artifacts that groups keep from upstreams.
pub(crate) struct KeptArtifacts;

impl NameKeeping for KeptArtifacts {
    fn name_of(&self, entry: &Entry) -> Option<String> {
        artifact_folders(&MavenPath::read(&entry.key)).next().map(str::to_owned)
    }

    /// Of the folder of a version.
    fn name_of_unit(&self, unit: &str) -> String {
        tree::folder(unit).to_owned()
    }

    fn gives_back(&self, group: &Repository, name: &str) -> Option<(String, Vec<String>)> {
        gives_back(group, Guarded::Folder(name))
    }

    fn is_there<'a>(
        &self,
        store: &'a Store,
        leaf: &'a Repository,
        name: &'a str,
        event: &'a mut Event,
    ) -> Trying<'a, bool> {
        Box::pin(async move {
            let above = format!("{name}/");
            let rows = store.live_entries_beginning(leaf.id, &above, "", PAGE, event).await?;
            // Folders further down are those of other artifacts.
            let is_version = |entry: &Entry| entry.key[above.len()..].matches('/').count() == 1;
            Ok(rows.len() == PAGE || rows.iter().any(is_version))
        })
    }
}
