//! The change that a hint announces and that a repository looks for.

/// The announced change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Hint {
    /// The package, or the folder of one; empty: any.
    pub(crate) package: String,
    /// The version in the form of the upstream's index; empty: any.
    pub(crate) version: String,
    /// Whether the version must disappear instead of appearing.
    pub(crate) gone: bool,
}

impl Hint {
    /// The hint that anything may have changed.
    pub(crate) fn anything() -> Self {
        Self::default()
    }

    /// Whether the upstream's index alone can confirm it.
    pub(crate) fn is_exact(&self) -> bool {
        !self.version.is_empty()
    }
}
