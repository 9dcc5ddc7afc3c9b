//! What the program tells findings: settings, repositories, upstreams, certificates. It is gathered again every ten seconds.

use super::program::ProgramFacts;
use telemetry::Millis;

/// A setting of the server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SettingFact {
    /// Its key, `server.pages_bytes`.
    pub key: String,
    /// Its value as text.
    pub value: String,
    /// Its value, if it is a number.
    pub number: Option<u64>,
    /// Its limits, if it is a number with limits.
    pub limits: Option<(u64, u64)>,
    /// Whether a change is in force without a restart.
    pub live: bool,
}

/// A repository.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RepositoryFact {
    /// Its name.
    pub name: String,
    /// `hosted`, `remote` or `group`.
    pub kind: &'static str,
    /// `gem`, `maven` or `raw`.
    pub format: &'static str,
    /// Whether it is a tree of files, so a group of it asks its members by file.
    pub is_tree: bool,
    /// Of a group, the direct members in order.
    pub members: Vec<String>,
    /// Of a group, the hosted and remote repositories that it resolves to, in order.
    pub leaves: Vec<String>,
    /// Of a remote repository, the host of its upstream, as `name:port`.
    pub host: Option<String>,
    /// Of a remote repository, how long its negative answers are cached, in seconds, if that is set.
    pub missing_s: Option<u64>,
    /// The patterns of its policy that alone may be seen; none: all.
    pub only: Vec<String>,
    /// The prefixes of its policy for which no upstream is called.
    pub private_prefixes: Vec<String>,
}

/// A host of upstreams.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostFact {
    /// `name:port`.
    pub host: String,
    /// What distinguishes its bounds (`upstream.calls`).
    pub number: u64,
    /// The remote repositories that call it.
    pub repositories: Vec<String>,
    /// Since when its circuit is open, and its last failure.
    pub open: Option<String>,
    /// Until when it asked not to be called.
    pub paused_until: Option<Millis>,
}

/// What the program tells findings. Each part may be extended by the check that needs it.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Settings with numbers and switches.
    pub settings: Vec<SettingFact>,
    /// All repositories.
    pub repositories: Vec<RepositoryFact>,
    /// All hosts of upstreams.
    pub hosts: Vec<HostFact>,
    /// The size of the truth database, in bytes.
    pub truth_bytes: Option<u64>,
    /// What the program tells about itself.
    pub program: ProgramFacts,
}

impl Facts {
    /// The setting with this key.
    pub(crate) fn setting(&self, key: &str) -> Option<&SettingFact> {
        self.settings.iter().find(|setting| setting.key == key)
    }

    /// The repository of this name.
    pub(crate) fn repository(&self, name: &str) -> Option<&RepositoryFact> {
        self.repositories.iter().find(|repository| repository.name == name)
    }
}
