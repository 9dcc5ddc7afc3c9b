//! A hosted gem repository, with the tools that answer its questions. The database is the truth, so no negative answer
//! is cached.

use crate::context::Context;
use crate::gem::indexes::GemIndexes;
use crate::gem::push_cache::PushCache;
use crate::gem::views::Views;
use crate::repository::Repository;
use crate::services::{Served, Services};
use std::sync::Arc;
use store::{RepositoryId, Stamp, Store, Unit};
use telemetry::Millis;

/// A hosted gem repository and the tools that it needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hosted<'a> {
    pub(crate) services: &'a Services,
    pub(crate) store: &'a Store,
    pub(crate) context: &'a Context,
    pub(crate) push_cache: &'a PushCache,
    pub(crate) views: &'a Views,
    pub(crate) repository: &'a Arc<Repository>,
    pub(crate) indexes: &'a GemIndexes,
    /// The group through which it is seen, whose rules apply too.
    pub(crate) through: Option<RepositoryId>,
    /// The revision of the settings that `repository` was read from.
    pub(crate) settings: &'a Stamp,
}

impl<'a> Hosted<'a> {
    /// A gem repository with its tools.
    pub(crate) fn of(services: &'a Services, repository: &'a Arc<Repository>, settings: &'a Stamp) -> Self {
        let Services { store, context, gem_caches: caches, .. } = services;
        let (push_cache, views) = (&caches.pushed, &caches.views);
        let indexes = repository.shared.gems();
        Self { services, store, context, push_cache, views, repository, indexes, through: None, settings }
    }

    /// The same for a repository that is served.
    pub(crate) fn served(of: Served<'a>) -> Self {
        Self::of(of.services, of.repository, of.settings)
    }
}

impl Hosted<'_> {
    /// Whether the view differs from the shared indexes: it is as of a moment, or a policy hides versions.
    pub(crate) fn by_rows(self) -> bool {
        self.repository.as_of.is_some() || !self.repository.rules.is_open()
    }

    /// Whether the log of a remote repository or group has the answer. A preview of other settings and an as-of view are
    /// rendered without it.
    pub(crate) fn is_logged(self) -> bool {
        self.repository.asks && self.repository.as_of.is_none()
    }

    /// The stamp of all content of the repository. Take it before the work.
    pub(crate) fn stamp(self) -> Stamp {
        let unit = Unit::All(self.repository.id);
        self.store.revisions().stamp([unit], Millis(i64::MAX))
    }
}
