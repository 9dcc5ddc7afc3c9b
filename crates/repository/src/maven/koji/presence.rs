//! Whether a Koji repository has the folder of a path, for groups: they ask the members that have it, and no other.

use crate::maven::koji::map::KojiView;
use crate::maven::layout::MavenPath;
use crate::repository::Repository;
use format::tree;

impl MavenPath<'_> {
    /// Whether the map of a Koji repository has the folder of the file; `None`: the repository is none, or has no map yet.
    pub(crate) fn mapped_in(&self, repository: &Repository) -> Option<bool> {
        if !repository.is_koji() {
            return None;
        }
        let known = repository.shared.koji().known(repository.origin)?;
        Some(known.map.place(tree::folder(self.path()), KojiView::of(repository)).is_ok())
    }
}
