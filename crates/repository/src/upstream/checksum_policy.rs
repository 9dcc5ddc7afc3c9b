//! What becomes of a file whose bytes are not those that its upstream promises.

use crate::bad_setting::BadSetting;
use crate::record::RemoteRecord;
use telemetry::Event;

/// How much an upstream's checksums count. A closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChecksumPolicy {
    /// A file that differs from them is refused, and so is one whose checksum cannot be had or read. One that has none is taken, and
    /// told as unverified.
    #[default]
    Strict,
    /// It is taken in all these cases, and the event says so: for upstreams whose checksums are known to be wrong.
    Warn,
    /// They are neither asked for nor looked at.
    Ignore,
}

impl ChecksumPolicy {
    /// All of them.
    pub const ALL: &'static [ChecksumPolicy] = &[ChecksumPolicy::Strict, ChecksumPolicy::Warn, ChecksumPolicy::Ignore];

    /// Its name in settings, journal rows and the API.
    pub fn as_str(self) -> &'static str {
        match self {
            ChecksumPolicy::Strict => "strict",
            ChecksumPolicy::Warn => "warn",
            ChecksumPolicy::Ignore => "ignore",
        }
    }

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
