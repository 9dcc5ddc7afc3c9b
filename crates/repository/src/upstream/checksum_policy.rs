//! The policy for files that do not match the checksums of their upstream.

use crate::bad_setting::BadSetting;
use crate::record::RemoteRecord;
use telemetry::Event;

telemetry::closed_list! {
    /// How strictly the checksums of an upstream are enforced. A closed list.
    #[derive(Default)]
    pub enum ChecksumPolicy {
        /// A file that does not match is refused, and so is a file whose checksum cannot be fetched or parsed. A file
        /// without a checksum is accepted and marked as unverified.
        #[default]
        Strict = "strict",
        /// All these files are accepted, and the event records it. For upstreams whose checksums are known to be wrong.
        Warn = "warn",
        /// Checksums are neither fetched nor compared.
        Ignore = "ignore",
    }
}

impl ChecksumPolicy {
    /// The policy of that name.
    pub fn named(name: &str) -> Result<Self, BadSetting> {
        let found = Self::ALL.iter().copied().find(|policy| policy.as_str() == name);
        found.ok_or_else(|| {
            let text = format!("`remote.checksums` cannot be `{}`", Event::text(name));
            BadSetting::new(text, "there are: strict, warn, ignore")
        })
    }

    /// The policy that a repository's settings name.
    pub(crate) fn of(remote: Option<&RemoteRecord>) -> Self {
        let name = remote.and_then(|remote| remote.checksums.as_deref());
        name.and_then(|name| Self::named(name).ok()).unwrap_or_default()
    }
}
