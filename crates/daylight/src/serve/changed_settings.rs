//! Finds settings that have changed since this process began.

use crate::config::{Entry, Origin};
use serde_json::Value;
use telemetry::Log;

/// Warns of settings that apply only after a restart, except for `others`, which have warnings of their own. A default follows the
/// machine, so a changed default is no change.
pub(crate) fn warn(began_with: &[Entry], now: &[Entry], others: &[&str], log: &Log) {
    for (before, now) in began_with.iter().zip(now) {
        let written = [before, now].iter().any(|entry| entry.origin != Origin::Default);
        if written && before.value != now.value && !others.contains(&before.key) {
            let message = format!("`{}` has changed: restart the server with SIGUSR2 to apply it", now.key);
            log.warn(&message, &[("serving_with", &text(&before.value)), ("wanted", &text(&now.value))]);
        }
    }
}

/// A value without the quotes of a text; the log adds its own.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
