//! Names in metrics, events and answers that are gone or mean another thing.

use serde_json::Value;

/// The members of a list that are not in another.
pub(super) fn gone(what: &str, before: &Value, now: &Value) -> Vec<String> {
    let (before, now) = (before.as_array().unwrap(), now.as_array().map(Vec::as_slice).unwrap_or_default());
    let lost = before.iter().filter(|name| !now.contains(name));
    lost.map(|name| format!("{what} `{}` is gone", name.as_str().unwrap_or_default())).collect()
}

/// Compares two sets of lists of names, and the metrics.
pub(super) fn narrowed(before: &Value, now: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (list, was) in before.as_object().unwrap() {
        match was {
            Value::Object(_) => found.extend(metrics(was, &now[list])),
            _ => found.extend(gone(&format!("of the {list}"), was, &now[list])),
        }
    }
    found
}

/// A metric keeps its type and all of its labels, and gets no other: with one more label, one series becomes several.
fn metrics(before: &Value, now: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (name, was) in before.as_object().unwrap() {
        let Some(is) = now.get(name) else {
            found.push(format!("the metric `{name}` is gone"));
            continue;
        };
        if is["type"] != was["type"] {
            found.push(format!("the metric `{name}` is no longer a {}", was["type"].as_str().unwrap()));
        }
        found.extend(gone(&format!("of the metric `{name}` the label"), &was["labels"], &is["labels"]));
        let further = gone("", &is["labels"], &was["labels"]);
        found.extend(further.iter().map(|label| {
            let label = label.trim_start().trim_end_matches(" is gone");
            format!("the metric `{name}` has the further label {label}")
        }));
    }
    found
}
