//! The lists of paths that upstreams publish, in memory.

use crate::index::bounded_cache::BoundedCache;
use std::fmt::Debug;
use std::sync::Arc;
use store::Origin;
use telemetry::{Bound, BoundName, Millis};

/// Expected number of upstreams.
const UPSTREAMS: usize = 100;

/// The list of paths of an upstream, in the form of its format.
pub(crate) trait ListedPaths: Debug + Send + Sync {
    /// Whether the list excludes this folder.
    fn exclude(&self, folder: &str) -> bool;

    /// Its size in memory, in bytes.
    fn weight(&self) -> usize;
}

/// The lists of upstreams, in memory.
#[derive(Debug)]
pub(crate) struct PathLists(BoundedCache<Origin, PathList>);

/// The last list of an upstream.
#[derive(Debug)]
pub(crate) struct PathList {
    /// `None`: the list is unusable or was not fetched yet.
    pub(crate) paths: Option<Box<dyn ListedPaths>>,
    /// When its TTL ends.
    pub(crate) until: Millis,
}

impl PathLists {
    /// An empty table of at most this number of bytes. The least used lists are evicted and read again.
    pub(crate) fn new(bytes: u64) -> Self {
        let weigh = |_: &Origin, list: &PathList| {
            let paths = list.paths.as_ref().map_or(0, |paths| paths.weight());
            (size_of::<Origin>() + size_of::<PathList>() + paths) as u64
        };
        Self(BoundedCache::new(Bound::new(BoundName::UpstreamPrefixes, "", bytes), UPSTREAMS, weigh))
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        self.0.bound()
    }

    /// The last list of an upstream while its TTL lasts.
    pub(crate) fn find(&self, of: Origin, now: Millis) -> Option<Arc<PathList>> {
        self.0.lookup(&of, |list| now < list.until)
    }

    pub(crate) fn keep(&self, of: Origin, list: PathList) {
        self.0.insert(of, Arc::new(list));
    }
}
