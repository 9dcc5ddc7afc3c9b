//! Names of artifacts that groups keep from upstreams.

use crate::group::kept_names::{NameKeeping, NamePlace};
use crate::maven::guard::artifact_folders;
use crate::maven::layout::MavenPath;
use crate::repository::Repository;
use crate::tree::file::Guarded;
use crate::tree::kept_names::gives_back;
use format::tree;
use store::Entry;

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

    fn place_of<'a>(&self, name: &'a str) -> NamePlace<'a> {
        NamePlace::Folder(name)
    }
}
