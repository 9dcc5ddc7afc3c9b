//! How often an op ran, and how long it took.

/// How often an [`crate::Op`] ran for an event, and how long in total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of runs.
    pub count: u32,
    /// The runs among them that changed nothing.
    pub vain: u32,
    /// Their total time in nanoseconds.
    pub nanos: u64,
}

impl Tally {
    /// Adds other runs of the same op.
    pub(crate) fn join(&mut self, other: Tally) {
        self.count = self.count.saturating_add(other.count);
        self.vain = self.vain.saturating_add(other.vain);
        self.nanos = self.nanos.saturating_add(other.nanos);
    }
}
