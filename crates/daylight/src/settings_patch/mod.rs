//! Changes of a repository's settings, as the body of an API call or a table of the configuration file has them. Both are read
//! by the same types, so that neither can say what the other cannot.

use crate::config::duration;
use crate::config::references::References;
use format::gem::info::FormatVersion;
use repository::{BadSetting, Decisions, Error, Format, FormerFiles, Ownership, Protocol};
use repository::{PolicyRecord, RemoteRecord, RepositoryRecord, Retention};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use store::RepositoryKind;
use telemetry::{Event, Millis};

pub(crate) mod credential_guard;
mod koji;

/// A repository with all its settings, as somebody creates or declares it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
#[schemars(rename = "NewRepository")]
pub struct RepositoryDefinition {
    /// Its name.
    #[schemars(extend("pattern" = "^[a-z0-9][a-z0-9._-]{0,63}$"))]
    pub name: String,
    /// Its format's name.
    #[schemars(extend("enum" = format_names()))]
    pub format: String,
    /// Where it is left out: remote where `remote` is there, group where `members` is, else hosted.
    #[serde(default)]
    #[schemars(with = "String", extend("enum" = ["hosted", "remote", "group"]))]
    kind: Option<String>,
    #[serde(flatten)]
    #[schemars(with = "SettingsPatch")]
    settings: Map<String, Value>,
    /// No setting: confirms that the policy of a group hides versions of its hosted members, too. Without it such a change is answered 409
    /// and nothing is changed.
    #[serde(default)]
    pub(crate) include_hosted: bool,
}

/// The names of all formats.
pub(crate) fn format_names() -> Vec<&'static str> {
    Format::ALL.iter().map(|format| format.as_str()).collect()
}

/// Settings to change. A setting that is not named keeps its value.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "an object")]
#[schemars(rename = "Settings")]
pub struct SettingsPatch {
    /// Whether reading needs a token. Where it is left out of a new one: true where `remote` has credentials or a certificate, else false.
    #[schemars(with = "bool")]
    private: Option<bool>,
    /// Index protocols of a repository of gems, and whether they are answered.
    #[schemars(extend("properties" = protocols()))]
    protocols: BTreeMap<String, bool>,
    /// What the lines of `/info` of a repository of gems tell.
    #[schemars(with = "String", extend("enum" = ["v1", "v2"]))]
    info_format: Option<String>,
    /// Whether only the owners of a gem may change it.
    #[schemars(with = "String", extend("enum" = ["recorded", "enforced"]))]
    owners: Option<String>,
    /// Of a group: the names of its members, in the order in which they are asked. They have its format, and may be groups.
    #[schemars(with = "Vec<String>", length(min = 1, max = 300), extend("uniqueItems" = true))]
    members: Option<Vec<String>>,
    /// The upstream that a remote repository stands for.
    #[schemars(with = "RemoteRecord")]
    remote: Option<Map<String, Value>>,
    /// Which versions a hosted repository of Maven takes.
    #[schemars(with = "String", extend("enum" = ["mixed", "releases", "snapshots"]))]
    versions: Option<String>,
    /// Which paths a hosted repository of Maven takes: those of Maven's layout, or any. Files at other paths are plain files, and no
    /// metadata lists them.
    #[schemars(with = "String", extend("enum" = ["maven", "any"]))]
    layout: Option<String>,
    /// Whether a file of a hosted repository of raw files may be published again with other bytes.
    #[schemars(with = "bool")]
    replaceable: Option<bool>,
    /// Whether the folders of a repository of Maven or of raw files are listed as HTML at `/repository/NAME/FOLDER/`, for callers who may
    /// read it. A new repository lists them.
    #[schemars(with = "bool")]
    listing: Option<bool>,
    /// What of a snapshot's builds a hosted repository of Maven keeps: what satisfies either, and always the newest. Without both: all.
    #[schemars(with = "Retention")]
    retention: Option<Map<String, Value>>,
    /// Cleanup keeps so many of the most recently published versions of each package: of hosted repositories of gems and of Maven. Null
    /// removes the rule.
    #[serde(deserialize_with = "named")]
    #[schemars(with = "Option<u64>", range(min = 1))]
    keep_versions: Option<Value>,
    /// Cleanup keeps what was used within this time: a number and s, m, h, d, w or y, at least a day. Of hosted repositories of gems and
    /// of Maven, and of remote repositories. Null removes the rule.
    #[serde(deserialize_with = "named")]
    #[schemars(with = "Option<String>")]
    keep_unused: Option<Value>,
    /// Where the secret of the hooks of a remote repository or a group is, never the secret: `env:NAME` or `file:PATH`. With it, hooks are
    /// signed.
    #[serde(deserialize_with = "named")]
    #[schemars(with = "Option<String>")]
    hook_secret: Option<Value>,
    /// The policy of the repository.
    #[schemars(with = "PolicyRecord")]
    policy: Option<Map<String, Value>>,
    /// The names of gems that a hosted or remote repository claims: in every group they are its own, whatever other members have of them.
    #[schemars(with = "Vec<String>", length(max = 1000))]
    claims: Option<Vec<String>>,
    /// No setting: names that are added to `claims`. Only where the repository exists.
    claim: Vec<String>,
    /// No setting: names that are taken out of `claims`. Only where the repository exists.
    unclaim: Vec<String>,
    /// No setting: what becomes of the files that are kept of the upstream where the first of `remote.urls`, or `hub` or `files` of
    /// `remote.koji`, becomes another. true: releases whose checksums were verified stay; false: none does. Where there are some and it is left out, 409 and nothing is changed.
    #[schemars(with = "bool")]
    keep_cached: Option<bool>,
    /// No setting: confirms that the policy of a group hides versions of its hosted members, too. Without it such a change is answered 409
    /// and nothing is changed.
    include_hosted: bool,
}

