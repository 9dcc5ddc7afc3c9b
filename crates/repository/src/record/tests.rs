//! Records of every kind are stored in unchanged bytes, and can be read back.

use super::*;

/// A record with every setting, as journals contain it.
const FULL: &str = concat!(
    r#"{"name":"all","format":"maven","kind":"remote","private":true,"members":["a"],"protocols_off":["specs"],"#,
    r#""owners_enforced":true,"index_base":{"through":9,"created":3},"info_format":"v2","remote":{"urls":["http://a","http://b"],"#,
    r#""koji":{"hub":"http://h","files":"http://f","tags":["t"],"inherit":true,"duplicates":"oldest"},"#,
    r#""credentials":"env:A","proxy":"http://p","proxy_credentials":"file:/p","no_proxy":["a"],"trust":"/t","certificate":"/c","#,
    r#""checksums":"warn","fresh_s":1,"missing_s":2,"max_bytes":18446744073709551615,"prefixes":false},"versions":"releases","layout":"any","#,
    r#""replaceable":true,"retention":{"builds":1,"days":2,"released_days":3},"keep_versions":5,"keep_unused_s":86400,"policy":{"allow":["a"],"deny":["b"],"#,
    r#""cooldown_s":60,"exceptions":[{"package":"p","why":"é \"x\"","who":"ops","made":5,"since":4,"until":9}],"#,
    r#""private_prefixes":["org"],"shared":["s"]},"claims":["lamp"],"members_since":[4],"created":1,"removed":7}"#
);

#[test]
fn a_record_with_every_setting_is_stored_in_the_same_bytes() {
    let record: RepositoryRecord = serde_json::from_str(FULL).unwrap();
    assert_eq!(serde_json::to_string(&record).unwrap(), FULL);
    let stored = record.stored().unwrap();
    assert_eq!(serde_json::to_string(&stored).unwrap(), FULL);
    assert_eq!(RepositoryRecord::read(&stored).unwrap(), record);
}

#[test]
fn a_record_without_further_settings_writes_none() {
    let plain =
        r#"{"name":"gems","format":"gem","kind":"hosted","private":false,"members":[],"created":1,"removed":null}"#;
    let record = RepositoryRecord::new("gems", "gem", RepositoryKind::Hosted, Millis(1));
    assert_eq!(serde_json::to_string(&record.stored().unwrap()).unwrap(), plain);
}

#[test]
fn an_early_record_has_no_policy_and_a_setting_of_another_type_is_refused() {
    let early = r#"{"name":"gems","format":"gem","kind":"hosted","private":false,"created":1}"#;
    let stored: store::RepositoryRecord = serde_json::from_str(early).unwrap();
    assert_eq!(RepositoryRecord::read(&stored).unwrap().policy, None);
    let broken = early.replace(r#""created""#, r#""replaceable":5,"created""#);
    let stored: store::RepositoryRecord = serde_json::from_str(&broken).unwrap();
    assert!(matches!(RepositoryRecord::read(&stored), Err(store::Error::Row { .. })));
}
