//! How strictly a package is judged.

/// The standard for a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standard {
    /// What may be pushed: all readers see the same gem, and it keeps the rules for published gems.
    Push,
    /// What installs: a gem that was published elsewhere, perhaps long ago. RubyGems 3.2 to 4.0 ignore bytes after the
    /// archive and members that they do not know, expand aliases, and take the last of equal keys. A field that no
    /// installation needs is mended or left out if it breaks a rule.
    Install,
}

impl Standard {
    pub(crate) fn is_install(self) -> bool {
        self == Self::Install
    }
}
