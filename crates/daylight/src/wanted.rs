//! What somebody wants of a repository: the body of a call of the API, or a table of the configuration file. One form for
//! both, so that neither can say what the other cannot.

use crate::config::References;
use format::gem::info::FormatVersion;
use repository::{BadSetting, Error, FormerFiles, Protocol};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use store::{RepositoryKind, RepositoryRecord};
use telemetry::{Event, Millis};

pub(crate) mod guard;

/// Only the owners of a package may change it.
pub(crate) const ENFORCED: &str = "enforced";
/// Who owns a package is written down and decides nothing.
pub(crate) const RECORDED: &str = "recorded";

/// A repository that is to be there.
#[derive(Debug, Clone, Deserialize)]
pub struct WantedRepository {
    /// Its name.
    pub name: String,
    /// Its format's name.
    pub format: String,
    /// `hosted`, `remote` or `group`. Where it is left out, one with an upstream is remote, one with members a group, and others
    /// are hosted.
    #[serde(default)]
    kind: Option<String>,
    #[serde(flatten)]
    settings: Map<String, Value>,
}

/// Settings that are to be so: what is not named stays as it is.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Wanted {
    /// Whether reading needs a token. Where it is not said, a new one whose upstream asks who reads it is private.
    private: Option<bool>,
    /// Index protocols by name, and whether they are to be answered.
    protocols: BTreeMap<String, bool>,
    /// What the lines of its `/info` are to tell.
    info_format: Option<String>,
    /// `enforced` or `recorded`.
    owners: Option<String>,
    /// Names of a group's members, all of them, in the order in which they are asked.
    members: Option<Vec<String>>,
    /// What of its upstream is to change; null takes a setting away.
    remote: Option<Map<String, Value>>,
    /// Which versions it takes: `mixed`, `releases` or `snapshots`.
    versions: Option<String>,
    /// Whether its files may be published again with other bytes.
    replaceable: Option<bool>,
    /// What of its snapshots is to be kept; null takes a setting away.
    retention: Option<Map<String, Value>>,
    /// What of its policy is to change; null takes a setting away.
    policy: Option<Map<String, Value>>,
    /// No setting, but said with one: whether verified releases stay where the upstream gets another URL.
    keep_cached: Option<bool>,
}

impl WantedRepository {
    /// Its kind.
    pub fn kind(&self) -> Result<RepositoryKind, Error> {
        let Some(name) = self.kind.as_deref() else {
            return Ok(match () {
                () if self.settings.contains_key("remote") => RepositoryKind::Remote,
                () if self.settings.contains_key("members") => RepositoryKind::Group,
                () => RepositoryKind::Hosted,
            });
        };
        let found = RepositoryKind::ALL.iter().copied().find(|kind| kind.as_str() == name);
        found.ok_or_else(|| {
            let text = format!("there is no kind `{}` of repository", Event::text(name));
            BadSetting::new(text, "there are: hosted, remote, group").into()
        })
    }

    /// Its settings.
    pub fn settings(&self) -> Result<Wanted, Error> {
        if self.settings.contains_key("keep_cached") {
            let text = "`keep_cached` is no setting: it is said with another URL of an upstream";
            return Err(BadSetting::new(text, "`daylight repo set NAME --remote URL --keep-cached`").into());
        }
        read("", Value::Object(self.settings.clone()))
    }

    /// What it is when it is made; `info_format` is what gems get where nothing is said.
    pub fn record(&self, info_format: FormatVersion) -> Result<RepositoryRecord, Error> {
        let mut record = RepositoryRecord::new(&self.name, &self.format, self.kind()?, Millis(0));
        let wanted = self.settings()?;
        if self.format == repository::Format::Gem.as_str() {
            record.info_format = Some(wanted.info_format()?.unwrap_or(info_format).as_str().to_owned());
        } else {
            record.info_format.clone_from(&wanted.info_format);
        }
        wanted.put(&mut record)?;
        record.private = wanted.private.unwrap_or_else(|| guard::is_protected(&record));
        Ok(record)
    }
}

impl Wanted {
    /// Refuses references to secrets that a caller of the API may not name.
    pub(crate) fn named_by_caller(&self, references: &References) -> Result<(), Error> {
        Ok(self.remote.as_ref().map_or(Ok(()), |changes| guard::references(changes, references))?)
    }

