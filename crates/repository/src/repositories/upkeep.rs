//! What repositories need done now and then, with nobody asking.

use crate::format::Format;
use crate::maven::retention;
use crate::repositories::Repositories;
use crate::repository::Repository;
use std::sync::Arc;
use store::RepositoryKind;

impl Repositories {
    /// Takes away what hosted repositories of Maven no longer keep of their snapshots. Ages are days, so it is enough to do this
    /// now and then.
    pub async fn prune_snapshots(&self) {
        for repository in self.of_maven() {
            retention::sweep(self.context.clone(), repository, self.of_maven()).await;
        }
    }

    /// The same for one whose settings have become others. Nobody waits for it.
    pub(crate) fn prune_later(&self, repository: Arc<Repository>) {
        self.context.back.spawn(retention::sweep(self.context.clone(), repository, self.of_maven()));
    }

    /// All hosted repositories of Maven: a snapshot that is in one may become a release in another.
    fn of_maven(&self) -> Vec<Arc<Repository>> {
        let known = self.known.load_full();
        let is = |one: &&Arc<Repository>| one.record.kind == RepositoryKind::Hosted && one.format == Format::Maven;
        known.by_name.values().filter(is).cloned().collect()
    }
}