impl RepositoryDefinition {
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
    pub fn settings(&self) -> Result<SettingsPatch, Error> {
        if self.settings.contains_key("keep_cached") {
            let text = "`keep_cached` is no setting: it is said with another URL of an upstream";
            return Err(BadSetting::new(text, "`daylight repo set NAME --remote URL --keep-cached`").into());
        }
        if let Some(name) = ["claim", "unclaim"].iter().find(|name| self.settings.contains_key(**name)) {
            let text = format!("`{name}` is no setting: it changes the claims of a repository");
            return Err(BadSetting::new(text, "`claims` has the names of all packages that it claims").into());
        }
        read("", Value::Object(self.settings.clone()))
    }

    /// The record of the new repository; `info_format` is the default for gems.
    pub fn record(&self, info_format: FormatVersion) -> Result<RepositoryRecord, Error> {
        let mut record = RepositoryRecord::new(&self.name, &self.format, self.kind()?, Millis(0));
        let settings = self.settings()?;
        if Format::named(&self.format).is_some_and(Format::has_info) {
            record.info_format = Some(settings.info_format()?.unwrap_or(info_format).as_str().to_owned());
        } else {
            record.info_format.clone_from(&settings.info_format);
        }
        settings.put(&mut record)?;
        record.private = settings.private.unwrap_or_else(|| credential_guard::needs_credentials(&record));
        Ok(record)
    }
}

impl SettingsPatch {
    /// Refuses references to secrets that a caller of the API may not use.
    pub(crate) fn check_references(&self, references: &References) -> Result<(), Error> {
        if let Some(Value::String(secret)) = &self.hook_secret {
            references.check_api("hook_secret", secret)?;
        }
        Ok(self.remote.as_ref().map_or(Ok(()), |changes| credential_guard::check_references(changes, references))?)
    }

    /// Which cached files and which versions of hosted members the changes may take away.
    pub fn decisions(&self) -> Decisions {
        let former_files = match self.keep_cached {
            None => FormerFiles::Undecided,
            Some(true) => FormerFiles::KeepVerified,
            Some(false) => FormerFiles::Drop,
        };
        Decisions { former_files, include_hosted: self.include_hosted }
    }

    /// Whether the URLs of the upstream are among the changes.
    pub fn changes_urls(&self) -> bool {
        self.remote.as_ref().is_some_and(|changes| changes.contains_key("urls") || koji::changes_urls(changes))
    }

    /// The format of `/info`. It is not applied with the other settings, as every line of the index must be rendered again.
    pub fn info_format(&self) -> Result<Option<FormatVersion>, Error> {
        let Some(name) = self.info_format.as_deref() else { return Ok(None) };
        FormatVersion::named(name).map(Some).ok_or_else(|| {
            let text = format!("there is no info format `{}`", Event::text(name));
            BadSetting::new(text, "there are: v1, v2").into()
        })
    }

    /// Applies the changes to the record of an existing repository. Whether the repository can work with them is checked elsewhere;
    /// here it is checked that no change exposes content or credentials without saying so.
    pub fn apply(&self, record: &mut RepositoryRecord) -> Result<(), Error> {
        let before = record.clone();
        self.put(record)?;
        credential_guard::check_readers(&before, record, self.private.is_some())?;
        let named = |name: &str| self.remote.as_ref().is_some_and(|changes| changes.contains_key(name));
        let hint = "name it again in the same call if it is for that host too; null (`none`) takes it away";
        Ok(credential_guard::check_hosts(&before, record, &named, hint)?)
    }

