//! Paths of raw files that groups keep from upstreams.

use crate::boxed::Trying;
use crate::group::kept_names::NameKeeping;
use crate::raw::guard::paths;
use crate::raw::layout::RawPath;
use crate::repository::Repository;
use crate::tree::file::Guarded;
use crate::tree::kept_names::gives_back;
use store::{Entry, State, Store};
use telemetry::Event;

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

    fn is_there<'a>(
        &self,
        store: &'a Store,
        leaf: &'a Repository,
        name: &'a str,
        event: &'a mut Event,
    ) -> Trying<'a, bool> {
        Box::pin(async move {
            let entry = store.entry(leaf.id, name, event).await?;
            Ok(entry.is_some_and(|entry| entry.state == State::Live))
        })
    }
}
