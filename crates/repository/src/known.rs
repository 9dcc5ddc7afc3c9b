//! Which repositories there are, read whole, and again when its stamp no longer holds.

use crate::{Rules, Shared, View};
use format::gem::info::FormatVersion;
use std::collections::HashMap;
use std::sync::Arc;
use store::{Origin, RepositoryId, RepositoryRecord, Stamp};
use telemetry::Millis;

/// A package format. A closed list: a new one is a folder in `format` and a line here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// RubyGems.
    Gem,
    /// Maven.
    Maven,
    /// Files by their paths and no more: wrappers, tools, installers.
    Raw,
}

impl Format {
    /// All of them.
    pub const ALL: &'static [Format] = &[Format::Gem, Format::Maven, Format::Raw];

    /// Its name in settings and journal rows.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Gem => "gem",
            Format::Maven => "maven",
            Format::Raw => "raw",
        }
    }

    /// Whether its repositories are trees of files that are read and written by their paths.
    pub fn is_tree(self) -> bool {
        matches!(self, Format::Maven | Format::Raw)
    }

    /// The format of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.as_str() == name)
    }
}

/// One repository as it is set now.
#[derive(Debug)]
pub struct Repository {
    /// Its identity in the store.
    pub id: RepositoryId,
    /// Its settings.
    pub record: RepositoryRecord,
    /// Its format.
    pub format: Format,
    /// Its policy.
    pub rules: Rules,
    /// Its large indexes; the same while it lives, whatever its settings become.
    pub shared: Arc<Shared>,
}

impl Repository {
    /// The repository seen at `now`.
    pub fn view(&self, now: Millis) -> View<'_> {
        View { as_of: None, now, rules: &self.rules }
    }

    /// Whose what is kept of its upstream is.
    pub(crate) fn origin(&self) -> Origin {
        Self::origin_of(self.id, &self.record)
    }

    /// The same, of a repository that is set so.
    pub(crate) fn origin_of(id: RepositoryId, record: &RepositoryRecord) -> Origin {
        Origin::new(id, record.remote.as_ref().map_or(&[], |remote| &remote.urls))
    }

    /// What the lines of its `/info` tell.
    pub fn info_format(&self) -> FormatVersion {
        self.record.info_format.as_deref().and_then(FormatVersion::named).unwrap_or_default()
    }
}

/// All repositories by name, and the revision of the settings they were read at.
#[derive(Debug)]
pub struct Known {
    /// By name. A `HashMap` is enough: there are hundreds at most.
    pub by_name: HashMap<String, Arc<Repository>>,
    /// Taken before they were read. While it holds the list is current; a page that was made from it carries it too.
    pub stamp: Stamp,
}
