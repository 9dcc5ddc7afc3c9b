//! How many bytes come free, in the answers of the calls that remove something.

use serde_json::Value;
use store::Frees;

/// The answer with how many bytes come free, and when.
pub(super) fn with_frees(mut answer: Value, frees: Frees) -> Value {
    answer["frees_bytes"] = frees.size_bytes.into();
    answer["frees_on"] = frees.on.map(|on| on.to_string()).into();
    answer
}
