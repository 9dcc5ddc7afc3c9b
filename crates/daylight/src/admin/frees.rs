//! How many bytes come free, in the answers of the calls that remove something.

use repository::moment::Moment;
use schemars::JsonSchema;
use serde::Serialize;
use store::Frees;

/// How many bytes come free, and when.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Freed {
    /// The bytes that nothing else needs.
    frees_bytes: u64,
    /// When the last of them may be deleted.
    frees_on: Option<Moment>,
}

impl From<Frees> for Freed {
    fn from(frees: Frees) -> Self {
        Self { frees_bytes: frees.size_bytes, frees_on: frees.on.map(Moment) }
    }
}
