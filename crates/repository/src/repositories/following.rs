//! Follows the indexes of upstreams that clients ask for: the regular work that no request waits for.

use crate::gem::upstream::follow::Follow;
use crate::repositories::Repositories;
use crate::repository::Repository;
use crate::waiters::Place;
use std::sync::Arc;
use store::Stamp;
use telemetry::Event;

impl Repositories {
    /// Looks at the index of each upstream of gems that clients asked for lately. Nothing waits for the looks: an
    /// upstream that hangs is no concern of the others. What a look comes to is in an event of its own. What earlier looks brought may
    /// have names wait.
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

    /// What follows the index of a remote repository of gems.
    pub(crate) fn follower(&self, repository: &Arc<Repository>, settings: &Stamp) -> Option<Follow> {
        let remote = self.remotes.remote(repository, &Arc::<Place>::default());
        let local = self.hosted(repository, settings)?;
        Some(Follow { remote, context: local.context.clone() })
    }
}
