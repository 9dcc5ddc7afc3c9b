//! Keeps the indexes of upstreams up to date in the background.

use crate::gem::upstream::follow::Follow;
use crate::repositories::Repositories;
use crate::repository::Repository;
use crate::waiters::Place;
use std::sync::Arc;
use store::Stamp;
use telemetry::Event;

impl Repositories {
    /// Looks at the index of each gem upstream that clients used recently. The looks run independently, so an upstream
    /// that hangs delays no other. Each look has an event of its own. Names that earlier looks found may have to wait
    /// for a decision.
    pub async fn follow_upstreams(&self) {
        let mut event = Event::job("indexes.follow", self.clock.now());
        let Ok(table) = self.table(&mut event).await else { return };
        for repository in table.by_name.values() {
            if repository.follows()
                && let Some(follower) = self.follower(repository, &table.stamp)
            {
                follower.follow();
            }
        }
        self.note_waiting(&table).await;
        self.report_lost_hints(&table);
        self.keep_hints(&table).await;
    }

    /// What a remote repository needs to follow its upstream's index.
    pub(crate) fn follower(&self, repository: &Arc<Repository>, settings: &Stamp) -> Option<Follow> {
        let remote = self.remotes.remote(repository, &Arc::<Place>::default());
        let local = self.hosted(repository, settings)?;
        Some(Follow { remote, context: local.context.clone() })
    }
}
