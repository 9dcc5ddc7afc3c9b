//! What commands print about the bytes that come free.

use super::failure::plain;
use serde_json::Value;
use store::Frees;

/// How many bytes come free, and when, as an answer of the server tells it; `None`: it says nothing about that.
pub(super) fn sentence(answer: &Value) -> Option<String> {
    let on = answer["frees_on"].as_str().map(plain);
    Some(Frees::sentence(answer["frees_bytes"].as_u64()?, on))
}
