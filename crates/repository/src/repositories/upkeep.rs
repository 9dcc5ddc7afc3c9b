//! Regular work of repositories, in the background.

use crate::format::Format;
use crate::maven::retention;
use crate::repositories::Repositories;
use crate::repository::Repository;
use std::sync::Arc;
use store::RepositoryKind;

impl Repositories {
    /// Deletes the builds of snapshots that hosted Maven repositories no longer keep. Ages are measured in days, so it
    /// is enough to do this now and then.
    pub async fn prune_snapshots(&self) {
        for repository in self.of_maven() {
            retention::sweep(self.context.clone(), repository, self.of_maven()).await;
        }
    }

    /// The same for one repository whose settings have changed, in the background.
    pub(crate) fn prune_later(&self, repository: Arc<Repository>) {
        self.context.back.spawn(retention::sweep(self.context.clone(), repository, self.of_maven()));
    }

    /// Closes large files whose stamps are no longer valid, so that the space of deleted ones is free.
    pub fn close_stale_files(&self) {
        let (revisions, now) = (self.store.revisions(), self.clock.now());
        self.opened.close_stale(|stamp| revisions.holds(stamp, now));
        self.remotes.opened.close_stale(|stamp| revisions.holds(stamp, now));
    }

    /// All hosted Maven repositories: a snapshot in one may be released in another.
    pub(crate) fn of_maven(&self) -> Vec<Arc<Repository>> {
        let known = self.known.load_full();
        let is = |one: &&Arc<Repository>| one.record.kind == RepositoryKind::Hosted && one.format == Format::Maven;
        known.by_name.values().filter(is).cloned().collect()
    }
}
