//! The rules of the gem format for settings and policies.

use crate::bad_setting::BadSetting;
use crate::cleanup::used_name::UsedName;
use crate::format::rules::{AMBIGUOUS_PATH, Coordinates, FormatRules, NamePlace, PatternSyntax, PrefixSyntax};
use crate::gem::claims;
use crate::gem::ownership::Ownership;
use crate::gem::protocol::Protocol;
use crate::record::RepositoryRecord;
use format::gem::info::FormatVersion;
use format::gem::path;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use store::Entry;
use telemetry::Event;

/// The rules of the gem format.
pub(crate) struct GemRules;

/// The format of `/info` lines in a repository with these settings.
pub(crate) fn info_format(record: &RepositoryRecord) -> FormatVersion {
    record.info_format.as_deref().and_then(FormatVersion::named).unwrap_or_default()
}

/// The stored value of `info_format`. The default is not stored.
pub(crate) fn kept_info_format(format: FormatVersion) -> Option<String> {
    (format != FormatVersion::default()).then(|| format.as_str().to_owned())
}

impl FormatRules for GemRules {
    fn name(&self) -> &'static str {
        "gem"
    }

    fn has_queries(&self) -> bool {
        false
    }

    fn settle(&self, record: &mut RepositoryRecord, own: bool) -> Result<(), BadSetting> {
        if let Some(name) = &record.info_format {
            let there_is_none =
                || BadSetting::new(format!("there is no info format `{}`", Event::text(name)), "there are: v1, v2");
            record.info_format = kept_info_format(FormatVersion::named(name).ok_or_else(there_is_none)?);
        }
        let settings = [
            ("protocols", !record.protocols_off.is_empty()),
            ("owners", record.owners_enforced),
            ("info_format", record.info_format.is_some()),
        ];
        match settings.iter().find(|(_, set)| *set && !own) {
            Some((name, _)) => Err(BadSetting::not_for(name, record, "repositories of gems")),
            None => claims::settle(record, own),
        }
    }

    fn settle_hosted(&self, _: &mut RepositoryRecord, _: bool) -> Result<(), BadSetting> {
        Ok(())
    }

    fn hosted_settings(&self, record: &RepositoryRecord) -> Value {
        let protocols = Protocol::ALL.iter().map(|protocol| (protocol.as_str(), protocol.is_on(record)));
        json!({
            "protocols": protocols.collect::<BTreeMap<_, _>>(),
            "info_format": info_format(record).as_str(),
            "owners": Ownership::of(record).as_str(),
        })
    }

    fn has_info(&self) -> bool {
        true
    }

    fn has_packages(&self) -> bool {
        true
    }

    fn is_tree(&self) -> bool {
        false
    }

    fn refuses_files(&self, name: &str) -> Option<BadSetting> {
        let text = format!("`{name}` holds gems, which are listed and withdrawn as gems");
        Some(BadSetting::new(text, "`gem list --remote` and `gem yank`"))
    }

    fn entry<'a>(&self, entry: &'a Entry) -> Option<Coordinates<'a>> {
        let number = entry.facts["number"].as_str().unwrap_or_default();
        Some(Coordinates { package: Cow::Borrowed(&entry.unit), version: Cow::Borrowed(number) })
    }

    fn listed<'a>(&self, entry: &'a Entry) -> Coordinates<'a> {
        // The version with its platform.
        let version = entry.key.strip_prefix(&entry.unit).and_then(|rest| rest.strip_prefix('-'));
        Coordinates { package: Cow::Borrowed(&entry.unit), version: Cow::Borrowed(version.unwrap_or_default()) }
    }

    fn unit<'a>(&self, unit: &'a str) -> Coordinates<'a> {
        // First-seen rows of an upstream have units of the forms `versions//seen/U` and `info/NAME//seen/U`.
        let package = match unit.split_once("//") {
            Some((seen, _)) => seen.strip_prefix("info/").unwrap_or_default(),
            None => unit,
        };
        Coordinates { package: Cow::Borrowed(package), version: Cow::Borrowed("") }
    }

    fn checksum_of<'a>(&self, _: &'a str) -> Option<&'a str> {
        None
    }

    fn patterns(&self) -> &'static PatternSyntax {
        &PatternSyntax { fields: 2, last_holds_colons: false, examples: "`rack`, `rack-*` or `rack:3.0.0`" }
    }

    fn fields<'a>(&self, package: &'a str, version: &'a str) -> [Option<&'a str>; 3] {
        [Some(package), Some(version), None]
    }

    fn prefixes(&self) -> &'static PrefixSyntax {
        &PrefixSyntax { separator: None, example: "such as `example-`: any name that begins so is private" }
    }

    fn prefixed<'a>(&self, package: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(package)
    }

    fn names_ignore_case(&self) -> bool {
        // A name is looked up in the upstream's index, which has it in one spelling.
        false
    }

    fn unclassified(&self) -> &'static str {
        AMBIGUOUS_PATH
    }

    fn download(&self) -> &'static str {
        "gem"
    }

    fn used_name<'a>(&self, file: &str, _: &'a str, version: &'a str) -> Option<UsedName<'a>> {
        matches!(file, "gem" | "gemspec").then_some(UsedName::Own(version))
    }

    fn is_package(&self, _: &str) -> bool {
        true
    }

    fn named_path<'a>(&self, what: &'a str) -> Cow<'a, str> {
        let what = what.trim_matches('/');
        match what.split_once(':') {
            Some((name, version)) if !what.contains('/') && !version.contains(':') => {
                Cow::Owned(format!("gems/{name}-{version}.gem"))
            }
            None if !what.contains('/') && is_full_name(what) => {
                Cow::Owned(format!("gems/{}.gem", what.strip_suffix(".gem").unwrap_or(what)))
            }
            _ => Cow::Borrowed(what),
        }
    }

    fn explained_path<'a>(&self, path: &'a str) -> Cow<'a, str> {
        match self.named_path(path) {
            Cow::Borrowed(_) if !path.contains(['/', ':']) && !path.is_empty() && path::read(path).is_none() => {
                Cow::Owned(format!("info/{path}"))
            }
            Cow::Borrowed(_) => Cow::Borrowed(path),
            named => named,
        }
    }

    fn path_in_package(&self, _: &str) -> Option<String> {
        None
    }

    fn published_at(&self, entry: &Entry) -> (String, Option<(String, String)>) {
        let (unit, key) = (&entry.unit, &entry.key);
        let version = key[unit.len().min(key.len())..].trim_start_matches('-');
        (format!("gems/{key}.gem"), Some((unit.clone(), version.to_owned())))
    }

    fn restored_as(&self, entry: &Entry) -> String {
        entry.key.replacen(&format!("{}-", entry.unit), &format!("{}:", entry.unit), 1)
    }

    fn version_folder(&self, _: &str) -> Option<(String, String)> {
        None
    }

    fn has_yanks(&self) -> bool {
        true
    }

    fn moments(&self) -> &'static [&'static str] {
        &[]
    }

    fn kept_by_unit(&self, unit: &str) -> String {
        unit.to_owned()
    }

    fn name_place<'a>(&self, name: &'a str) -> NamePlace<'a> {
        NamePlace::Unit(name)
    }
}

/// Whether it reads as `NAME-NUMBER`.
fn is_full_name(text: &str) -> bool {
    text.match_indices('-').any(|(at, _)| text[at + 1..].starts_with(|c: char| c.is_ascii_digit()))
}
