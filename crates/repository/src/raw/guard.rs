//! Which names of raw files keep a path from upstreams: the path itself, and the file that it is a checksum of.

use crate::raw::layout::RawPath;

/// The paths that count.
pub(crate) fn paths(path: RawPath<'_>) -> impl Iterator<Item = &str> + Clone {
    [Some(path.0), path.checksum().map(|(of, _)| of.0)].into_iter().flatten()
}
