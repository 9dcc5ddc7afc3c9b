//! Changes of the Koji hub of a remote repository: a change of one field keeps the others.

use repository::{BadSetting, RemoteRecord};
use serde_json::{Map, Value};
use std::borrow::Cow;
use telemetry::Event;

/// The fields of `remote.koji`.
const FIELDS: [&str; 5] = ["hub", "files", "tags", "inherit", "duplicates"];
/// The first of them, which a hub cannot do without.
const NEEDED: usize = 3;
const HINT: &str = "`daylight repo add NAME --format maven --koji HUB_URL --koji-files TOP_URL --koji-tag PATTERN`";

/// The changes of `remote` with a whole `koji` in place of the changes of its fields. `before` is the upstream until now; `None`: the
/// repository is new.
pub(super) fn with_whole_hub<'a>(
    name: &str,
    before: Option<&RemoteRecord>,
    changes: &'a Map<String, Value>,
) -> Result<Cow<'a, Map<String, Value>>, BadSetting> {
    let known = before.and_then(|before| before.koji.as_deref());
    let Some(change) = changes.get("koji") else { return Ok(Cow::Borrowed(changes)) };
    let fields = match change {
        Value::Null if known.is_some() => {
            let text = format!("`{name}` is a repository of a Koji hub, and cannot be without it");
            return Err(BadSetting::new(text, "`daylight repo add` adds a repository with another upstream"));
        }
        Value::Object(fields) => fields,
        // Anything else is refused by its type.
        _ => return Ok(Cow::Borrowed(changes)),
    };
    if before.is_some() && known.is_none() {
        let text = format!("`{name}` is no repository of a Koji hub, and cannot become one");
        return Err(BadSetting::new(text, &format!("{HINT} adds one")));
    }
    if let Some(odd) = fields.keys().find(|field| !FIELDS.contains(&field.as_str())) {
        let text = format!("`remote.koji` has no setting `{}`", Event::text(odd));
        return Err(BadSetting::new(text, &format!("there are: {}", FIELDS.join(", "))));
    }
    let mut whole = match serde_json::to_value(known) {
        Ok(Value::Object(whole)) => whole,
        _ => Map::new(),
    };
    for (field, value) in fields {
        if value.is_null() {
            whole.remove(field);
        } else {
            whole.insert(field.clone(), value.clone());
        }
    }
    if let Some(missing) = FIELDS[..NEEDED].iter().find(|field| !whole.contains_key(**field)) {
        return Err(BadSetting::new(format!("`remote.koji` names no `{missing}`"), HINT));
    }
    let mut changes = changes.clone();
    changes.insert("koji".to_owned(), whole.into());
    Ok(Cow::Owned(changes))
}

/// Whether the URL of the hub or of its files is among the changes of `remote`.
pub(super) fn changes_urls(changes: &Map<String, Value>) -> bool {
    changes.get("koji").is_some_and(|koji| ["hub", "files"].iter().any(|field| koji.get(field).is_some()))
}

#[cfg(test)]
mod tests {
    use crate::settings_patch::{RepositoryDefinition, SettingsPatch};
    use format::gem::info::FormatVersion;
    use repository::{Error, RepositoryRecord};
    use serde_json::{Value, json};

    fn made(remote: Value) -> Result<RepositoryRecord, Error> {
        let definition = json!({"name": "k", "format": "maven", "remote": remote});
        serde_json::from_value::<RepositoryDefinition>(definition).unwrap().record(FormatVersion::V2)
    }

    fn hub() -> Value {
        json!({"koji": {"hub": "http://h", "files": "http://f", "tags": ["a-*"], "inherit": true, "duplicates": "oldest"}})
    }

    fn changed(record: &RepositoryRecord, koji: Value) -> Result<Value, Error> {
        let patch: SettingsPatch = serde_json::from_value(json!({"remote": {"koji": koji}})).unwrap();
        let mut record = record.clone();
        patch.apply(&mut record)?;
        Ok(json!(record.koji()))
    }

    fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
        let error = result.unwrap_err();
        assert!(error.hint().is_some(), "{error}");
        error.to_string()
    }

    #[test]
    fn a_change_of_one_field_keeps_the_others_and_null_removes_one() {
        let record = made(hub()).unwrap();
        assert_eq!(json!(record.koji()), hub()["koji"]);
        assert_eq!(serde_json::to_value(record.koji()).unwrap().as_object().unwrap().len(), super::FIELDS.len());
        let with = |change: Value| {
            let mut expected = hub()["koji"].clone();
            expected.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            assert_eq!(changed(&record, change).unwrap(), expected);
        };
        with(json!({"tags": ["b"]}));
        with(json!({"hub": "http://i", "files": "http://g"}));
        let plain = changed(&record, json!({"inherit": false, "duplicates": null})).unwrap();
        assert_eq!(plain, json!({"hub": "http://h", "files": "http://f", "tags": ["a-*"]}));
        assert_eq!(changed(&record, json!({"inherit": null})).unwrap().get("inherit"), None);
    }

    #[test]
    fn a_hub_that_lacks_a_field_or_has_an_unknown_one_is_refused_by_name() {
        for field in ["hub", "files", "tags"] {
            let mut lacking = hub();
            lacking["koji"].as_object_mut().unwrap().remove(field);
            assert_eq!(refused(made(lacking)), format!("`remote.koji` names no `{field}`"));
            let removed = changed(&made(hub()).unwrap(), json!({ field: null }));
            assert_eq!(refused(removed), format!("`remote.koji` names no `{field}`"));
        }
        assert_eq!(
            refused(changed(&made(hub()).unwrap(), json!({"tag": false}))),
            "`remote.koji` has no setting `tag`"
        );
        assert!(refused(changed(&made(hub()).unwrap(), json!({"tags": "a"}))).starts_with("`remote`: invalid type"));
        assert!(refused(made(json!({"koji": "http://h"}))).starts_with("`remote`: invalid type"));
    }

    #[test]
    fn a_repository_of_a_hub_and_one_of_urls_do_not_become_each_other() {
        let plain = made(json!({"urls": ["http://a"]})).unwrap();
        let said = refused(changed(&plain, hub()["koji"].clone()));
        assert_eq!(said, "`k` is no repository of a Koji hub, and cannot become one");
        assert_eq!(changed(&plain, Value::Null).unwrap(), Value::Null);
        let record = made(hub()).unwrap();
        assert!(refused(changed(&record, Value::Null)).starts_with("`k` is a repository of a Koji hub"));
        // What a call shows of a repository can be sent again.
        let mut shown = hub();
        shown["urls"] = json!([]);
        assert_eq!(made(shown).unwrap().koji(), record.koji());
    }

    #[test]
    fn a_change_of_the_hub_or_its_files_is_one_of_urls() {
        let changes = |koji: Value| {
            serde_json::from_value::<SettingsPatch>(json!({"remote": {"koji": koji}})).unwrap().changes_urls()
        };
        assert!(changes(json!({"hub": "http://i"})) && changes(json!({"files": "http://i"})));
        assert!(!changes(json!({"tags": ["a"]})) && !changes(Value::Null));
    }
}