    /// What becomes of the files that are kept of the upstream, where that gets another URL.
    pub fn former_files(&self) -> FormerFiles {
        match self.keep_cached {
            None => FormerFiles::Undecided,
            Some(true) => FormerFiles::KeepVerified,
            Some(false) => FormerFiles::Drop,
        }
    }

    /// Whether they say where the upstream is.
    pub fn names_urls(&self) -> bool {
        self.remote.as_ref().is_some_and(|changes| changes.contains_key("urls"))
    }

    /// The form of `/info`, which is not applied with the others: every line has to be said anew for it.
    pub fn info_format(&self) -> Result<Option<FormatVersion>, Error> {
        let Some(name) = self.info_format.as_deref() else { return Ok(None) };
        FormatVersion::named(name).map(Some).ok_or_else(|| {
            let text = format!("there is no info format `{}`", Event::text(name));
            BadSetting::new(text, "there are: v1, v2").into()
        })
    }

    /// Makes the settings of `record`, which is there already, those that are wanted. Whether they can be is not looked at,
    /// only that nobody is shown more than was said.
    pub fn apply(&self, record: &mut RepositoryRecord) -> Result<(), Error> {
        let before = record.clone();
        self.put(record)?;
        guard::readers(&before, record, self.private.is_some())?;
        let named = |name: &str| self.remote.as_ref().is_some_and(|changes| changes.contains_key(name));
        let hint = "name it again in the same call if it is for that host too; null (`none`) takes it away";
        Ok(guard::hosts(&before, record, &named, hint)?)
    }

    fn put(&self, record: &mut RepositoryRecord) -> Result<(), Error> {
        record.private = self.private.unwrap_or(record.private);
        for (name, on) in &self.protocols {
            let protocol = Protocol::named(name)?.as_str();
            record.protocols_off.retain(|off| off != protocol);
            if !on {
                record.protocols_off.push(protocol.to_owned());
            }
        }
        match self.owners.as_deref() {
            None => {}
            Some(ENFORCED) => record.owners_enforced = true,
            Some(RECORDED) => record.owners_enforced = false,
            Some(other) => {
                let text = format!("`owners` cannot be `{}`", Event::text(other));
                return Err(BadSetting::new(text, &format!("there are: {ENFORCED}, {RECORDED}")).into());
            }
        }
        if let Some(members) = &self.members {
            record.members.clone_from(members);
        }
        if let Some(changes) = &self.remote {
            record.remote = Some(merge("remote", &record.remote.take().unwrap_or_default(), changes)?);
        }
        if let Some(versions) = &self.versions {
            record.versions = Some(versions.clone());
        }
        record.replaceable = self.replaceable.unwrap_or(record.replaceable);
        if let Some(changes) = &self.retention {
            record.retention = Some(merge("retention", &record.retention.unwrap_or_default(), changes)?);
        }
        if let Some(changes) = &self.policy {
            if changes.contains_key("exceptions") {
                let text = "`policy.exceptions` is no setting: each says who made it";
                return Err(BadSetting::new(text, "`daylight policy allow REPO WHAT --why REASON`").into());
            }
            record.policy = Some(Box::new(merge("policy", &*record.policy.take().unwrap_or_default(), changes)?));
        }
        Ok(())
    }
}

/// `before` with `changes` in it, as a JSON merge patch does it (RFC 7396): what is null is taken away.
fn merge<T: Serialize + DeserializeOwned>(name: &str, before: &T, changes: &Map<String, Value>) -> Result<T, Error> {
    let Ok(Value::Object(mut whole)) = serde_json::to_value(before) else { return Err(Error::GivenUp) };
    for (key, value) in changes {
        if value.is_null() {
            whole.remove(key);
        } else {
            whole.insert(key.clone(), value.clone());
        }
    }
    let merged: T = read(name, Value::Object(whole.clone()))?;
    // What does not come back was not understood.
    let Ok(Value::Object(back)) = serde_json::to_value(&merged) else { return Err(Error::GivenUp) };
    match whole.keys().chain(changes.keys()).find(|key| whole.contains_key(*key) && !back.contains_key(*key)) {
        None => Ok(merged),
        Some(key) => {
            let text = format!("`{name}` has no setting `{}`", Event::text(key));
            Err(BadSetting::new(text, "`/api/v1/openapi.json` lists them").into())
        }
    }
}

