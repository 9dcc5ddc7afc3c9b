//! The body of an API call from flags: what was given, and nothing else.

use serde_json::{Map, Value};

/// The settings that were given.
pub(super) fn given<const N: usize>(settings: [(&str, Option<Value>); N]) -> Map<String, Value> {
    settings.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The same as a value; `None`: nothing was given.
pub(super) fn object<const N: usize>(settings: [(&str, Option<Value>); N]) -> Option<Value> {
    Some(given(settings)).filter(|settings| !settings.is_empty()).map(Value::Object)
}
