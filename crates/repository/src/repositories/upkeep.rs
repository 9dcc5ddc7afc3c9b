//! Regular work of repositories, in the background.

use crate::face::Face;
use crate::format::Format;
use crate::formats::face;
use crate::repositories::Repositories;
use crate::repositories::hints::report_lost_hints;
use crate::repositories::kept_hints::keep_hints;
use crate::repository::Repository;
use crate::services::Services;
use std::sync::Arc;
use store::RepositoryKind;
use telemetry::Event;

impl Repositories {
    /// Looks at the index of each upstream that clients used recently, in formats that have one. The looks run independently, so an
    /// upstream that hangs delays no other. Each look has an event of its own. Names that earlier looks found may have to wait
    /// for a decision.
    pub async fn follow_upstreams(&self) {
        let mut event = Event::job("indexes.follow", self.services.clock.now());
        let Ok(table) = self.table(&mut event).await else { return };
        for remote in table.by_name.values().filter(|one| one.record.kind == RepositoryKind::Remote) {
            face!(remote.format, follow(self.served(remote, &table.stamp)));
        }
        for format in Format::ALL {
            face!(*format, report(&self.services, &table).await);
        }
        report_lost_hints(&self.services, &table);
        keep_hints(&self.services, &table).await;
    }

    /// Divides the calls to each upstream host among the nodes that live now.
    pub fn share_upstreams(&self) {
        self.services.remotes.upstreams.share(self.services.store.living());
    }

    /// Deletes what the retention of hosted repositories no longer keeps. Ages are measured in days, so it is enough to do this now and
    /// then.
    pub async fn prune_snapshots(&self) {
        let known = self.services.known.load_full();
        for repository in known.by_name.values().filter(|one| one.record.kind == RepositoryKind::Hosted) {
            prune(&self.services, repository.clone()).await;
        }
    }

    /// Closes large files whose stamps are no longer valid, so that the space of deleted ones is free.
    pub fn close_stale_files(&self) {
        let (revisions, now) = (self.services.store.revisions(), self.services.clock.now());
        self.opened.close_stale(|stamp| revisions.holds(stamp, now));
        self.services.remotes.opened.close_stale(|stamp| revisions.holds(stamp, now));
    }
}

/// The same for one repository whose settings have changed, in the background.
pub(crate) fn prune_later(services: &Services, repository: Arc<Repository>) {
    services.context.back.spawn(prune(services, repository));
}

fn prune(services: &Services, repository: Arc<Repository>) -> impl Future<Output = ()> + Send + use<> {
    let (context, alike) = (services.context.clone(), services.hosted_like(&repository));
    async move { face!(repository.format, sweep(context, repository, alike).await) }
}
