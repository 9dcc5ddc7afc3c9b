//! The progress of a long operation.

/// The progress of a long operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The number of items that are done.
    pub done: u64,
    /// The number of all items.
    pub total: u64,
    /// The unit: `rows`, `blobs`.
    pub of: &'static str,
}
