//! Tests of settings: as they are declared, changed and refused.

use super::*;

fn patch(value: Value) -> SettingsPatch {
    serde_json::from_value(value).unwrap()
}

fn remote_public() -> RepositoryRecord {
    let definition = json!({"name": "m", "format": "maven", "remote": {"urls": ["http://a"], "fresh_s": 5}});
    serde_json::from_value::<RepositoryDefinition>(definition).unwrap().record(FormatVersion::V2).unwrap()
}

#[test]
fn a_setting_that_is_not_named_stays_and_null_removes_one() {
    let mut record = remote_public();
    assert_eq!(record.kind, RepositoryKind::Remote);
    patch(json!({"remote": {"credentials": "env:A", "fresh_s": null}, "private": false})).apply(&mut record).unwrap();
    let kept = record.remote.as_ref().unwrap();
    assert_eq!((kept.credentials.as_deref(), kept.fresh_s, kept.urls.len()), (Some("env:A"), None, 1));
    patch(json!({"remote": {"credentials": null}, "private": true})).apply(&mut record).unwrap();
    assert_eq!((record.remote.unwrap().credentials, record.private), (None, true));
}

#[test]
fn a_repository_whose_upstream_needs_credentials_is_private_by_default() {
    let made = |remote: Value, private: Option<bool>| {
        let mut definition = json!({"name": "m", "format": "maven", "remote": remote});
        definition.as_object_mut().unwrap().extend(private.map(|private| ("private".to_owned(), private.into())));
        serde_json::from_value::<RepositoryDefinition>(definition).unwrap().record(FormatVersion::V2).unwrap().private
    };
    for secret in ["credentials", "certificate"] {
        let remote = json!({"urls": ["http://a"], secret: "env:A"});
        assert!(made(remote.clone(), None), "{secret}");
        assert_eq!([false, true].map(|private| made(remote.clone(), Some(private))), [false, true]);
        let change = |private: Value| patch(json!({"remote": {secret: "env:A"}, "private": private}));
        let error = change(Value::Null).apply(&mut remote_public()).unwrap_err();
        assert!(error.to_string().contains(secret) && error.hint().unwrap().contains("`private`"), "{error}");
        for private in [false, true] {
            let mut record = remote_public();
            change(private.into()).apply(&mut record).unwrap();
            assert_eq!(record.private, private);
            // It stays decided for later changes.
            patch(json!({"remote": {secret: "env:B"}})).apply(&mut record).unwrap();
        }
    }
    assert!(!made(json!({"urls": ["http://a"]}), None));
}

#[test]
fn credentials_are_named_again_for_another_host() {
    let mut record = remote_public();
    patch(json!({"remote": {"credentials": "env:A"}, "private": true})).apply(&mut record).unwrap();
    let moved = |more: Value| {
        let mut change = json!({"urls": ["http://b"]});
        change.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        patch(json!({"remote": change})).apply(&mut record.clone())
    };
    let error = moved(json!({"fresh_s": 1})).unwrap_err();
    assert!(error.to_string().contains("`remote.urls`") && error.hint().is_some(), "{error}");
    for named in [json!("env:A"), json!("env:B"), Value::Null] {
        moved(json!({"credentials": named})).unwrap();
    }
}

#[test]
fn claims_are_added_and_taken_back_one_by_one_or_set_all_together() {
    let mut record: RepositoryRecord =
        serde_json::from_value::<RepositoryDefinition>(json!({"name": "m", "format": "gem", "claims": ["a"]}))
            .unwrap()
            .record(FormatVersion::V2)
            .unwrap();
    assert_eq!(record.claims, ["a"]);
    patch(json!({"claim": ["b", "c"], "unclaim": ["a"]})).apply(&mut record).unwrap();
    assert_eq!(record.claims, ["b", "c"]);
    let error = patch(json!({"unclaim": ["a"]})).apply(&mut record.clone()).unwrap_err();
    assert_eq!(error.to_string(), "`m` does not claim `a`");
    patch(json!({"private": true})).apply(&mut record).unwrap();
    assert_eq!(record.claims.len(), 2);
    patch(json!({"claims": []})).apply(&mut record).unwrap();
    assert_eq!(record.claims, [""; 0]);
    let odd = json!({"name": "m", "format": "gem", "claim": ["a"]});
    let odd: RepositoryDefinition = serde_json::from_value(odd).unwrap();
    assert!(odd.settings().unwrap_err().hint().unwrap().contains("`claims`"));
}

#[test]
fn unknown_settings_are_refused_by_name() {
    let refusal = |value| patch(value).apply(&mut remote_public()).unwrap_err().to_string();
    assert_eq!(refusal(json!({"remote": {"url": "http://a"}})), "`remote` has no setting `url`");
    assert!(refusal(json!({"remote": {"fresh_s": "soon"}})).starts_with("`remote`: invalid type"));
    assert!(refusal(json!({"retention": {"builds": -1}})).starts_with("`retention`: "));
    assert_eq!(refusal(json!({"policy": {"denied": ["a"]}})), "`policy` has no setting `denied`");
    assert!(refusal(json!({"policy": {"exceptions": []}})).contains("who made it"));
    let odd = json!({"name": "m", "format": "maven", "colour": "red"});
    let odd: RepositoryDefinition = serde_json::from_value(odd).unwrap();
    assert!(odd.settings().unwrap_err().to_string().contains("`colour`"));
}
