//! A hosted repository of gems, with the parts of the server that answer its questions. The catalog is the truth, so nothing is remembered
//! as missing.

use crate::context::Context;
use crate::error::Error;
use crate::gem::indexes::GemIndexes;
use crate::gem::push_cache::PushCache;
use crate::gem::views::Views;
use crate::repository::Repository;
use std::sync::Arc;
use store::{RepositoryId, Stamp, Store, Unit};
use telemetry::Millis;

/// A hosted repository of gems, and what it works with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hosted<'a> {
    pub(crate) store: &'a Store,
    pub(crate) context: &'a Context,
    pub(crate) push_cache: &'a PushCache,
    pub(crate) views: &'a Views,
    pub(crate) repository: &'a Arc<Repository>,
    pub(crate) indexes: &'a GemIndexes,
    /// The group that it is seen through, and whose rules hold too.
    pub(crate) through: Option<RepositoryId>,
    /// The revision of the settings that `repository` was read from.
    pub(crate) settings: &'a Stamp,
}

impl Hosted<'_> {
    /// Whether it is seen in a way that the shared indexes do not show: as of a moment, or through a policy.
    pub(crate) fn by_rows(self) -> bool {
        self.repository.as_of.is_some() || !self.repository.rules.is_open()
    }

    /// The stamp of everything in the repository. Taken before the work.
    pub(crate) fn stamp(self) -> Result<Stamp, Error> {
        let unit = Unit::All(self.repository.id);
        self.store.revisions().stamp(&[unit], Millis(i64::MAX)).ok_or(Error::GivenUp)
    }
}
