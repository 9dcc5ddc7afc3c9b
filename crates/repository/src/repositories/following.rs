//! Follows the indexes of upstreams that clients ask for: the regular work that no request waits for.

use crate::format::Format;
use crate::gem::upstream::follow::Follow;
use crate::repositories::Repositories;
use crate::repository::Repository;
use crate::waiters::Place;
use std::sync::Arc;
use store::{RepositoryKind, Stamp};
use telemetry::Event;

impl Repositories {
    /// Looks at the index of each upstream of gems that clients asked for lately. Nothing waits for the looks: an
    /// upstream that hangs is no concern of the others. What a look comes to is in an event of its own.
    pub async fn follow_upstreams(&self) {
        let mut event = Event::job("indexes.follow", self.clock.now());
        let Ok(table) = self.table(&mut event).await else { return };
        for repository in table.by_name.values() {
            if repository.format == Format::Gem && repository.record.kind == RepositoryKind::Remote {
                self.follow(repository, &table.stamp);
            }
        }
    }

    fn follow(&self, repository: &Arc<Repository>, settings: &Stamp) {
        let remote = self.remotes.remote(repository, &Arc::<Place>::default());
        let Some(local) = self.hosted(repository, settings) else { return };
        Follow { remote, context: local.context.clone() }.follow();
    }
}
