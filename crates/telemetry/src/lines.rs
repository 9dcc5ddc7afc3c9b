//! One thread that writes lines to one place (a rotated file, stderr), behind a bounded queue that never blocks the caller.

/// How a [`Lines`] writes.
#[derive(Debug, Clone)]
pub struct LinesOptions {}

/// A bounded queue of lines and the thread that writes them.
#[derive(Debug)]
pub struct Lines {}
