//! What a hint has a repository look for.

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Hint {
    /// The package, or the folder of one; empty: any.
    pub(crate) package: String,
    /// Its version as the upstream's index writes it; empty: any.
    pub(crate) version: String,
    /// Whether it is to be gone, and not to be there.
    pub(crate) gone: bool,
}

impl Hint {
    /// The hint that anything may have changed.
    pub(crate) fn anything() -> Self {
        Self::default()
    }

    /// Whether the upstream's index can say that it came true.
    pub(crate) fn is_exact(&self) -> bool {
        !self.version.is_empty()
    }
}