fn read<T: DeserializeOwned>(name: &str, value: Value) -> Result<T, Error> {
    let of = if name.is_empty() { "the settings".to_owned() } else { format!("`{name}`") };
    serde_json::from_value(value).map_err(|error| {
        BadSetting::new(format!("{of}: {error}"), "`/api/v1/openapi.json` says what each may be").into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn wanted(value: Value) -> Wanted {
        serde_json::from_value(value).unwrap()
    }

    fn remote_public() -> RepositoryRecord {
        let wanted = json!({"name": "m", "format": "maven", "remote": {"urls": ["http://a"], "fresh_s": 5}});
        serde_json::from_value::<WantedRepository>(wanted).unwrap().record(FormatVersion::V2).unwrap()
    }

    #[test]
    fn what_is_not_named_stays_and_what_is_null_goes() {
        let mut record = remote_public();
        assert_eq!(record.kind, RepositoryKind::Remote);
        wanted(json!({"remote": {"credentials": "env:A", "fresh_s": null}, "private": false}))
            .apply(&mut record)
            .unwrap();
        let kept = record.remote.as_ref().unwrap();
        assert_eq!((kept.credentials.as_deref(), kept.fresh_s, kept.urls.len()), (Some("env:A"), None, 1));
        wanted(json!({"remote": {"credentials": null}, "private": true})).apply(&mut record).unwrap();
        assert_eq!((record.remote.unwrap().credentials, record.private), (None, true));
    }

    #[test]
    fn what_an_upstream_shows_to_nobody_else_is_private_unless_somebody_says_otherwise() {
        let made = |remote: Value, private: Option<bool>| {
            let mut wanted = json!({"name": "m", "format": "maven", "remote": remote});
            wanted.as_object_mut().unwrap().extend(private.map(|private| ("private".to_owned(), private.into())));
            serde_json::from_value::<WantedRepository>(wanted).unwrap().record(FormatVersion::V2).unwrap().private
        };
        for secret in ["credentials", "certificate"] {
            let remote = json!({"urls": ["http://a"], secret: "env:A"});
            assert!(made(remote.clone(), None), "{secret}");
            assert_eq!([false, true].map(|said| made(remote.clone(), Some(said))), [false, true]);
            let change = |private: Value| wanted(json!({"remote": {secret: "env:A"}, "private": private}));
            let error = change(Value::Null).apply(&mut remote_public()).unwrap_err();
            assert!(error.to_string().contains(secret) && error.hint().unwrap().contains("`private`"), "{error}");
            for said in [false, true] {
                let mut record = remote_public();
                change(said.into()).apply(&mut record).unwrap();
                assert_eq!(record.private, said);
                // It is decided now.
                wanted(json!({"remote": {secret: "env:B"}})).apply(&mut record).unwrap();
            }
        }
        assert!(!made(json!({"urls": ["http://a"]}), None));
    }

    #[test]
    fn a_change_of_hosts_says_whom_the_credentials_are_for() {
        let mut record = remote_public();
        wanted(json!({"remote": {"credentials": "env:A"}, "private": true})).apply(&mut record).unwrap();
        let moved = |more: Value| {
            let mut change = json!({"urls": ["http://b"]});
            change.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            wanted(json!({"remote": change})).apply(&mut record.clone())
        };
        let error = moved(json!({"fresh_s": 1})).unwrap_err();
        assert!(error.to_string().contains("`remote.urls`") && error.hint().is_some(), "{error}");
        for named in [json!("env:A"), json!("env:B"), Value::Null] {
            moved(json!({"credentials": named})).unwrap();
        }
    }

    #[test]
    fn what_nobody_knows_is_refused_by_its_name() {
        let said = |value| wanted(value).apply(&mut remote_public()).unwrap_err().to_string();
        assert_eq!(said(json!({"remote": {"url": "http://a"}})), "`remote` has no setting `url`");
        assert!(said(json!({"remote": {"fresh_s": "soon"}})).starts_with("`remote`: invalid type"));
        assert!(said(json!({"retention": {"builds": -1}})).starts_with("`retention`: "));
        assert_eq!(said(json!({"policy": {"denied": ["a"]}})), "`policy` has no setting `denied`");
        assert!(said(json!({"policy": {"exceptions": []}})).contains("who made it"));
        let odd = json!({"name": "m", "format": "maven", "colour": "red"});
        let odd: WantedRepository = serde_json::from_value(odd).unwrap();
        assert!(odd.settings().unwrap_err().to_string().contains("`colour`"));
    }
}
