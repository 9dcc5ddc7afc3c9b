//! The version policy: which versions a hosted Maven repository accepts.

use crate::bad_setting::BadSetting;
use crate::record::RepositoryRecord;
use telemetry::Event;

telemetry::closed_list! {
    /// Releases, which never change, and snapshots, which are published repeatedly. A closed list.
    #[derive(Default)]
    pub enum VersionPolicy {
        /// Releases and snapshots.
        #[default]
        Mixed = "mixed",
        /// Only releases.
        Releases = "releases",
        /// Only snapshots.
        Snapshots = "snapshots",
    }
}

impl VersionPolicy {
    /// The policy of that name.
    pub fn named(name: &str) -> Result<Self, BadSetting> {
        let found = Self::ALL.iter().copied().find(|policy| policy.as_str() == name);
        found.ok_or_else(|| {
            let text = format!("`versions` cannot be `{}`", Event::text(name));
            BadSetting::new(text, "there are: mixed, releases, snapshots")
        })
    }

    /// Whether it accepts a release (`false`) or a snapshot (`true`).
    pub fn takes(self, snapshot: bool) -> bool {
        match self {
            VersionPolicy::Mixed => true,
            VersionPolicy::Releases => !snapshot,
            VersionPolicy::Snapshots => snapshot,
        }
    }

    /// The policy that a repository's settings name.
    pub fn of(record: &RepositoryRecord) -> Self {
        record.versions.as_deref().and_then(|name| Self::named(name).ok()).unwrap_or_default()
    }
}
