//! How far a long operation is.

/// How far a long operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// How much is done.
    pub done: u64,
    /// How much there is to do.
    pub total: u64,
    /// What is counted: `rows`, `blobs`.
    pub of: &'static str,
}
