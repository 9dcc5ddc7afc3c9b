//! The names that keep a raw path from upstreams: the path itself, and the file whose checksum it is.

use crate::raw::layout::RawPath;

/// The guarded paths.
pub(crate) fn paths(path: RawPath<'_>) -> impl Iterator<Item = &str> + Clone {
    let path = path.without_query();
    [Some(path.0), path.checksum().map(|(of, _)| of.0)].into_iter().flatten()
}
