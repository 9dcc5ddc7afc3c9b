//! Changes of upstreams, and the zones of their hosts.

use super::Store;
use crate::cache::{Cache, Origin};
use crate::error::Result;
use crate::journal::record::RepositoryId;
use crate::writer::revision::Unit;
use telemetry::{Event, Op, lock};

impl Store {
    /// Sets the upstream of a repository; `None`: it has none. Files of the former one are no longer visible, and
    /// [`Store::drop_former`] removes them. Files that downloads from there still bring are not cached.
    pub async fn set_upstream(&self, id: RepositoryId, to: Option<Origin>, event: &mut Event) -> Result<()> {
        let set = move |cache: &mut Cache| {
            cache.set_upstream(id, to);
            Ok(())
        };
        self.cached(Op::CacheWrite, event, set).await?;
        let membership = lock(&self.membership);
        membership.with_groups(id).into_iter().for_each(|id| self.revisions.raise(Unit::All(id)));
        self.revisions.raise(Unit::Settings);
        membership.connected(id).into_iter().for_each(|id| self.revisions.raise(Unit::SettingsOf(id)));
        self.revisions.raise(Unit::Upstream(id));
        Ok(())
    }

    /// Assigns the files at these paths from a former upstream to the current one.
    pub async fn take_over(&self, from: Origin, to: Origin, paths: Vec<String>, event: &mut Event) -> Result<()> {
        self.cached(Op::CacheWrite, event, move |cache| cache.take_over(from, to, &paths)).await
    }

    /// Removes the files of former upstreams, a page at a time, so that other operations are served in between.
    pub async fn drop_former(&self, id: RepositoryId, event: &mut Event) -> Result<()> {
        while self.cached(Op::CacheWrite, event, move |cache| cache.drop_former(id)).await? {}
        Ok(())
    }

    /// Invalidates the answers that were made from a unit of an upstream, because it changed: those of its repository, and of
    /// every group that contains it.
    pub fn upstream_changed(&self, id: RepositoryId, unit: &str) {
        lock(&self.membership).with_groups(id).into_iter().for_each(|id| self.revisions.raise(Unit::Of(id, unit)));
    }

    /// Does the same for many units and for answers that were made from all units, around the `change` itself: no answer from before
    /// it is used once another one may show it.
    pub fn change_upstream_index<T>(&self, id: RepositoryId, units: &[&str], change: impl FnOnce() -> T) -> T {
        let ids = lock(&self.membership).with_groups(id);
        let each = |act: &mut dyn FnMut(Unit<'_>)| {
            for id in &ids {
                units.iter().for_each(|unit| act(Unit::Of(*id, unit)));
                act(Unit::All(*id));
            }
        };
        let mut changing = self.revisions.changing();
        each(&mut |unit| changing.add(unit));
        let changed = change();
        each(&mut |unit| self.revisions.raise(unit));
        changed
    }

    /// The hosts of an upstream with their zones, as [`Store::pin`] recorded them.
    pub async fn pins(&self, of: Origin, event: &mut Event) -> Result<Vec<(String, String)>> {
        self.cached(Op::CacheRead, event, move |cache| cache.pins(of)).await
    }

    /// Records the network zone that a host of an upstream first resolved to.
    pub async fn pin(&self, of: Origin, host: String, zone: &'static str, event: &mut Event) -> Result<()> {
        self.cached(Op::CacheWrite, event, move |cache| cache.pin(of, &host, zone)).await
    }

    /// Removes the zones of all hosts of a repository's upstreams.
    pub async fn unpin(&self, id: RepositoryId, event: &mut Event) -> Result<()> {
        self.cached(Op::CacheWrite, event, move |cache| cache.unpin(id)).await
    }
}
