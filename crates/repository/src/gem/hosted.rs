//! A repository that holds packages of its own. The catalog is the truth, so nothing is remembered as missing.

use crate::context::Context;
use crate::gem::push_cache::PushCache;
use crate::gem::views::Views;
use crate::repository::Repository;
use std::sync::Arc;
use store::{Stamp, Store};

/// A hosted repository and what it works with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hosted<'a> {
    pub(crate) store: &'a Store,
    pub(crate) context: &'a Context,
    pub(crate) heads: &'a PushCache,
    pub(crate) views: &'a Views,
    pub(crate) repository: &'a Arc<Repository>,
    /// The revision of the settings that `repository` was read from.
    pub(crate) settings: &'a Stamp,
}

impl Hosted<'_> {
    /// Whether it is looked at in a way that the indexes which all share do not show.
    pub(crate) fn by_rows(self) -> bool {
        self.repository.as_of.is_some() || !self.repository.rules.is_open()
    }
}
