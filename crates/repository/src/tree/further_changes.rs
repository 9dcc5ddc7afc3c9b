//! The changes that follow from a change of files, in the same batch.

use store::{Change, Expect};

/// The changes that follow, with their expectations.
#[derive(Debug, Default)]
pub(crate) struct FurtherChanges {
    pub(crate) expect: Vec<Expect>,
    pub(crate) changes: Vec<Change>,
}
