//! A file of an upstream, as policy sees it.

use super::flights::Arriving;
use crate::visible::Row;
use crate::{Format, Named, Since};
use store::{CachedFile, State};
use telemetry::Millis;

/// A file of an upstream at its path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfUpstream<'a> {
    path: &'a str,
    first_seen: Millis,
    /// When the upstream says that it last changed it.
    modified: Option<Millis>,
}

impl<'a> OfUpstream<'a> {
    /// One that is kept.
    pub(crate) fn kept(path: &'a str, file: &CachedFile) -> Self {
        Self { path, first_seen: file.first_seen, modified: file.modified.as_deref().and_then(client::moment) }
    }

    /// One that is on its way.
    pub(super) fn arriving(path: &'a str, file: &Arriving) -> Self {
        Self { path, first_seen: file.first_seen, modified: file.modified }
    }
}

impl Row for OfUpstream<'_> {
    fn standing(&self) -> (State, Millis, Millis) {
        (State::Live, self.first_seen, self.first_seen)
    }

    /// It cannot be younger than what was seen here.
    fn what(&self, format: Format) -> Option<Named<'_>> {
        let since = self.modified.map_or(self.first_seen, |modified| modified.min(self.first_seen));
        Some(Named::file(format, self.path, Since::Moment(since))?.upstream())
    }
}