    fn put(&self, record: &mut RepositoryRecord) -> Result<(), Error> {
        record.private = self.private.unwrap_or(record.private);
        for (name, on) in &self.protocols {
            let protocol = protocol(name)?.as_str();
            record.protocols_off.retain(|off| off != protocol);
            if !on {
                record.protocols_off.push(protocol.to_owned());
            }
        }
        if let Some(owners) = &self.owners {
            record.owners_enforced = Ownership::named(owners)? == Ownership::Enforced;
        }
        if let Some(members) = &self.members {
            record.members.clone_from(members);
        }
        if let Some(changes) = &self.remote {
            let changes = koji::with_whole_hub(&record.name, record.remote.as_deref(), changes)?;
            let (is_new, before) = (record.remote.is_none(), record.remote.take().unwrap_or_default());
            let after: Box<RemoteRecord> = merge("remote", &before, &changes)?;
            if !after.is_set() && (is_new || changes.contains_key("urls")) {
                return Err(BadSetting::count_of_urls(0).into());
            }
            record.remote = Some(after);
        }
        if let Some(versions) = &self.versions {
            record.versions = Some(versions.clone());
        }
        if let Some(layout) = &self.layout {
            record.layout = Some(layout.clone());
        }
        record.replaceable = self.replaceable.unwrap_or(record.replaceable);
        record.listing = self.listing.or(record.listing);
        if let Some(changes) = &self.retention {
            record.retention = Some(merge("retention", &record.retention.unwrap_or_default(), changes)?);
        }
        if let Some(versions) = &self.keep_versions {
            record.keep_versions = read("keep_versions", versions.clone())?;
        }
        if let Some(unused) = &self.keep_unused {
            record.keep_unused_s = keep_unused(unused)?;
        }
        if let Some(secret) = &self.hook_secret {
            record.hook_secret = read("hook_secret", secret.clone())?;
        }
        if let Some(changes) = &self.policy {
            if changes.contains_key("exceptions") {
                let text = "`policy.exceptions` is no setting: each says who made it";
                return Err(BadSetting::new(text, "`daylight policy allow REPO WHAT --why REASON`").into());
            }
            record.policy = Some(Box::new(merge("policy", &*record.policy.take().unwrap_or_default(), changes)?));
        }
        self.put_claims(record)
    }

    fn put_claims(&self, record: &mut RepositoryRecord) -> Result<(), Error> {
        if let Some(claims) = &self.claims {
            record.claims.clone_from(claims);
        }
        record.claims.extend(self.claim.iter().cloned());
        for name in &self.unclaim {
            let claims = record.claims.len();
            record.claims.retain(|claim| claim != name);
            if record.claims.len() == claims {
                let text = format!("`{}` does not claim `{}`", record.name, Event::text(name));
                let hint = format!("`daylight repo show {}` lists what it claims", record.name);
                return Err(BadSetting::new(text, &hint).into());
            }
        }
        Ok(())
    }
}

/// The schema of each protocol's switch.
fn protocols() -> Map<String, Value> {
    Protocol::ALL.iter().map(|protocol| (protocol.as_str().to_owned(), json!({ "type": "boolean" }))).collect()
}

/// A setting that is named, also as null.
fn named<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// The seconds of a duration; `None`: null.
fn keep_unused(value: &Value) -> Result<Option<u64>, Error> {
    let Some(text) = read::<Option<String>>("keep_unused", value.clone())? else { return Ok(None) };
    let parsed =
        duration::parse(&text).map_err(|why| BadSetting::new(format!("`keep_unused`: {why}"), "such as `90d`"))?;
    Ok(Some(parsed.as_secs()))
}

/// The index protocol of that name.
fn protocol(name: &str) -> Result<Protocol, Error> {
    Protocol::named(name).ok_or_else(|| Error::NoSuchProtocol(Event::text(name)))
}

/// Merges `changes` into `before` as a JSON merge patch (RFC 7396): null removes a setting.
fn merge<T: Serialize + DeserializeOwned>(name: &str, before: &T, changes: &Map<String, Value>) -> Result<T, Error> {
    let Ok(Value::Object(mut target)) = serde_json::to_value(before) else { return Err(Error::GivenUp) };
    for (key, value) in changes {
        if value.is_null() {
            target.remove(key);
        } else {
            target.insert(key.clone(), value.clone());
        }
    }
    let merged: T = read(name, Value::Object(target.clone()))?;
    // A key that is lost on the way through the type is unknown to it.
    let Ok(Value::Object(back)) = serde_json::to_value(&merged) else { return Err(Error::GivenUp) };
    match target.keys().chain(changes.keys()).find(|key| target.contains_key(*key) && !back.contains_key(*key)) {
        None => Ok(merged),
        Some(key) => {
            let text = format!("`{name}` has no setting `{}`", Event::text(key));
            Err(BadSetting::new(text, "`/api/v1/openapi.json` lists them").into())
        }
    }
}

fn read<T: DeserializeOwned>(name: &str, value: Value) -> Result<T, Error> {
    let what = if name.is_empty() { "the settings".to_owned() } else { format!("`{name}`") };
    serde_json::from_value(value).map_err(|error| {
        BadSetting::new(format!("{what}: {error}"), "`/api/v1/openapi.json` says what each may be").into()
    })
}

#[cfg(test)]
mod tests;
