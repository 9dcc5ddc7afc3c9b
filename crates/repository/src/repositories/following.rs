//! Follows the indexes of upstreams that clients ask for: the regular work that no request waits for.

use crate::error::Error;
use crate::format::Format;
use crate::gem::upstream::RemoteGems;
use crate::repositories::Repositories;
use crate::repository::Repository;
use crate::waiters::Place;
use std::sync::Arc;
use store::{RepositoryKind, Stamp};
use telemetry::Event;

impl Repositories {
    /// Looks at the index of each upstream of gems that clients asked for lately. What a look comes to is in an event of its own.
    pub async fn follow_upstreams(&self) {
        let mut event = Event::job("indexes.follow", self.clock.now());
        let Ok(table) = self.table(&mut event).await else { return };
        for repository in table.by_name.values() {
            if repository.format == Format::Gem && repository.record.kind == RepositoryKind::Remote {
                // An upstream that fails is asked again in the next turn.
                let _ = self.follow(repository, &table.stamp, &mut event).await;
            }
        }
    }

    async fn follow(&self, repository: &Arc<Repository>, settings: &Stamp, event: &mut Event) -> Result<(), Error> {
        let remote = self.remotes.remote(repository, &Arc::<Place>::default());
        let local = self.hosted(repository, settings).ok_or(Error::GivenUp)?;
        let index = &repository.shared.followed;
        RemoteGems { remote: &remote, context: local.context, local, index }.follow(event).await
    }
}
