//! The index protocols of a repository. Each can be switched off while the server runs. Clients then fall back to an
//! older protocol, or do without.

use crate::record::RepositoryRecord;

telemetry::closed_list! {
    /// A protocol with which clients read the index of a repository. A closed list.
    pub enum Protocol {
        /// `/versions`, `/info/NAME` and `/names`: Bundler since 1.12, RubyGems since 3.5.
        CompactIndex = "compact_index",
        /// `/api/v1/dependencies`: used by Bundler before 1.12, by RubyGems before 3.2.3, and by clients that cannot use
        /// the compact index.
        Dependencies = "dependencies",
        /// `specs.4.8.gz`, `latest_specs.4.8.gz` and `prerelease_specs.4.8.gz`: `gem list` and its like up to the newest, and every Bundler
        /// where nothing better is answered.
        FullIndex = "full_index",
    }
}

impl Protocol {
    /// The protocol of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|protocol| protocol.as_str() == name)
    }

    /// Whether a repository with these settings serves it.
    pub fn is_on(self, record: &RepositoryRecord) -> bool {
        !record.protocols_off.iter().any(|name| name == self.as_str())
    }
}
