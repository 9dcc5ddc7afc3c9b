//! Lists that upstreams publish of the paths that they have, in memory.

use crate::index::bounded_cache::BoundedCache;
use std::fmt::Debug;
use std::sync::Arc;
use store::Origin;
use telemetry::{Bound, BoundName, Millis};

/// Bytes of lists in memory; of more, those that are asked least are read again.
const ROOM: u64 = 16 << 20;
/// Upstreams that are expected, roughly.
const UPSTREAMS: usize = 100;

/// The paths that an upstream says it has, in the form of its format.
pub(crate) trait ListedPaths: Debug + Send + Sync {
    /// Whether it says that it has nothing in this folder.
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
    /// `None`: it cannot be used, or nobody has looked yet.
    pub(crate) paths: Option<Box<dyn ListedPaths>>,
    /// Until when it counts.
    pub(crate) until: Millis,
}

impl PathLists {
    /// Knows none yet.
    pub(crate) fn new() -> Self {
        let weigh = |_: &Origin, list: &PathList| {
            let paths = list.paths.as_ref().map_or(0, |paths| paths.weight());
            (size_of::<Origin>() + size_of::<PathList>() + paths) as u64
        };
        Self(BoundedCache::new(Bound::new(BoundName::UpstreamPrefixes, "", ROOM), UPSTREAMS, weigh))
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        self.0.bound()
    }

    /// The last list of an upstream, while it counts.
    pub(crate) fn find(&self, of: Origin, now: Millis) -> Option<Arc<PathList>> {
        self.0.get(&of).filter(|list| now < list.until)
    }

    pub(crate) fn keep(&self, of: Origin, list: PathList) {
        self.0.insert(of, Arc::new(list));
    }
}
