//! Tells another part of the program of the changes of other processes.

use crate::truth::catalog::JournalRow;
use std::fmt;
use std::sync::OnceLock;

/// A call with rows of other processes.
type Tell = dyn Fn(&[JournalRow]) + Send + Sync;

/// The call, once there is one.
#[derive(Default)]
pub(crate) struct Followed(OnceLock<Box<Tell>>);

impl Followed {
    /// Only the first call counts.
    pub(crate) fn set(&self, tell: Box<Tell>) {
        let _ = self.0.set(tell);
    }

    pub(crate) fn tell(&self, rows: &[JournalRow]) {
        if let Some(tell) = self.0.get() {
            tell(rows);
        }
    }
}

impl fmt::Debug for Followed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Followed").finish_non_exhaustive()
    }
}
