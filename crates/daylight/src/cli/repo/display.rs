//! Shows repositories from answers of the API: a row in a table, and the other settings.

use super::hooks::HookFigures;
use super::index::FollowedIndex;
use super::koji_map::{self, KojiMap};
use crate::cli::context::Context;
use crate::cli::{failure, table};
use crate::config::duration;
use crate::formats;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) const HEAD: [&str; 8] = ["NAME", "FORMAT", "KIND", "READ", "PACKAGES", "FILES", "BYTES", "CREATED"];

#[derive(Debug, Deserialize)]
pub(super) struct Repositories {
    pub(super) repositories: Vec<Repository>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Repository {
    pub(super) name: String,
    format: String,
    kind: String,
    pub(super) private: bool,
    #[serde(default)]
    protocols: BTreeMap<String, bool>,
    #[serde(default)]
    info_format: String,
    #[serde(default)]
    versions: String,
    #[serde(default)]
    layout: String,
    #[serde(default)]
    replaceable: bool,
    listing: Option<bool>,
    #[serde(default)]
    retention: Map<String, Value>,
    #[serde(default)]
    keep_versions: Option<u64>,
    #[serde(default)]
    keep_unused: String,
    #[serde(default)]
    members: Vec<String>,
    #[serde(default)]
    claims: Vec<String>,
    #[serde(default)]
    remote: Map<String, Value>,
    #[serde(default)]
    index: Option<FollowedIndex>,
    #[serde(default)]
    koji: Option<KojiMap>,
    #[serde(default)]
    koji_failure: Option<String>,
    #[serde(default)]
    hook_secret: String,
    #[serde(default)]
    hooks: Option<HookFigures>,
    #[serde(default)]
    behind_since: Option<String>,
    #[serde(default)]
    policy: Map<String, Value>,
    #[serde(default)]
    created: String,
    #[serde(default)]
    holds: Option<Holds>,
}

/// What it holds; a group holds nothing itself.
#[derive(Debug, Default, Deserialize)]
struct Holds {
    files: Option<u64>,
    size_bytes: Option<u64>,
    packages: Option<u64>,
}

impl Repository {
    /// Its row in a table.
    pub(super) fn row(self) -> [String; 8] {
        let read = if self.private { "with a token" } else { "anyone" };
        let held = |figure: Option<u64>| figure.map_or_else(|| "-".to_owned(), |figure| figure.to_string());
        let Holds { files, size_bytes, packages } = self.holds.unwrap_or_default();
        let [packages, files, bytes] = [packages, files, size_bytes].map(held);
        [self.name, self.format, self.kind, read.to_owned(), packages, files, bytes, self.created]
    }

    /// Shows it alone, with the settings that differ from the defaults.
    pub(super) fn show(self, context: &mut Context<'_>) -> std::io::Result<()> {
        let settings = self.settings();
        table::write(context.out, HEAD, vec![self.row()])?;
        settings.iter().try_for_each(|(name, value)| writeln!(context.out, "{name}: {}", failure::plain(value)))
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let off: Vec<_> = self.protocols.iter().filter(|(_, on)| !**on).map(|(name, _)| name.as_str()).collect();
        let text = |settings: &Map<String, Value>, name: &str| match settings.get(name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
            Some(other) => other.to_string(),
        };
        let (remote, policy) = (|name| text(&self.remote, name), |name| text(&self.policy, name));
        let hub = self.remote.get("koji").and_then(Value::as_object);
        let koji = |name| hub.map(|hub| text(hub, name)).unwrap_or_default();
        let seconds = |settings: &Map<String, Value>, name: &str| match settings.get(name).and_then(Value::as_u64) {
            Some(seconds) => duration::show(Duration::from_secs(seconds)),
            None => String::new(),
        };
        let all = [
            ("info format", if self.info_format == "v1" { "v1".to_owned() } else { String::new() }),
            ("disabled protocols", off.join(", ")),
            ("versions", self.versions.clone()),
            ("layout", if self.layout == "maven" { String::new() } else { self.layout.clone() }),
            ("files", if self.replaceable { "may be replaced".to_owned() } else { String::new() }),
            ("folders", if self.listing == Some(false) { "not listed".to_owned() } else { String::new() }),
            ("keeps builds", text(&self.retention, "builds")),
            ("keeps days", text(&self.retention, "days")),
            ("keeps versions", self.keep_versions.map(|versions| versions.to_string()).unwrap_or_default()),
            ("keeps unused", self.keep_unused.clone()),
            ("members", self.members.join(", ")),
            ("claims", self.claims.join(", ")),
            ("keeps released days", text(&self.retention, "released_days")),
            ("cooldown", seconds(&self.policy, "cooldown_s")),
            ("allows", policy("allow")),
            ("denies", policy("deny")),
            ("private prefixes", policy("private_prefixes")),
            ("shared", policy("shared")),
            ("upstream", remote("urls")),
            ("Koji hub", koji("hub")),
            ("Koji files", koji("files")),
            ("Koji tags", koji("tags")),
            ("inherited tags", if koji("inherit") == "true" { "included".to_owned() } else { String::new() }),
            ("duplicates", koji("duplicates")),
            ("credentials", remote("credentials")),
            ("proxy", remote("proxy")),
            ("proxy credentials", remote("proxy_credentials")),
            ("without the proxy", remote("no_proxy")),
            ("trusted certificates", remote("trust")),
            ("certificate", remote("certificate")),
            ("checksums", remote("checksums")),
            ("TTL", seconds(&self.remote, "fresh_s")),
            ("TTL of 404 answers", seconds(&self.remote, "missing_s")),
            ("most bytes", remote("max_bytes")),
            ("uses prefixes", remote("prefixes")),
            ("queries", remote("query")),
            ("hook secret", self.hook_secret.clone()),
        ];
        let index = match (&self.index, self.format.as_str(), self.kind.as_str()) {
            (Some(index), ..) => index.lines(&self.name),
            (None, format, "remote") if formats::has_index(format) => {
                vec![("index", "not fetched since the start".to_owned())]
            }
            _ => Vec::new(),
        };
        let map = match (&self.koji, hub) {
            (Some(map), _) => map.lines(),
            (None, Some(_)) => koji_map::none(self.koji_failure.as_deref()),
            (None, None) => Vec::new(),
        };
        let behind = self.behind_since.clone().unwrap_or_default();
        let hooks = self.hooks.iter().flat_map(|hooks| hooks.lines()).chain([("behind its upstream since", behind)]);
        all.into_iter().chain(index).chain(map).chain(hooks).filter(|(_, value)| !value.is_empty()).collect()
    }
}
