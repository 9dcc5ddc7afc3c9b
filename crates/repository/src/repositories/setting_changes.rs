//! What a row of the journal changed, in a few words: in the settings of a repository, and of tokens and entries.

use serde_json::{Map, Value};
use store::{Change, JournalPage, JournalRow, RepositoryRecord};

/// Fields that change with others, and say nothing of themselves.
const DERIVED: [&str; 3] = ["created", "removed", "members_since"];

/// What a row of this page changed: `added`, `removed`, `claims: +rack`, `restored`. `None`: there is no more to tell, or the record
/// before it is not known.
pub(super) fn what_changed(row: &JournalRow, page: &JournalPage) -> Option<String> {
    match &row.change {
        Change::Repository { id, .. } if id.0 == row.seq.0 => Some("added".to_owned()),
        Change::Repository { record, .. } => difference(page.before.get(&row.seq)?, record),
        Change::Token { record } if record.revoked.is_some() => Some("revoked".to_owned()),
        Change::Token { record } => Some(format!("created, with {}", record.scopes.join(", "))),
        Change::Entry { .. } if page.restored.contains(&row.seq) => Some("restored".to_owned()),
        _ => None,
    }
}

/// What a change of a repository changed.
pub(super) fn difference(before: &RepositoryRecord, after: &RepositoryRecord) -> Option<String> {
    let mut changes = match (before.removed, after.removed) {
        (None, Some(_)) => vec!["removed".to_owned()],
        (Some(_), None) => vec!["restored".to_owned()],
        _ => Vec::new(),
    };
    let (old, new) = (flat(before)?, flat(after)?);
    let names: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names.into_iter().filter(|name| !DERIVED.contains(&name.as_str())) {
        let [old, new] = [&old, &new].map(|fields| fields.get(name).unwrap_or(&Value::Null));
        if old != new {
            changes.push(format!("{name}: {}", of_values(old, new)));
        }
    }
    Some(changes.join("; "))
}

/// The fields of a record, those of objects in it with a dot: `policy.cooldown_s`.
fn flat(record: &RepositoryRecord) -> Option<Map<String, Value>> {
    let Ok(Value::Object(fields)) = serde_json::to_value(record) else { return None };
    let mut flat = Map::new();
    flatten("", fields, &mut flat);
    Some(flat)
}

/// Adds the fields of an object, whose name is `above`, to those of a record.
fn flatten(above: &str, fields: Map<String, Value>, flat: &mut Map<String, Value>) {
    for (name, value) in fields {
        let name = if above.is_empty() { name } else { format!("{above}.{name}") };
        match value {
            Value::Object(inner) => flatten(&name, inner, flat),
            other => drop(flat.insert(name, other)),
        }
    }
}

/// `+rack -rake` for lists of texts and of exceptions, which name a package, else the new value, and which text or number it replaced: of two
/// people who change a setting at the same moment, perhaps on two nodes, the later one learns of the other.
fn of_values(old: &Value, new: &Value) -> String {
    let texts = |value: &Value| -> Option<Vec<String>> {
        match value {
            Value::Null => Some(Vec::new()),
            Value::Array(all) => {
                all.iter().map(|one| one.as_str().or_else(|| one["package"].as_str()).map(str::to_owned)).collect()
            }
            _ => None,
        }
    };
    if let (Some(before), Some(after)) = (texts(old), texts(new)) {
        let added = after.iter().filter(|one| !before.contains(one)).map(|one| format!("+{one}"));
        let gone = before.iter().filter(|one| !after.contains(one)).map(|one| format!("-{one}"));
        let all: Vec<String> = added.chain(gone).collect();
        return if all.is_empty() { format!("now {}", after.join(", ")) } else { all.join(" ") };
    }
    let shown = |value: &Value| match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => "changed".to_owned(),
    };
    match old {
        Value::String(_) | Value::Number(_) => format!("{} (was {})", shown(new), shown(old)),
        _ => shown(new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_setting_inside_another_is_named_with_both() {
        let record = |tags: &[&str]| {
            let mut record =
                crate::record::RepositoryRecord::new("k", "maven", store::RepositoryKind::Remote, telemetry::Millis(1));
            let koji = json!({ "hub": "http://h", "files": "http://f", "tags": tags });
            record.remote = serde_json::from_value(json!({ "urls": [], "koji": koji })).unwrap();
            record.stored().unwrap()
        };
        let said = difference(&record(&["a", "b"]), &record(&["a", "c"]));
        assert_eq!(said.as_deref(), Some("remote.koji.tags: +c -b"));
    }

    #[test]
    fn lists_tell_what_came_and_went_and_other_values_are_shown() {
        assert_eq!(of_values(&json!(["rack"]), &json!(["rack", "rake"])), "+rake");
        assert_eq!(of_values(&json!(["rack"]), &Value::Null), "-rack");
        assert_eq!(of_values(&json!(["a", "b"]), &json!(["b", "a"])), "now b, a");
        let exception = |package: &str| json!({ "package": package, "why": "old" });
        assert_eq!(of_values(&json!([exception("a")]), &json!([exception("a"), exception("b:1")])), "+b:1");
        assert_eq!(of_values(&json!(false), &json!(true)), "true");
        assert_eq!(of_values(&json!(604_800), &Value::Null), "none (was 604800)");
        assert_eq!(of_values(&Value::Null, &json!("30d")), "30d");
        assert_eq!(of_values(&json!("v1"), &json!("v2")), "v2 (was v1)");
    }
}
