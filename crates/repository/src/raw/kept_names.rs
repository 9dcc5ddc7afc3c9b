//! Paths of raw files that groups keep from upstreams.

use crate::group::kept_names::{NameKeeping, NamePlace};
use crate::raw::guard::paths;
use crate::raw::layout::RawPath;
use crate::repository::Repository;
use crate::tree::file::Guarded;
use crate::tree::kept_names::gives_back;
use store::Entry;

/// Paths of raw files that groups keep from upstreams.
pub(crate) struct KeptPaths;

impl NameKeeping for KeptPaths {
    fn name_of(&self, entry: &Entry) -> Option<String> {
        paths(RawPath(&entry.key)).next().map(str::to_owned)
    }

    fn name_of_unit(&self, unit: &str) -> String {
        unit.to_owned()
    }

    fn gives_back(&self, group: &Repository, name: &str) -> Option<(String, Vec<String>)> {
        gives_back(group, Guarded::Path(name))
    }

    fn place_of<'a>(&self, name: &'a str) -> NamePlace<'a> {
        NamePlace::Key(name)
    }
}
