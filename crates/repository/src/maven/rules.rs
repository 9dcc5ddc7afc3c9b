//! The rules of the Maven format for settings and policies.

use crate::bad_setting::BadSetting;
use crate::cleanup::used_name::UsedName;
use crate::format::rules::{Coordinates, FormatRules, NamePlace, PatternSyntax, PrefixSyntax};
use crate::maven::koji::rows::told;
use crate::maven::layout_policy::LayoutPolicy;
use crate::maven::version_policy::VersionPolicy;
use crate::record::{RepositoryRecord, Retention};
use format::maven::path;
use format::tree;
use serde_json::{Value, json};
use std::borrow::Cow;
use store::Entry;

/// The rules of Maven.
pub(crate) struct MavenRules;

/// Maximum for the number of kept builds, and of days.
const KEPT_MAX: u64 = 100_000;
/// The repositories that have these settings.
const HOSTED: &str = "hosted repositories of format maven";

static PATTERNS: PatternSyntax = PatternSyntax {
    fields: 3,
    last_holds_colons: false,
    examples: "`org.example.*`, `org.example:lamp` or `org.example:lamp:1.*`",
};

static PREFIXES: PrefixSyntax = PrefixSyntax {
    separator: Some('.'),
    example: "a group such as `com.example`, which stands for those below it, too",
};

/// A version of an artifact. The group is given as folders.
pub(crate) fn coordinates<'a>(group: &str, artifact: &str, version: &'a str) -> Coordinates<'a> {
    Coordinates { package: Cow::Owned(name(group, artifact)), version: Cow::Borrowed(version) }
}

/// `G:A` of an artifact. The group is given as folders.
fn name(group: &str, artifact: &str) -> String {
    format!("{}:{artifact}", group.replace('/', "."))
}

impl FormatRules for MavenRules {
    fn name(&self) -> &'static str {
        "maven"
    }

    fn has_queries(&self) -> bool {
        false
    }

    fn settle(&self, record: &mut RepositoryRecord, own: bool) -> Result<(), BadSetting> {
        match record.koji() {
            Some(_) if !own => {
                let text = "`remote.koji` is a setting of remote repositories of format maven";
                Err(BadSetting::new(text, &format!("make it with `--format maven`, not {}", record.format)))
            }
            _ => Ok(()),
        }
    }

    fn settle_hosted(&self, record: &mut RepositoryRecord, own: bool) -> Result<(), BadSetting> {
        let policy = record.versions.as_deref().map(VersionPolicy::named).transpose()?;
        if policy.is_some() && !own {
            return Err(BadSetting::not_for("versions", record, HOSTED));
        }
        record.versions =
            policy.filter(|policy| *policy != VersionPolicy::Mixed).map(|policy| policy.as_str().to_owned());
        let layout = record.layout.as_deref().map(LayoutPolicy::named).transpose()?;
        if layout.is_some() && !own {
            return Err(BadSetting::not_for("layout", record, HOSTED));
        }
        record.layout = layout.filter(|layout| *layout != LayoutPolicy::Maven).map(|layout| layout.as_str().to_owned());
        record.retention = record.retention.filter(|retention| *retention != Retention::default());
        let Some(Retention { builds, days, released_days }) = record.retention else { return Ok(()) };
        if !own {
            return Err(BadSetting::not_for("retention", record, HOSTED));
        }
        if policy == Some(VersionPolicy::Releases) {
            let text = "`retention` is about snapshots, and the repository takes releases only";
            return Err(BadSetting::new(text, "releases are kept until somebody deletes them"));
        }
        BadSetting::check_range("retention.builds", builds, 1..=KEPT_MAX)?;
        BadSetting::check_range("retention.days", days, 1..=KEPT_MAX)?;
        BadSetting::check_range("retention.released_days", released_days, 0..=KEPT_MAX)
    }

    fn hosted_settings(&self, record: &RepositoryRecord) -> Value {
        json!({
            "versions": VersionPolicy::of(record).as_str(),
            "layout": LayoutPolicy::of(record).as_str(),
            "retention": record.retention.unwrap_or_default(),
        })
    }

    fn has_info(&self) -> bool {
        false
    }

    fn has_packages(&self) -> bool {
        true
    }

    fn is_tree(&self) -> bool {
        true
    }

    fn refuses_files(&self, _: &str) -> Option<BadSetting> {
        None
    }

    fn entry<'a>(&self, entry: &'a Entry) -> Option<Coordinates<'a>> {
        let (group, artifact, version) = path::version_of(&entry.key)?;
        Some(coordinates(group, artifact, version))
    }

    fn listed<'a>(&self, entry: &'a Entry) -> Coordinates<'a> {
        let path = Coordinates { package: Cow::Borrowed(&entry.key), version: Cow::Borrowed("") };
        self.entry(entry).unwrap_or(path)
    }

    fn unit<'a>(&self, unit: &'a str) -> Coordinates<'a> {
        let (folder, what) = unit.split_once("//").unwrap_or((unit, ""));
        match folder.rsplit_once('/') {
            Some((group, artifact)) => coordinates(group, artifact, what.strip_prefix("versions/").unwrap_or_default()),
            None => Coordinates { package: Cow::Borrowed(folder), version: Cow::Borrowed("") },
        }
    }

    fn first_seen(&self, unit: &str, seen: &Value) -> Option<String> {
        let (unit, _) = unit.split_once("//").unwrap_or((unit, ""));
        (unit == told::UNIT).then(|| told::told(seen)).flatten()
    }

    fn checksum_of<'a>(&self, _: &'a str) -> Option<&'a str> {
        None
    }

    fn patterns(&self) -> &'static PatternSyntax {
        &PATTERNS
    }

    fn fields<'a>(&self, package: &'a str, version: &'a str) -> [Option<&'a str>; 3] {
        let (group, artifact) = package.split_once(':').unwrap_or((package, ""));
        [Some(group), Some(artifact), Some(version)]
    }

    fn prefixes(&self) -> &'static PrefixSyntax {
        &PREFIXES
    }

    /// A group can be the folder of an artifact of the group above it.
    fn prefixed<'a>(&self, package: &'a str) -> Cow<'a, str> {
        Cow::Owned(package.replace(':', "."))
    }

    fn names_ignore_case(&self) -> bool {
        true
    }

    fn unclassified(&self) -> &'static str {
        "by its path it cannot be told of which artifact it is, and so not whether it may be seen"
    }

    fn download(&self) -> &'static str {
        "artifact"
    }

    fn used_name<'a>(&self, file: &str, package: &'a str, version: &'a str) -> Option<UsedName<'a>> {
        matches!(file, "artifact" | "pom" | "checksum").then_some(UsedName::Version { package, version })
    }

    fn is_package(&self, name: &str) -> bool {
        // The path of a file has no colon.
        name.contains(':')
    }

    /// The folder of `G:A` or `G:A:V`.
    fn named_path<'a>(&self, what: &'a str) -> Cow<'a, str> {
        match what.split_once(':') {
            Some((group, rest)) => Cow::Owned(format!("{}/{}", group.replace('.', "/"), rest.replace(':', "/"))),
            None => Cow::Borrowed(what.trim_matches('/')),
        }
    }

    fn explained_path<'a>(&self, path: &'a str) -> Cow<'a, str> {
        let fields: Vec<&str> = path.split(':').collect();
        match &fields[..] {
            _ if path.contains('/') => Cow::Borrowed(path),
            [_, artifact, version] if !version.ends_with("-SNAPSHOT") => {
                Cow::Owned(format!("{}/{artifact}-{version}.pom", self.named_path(path)))
            }
            [_, _] | [_, _, _] => Cow::Owned(format!("{}/maven-metadata.xml", self.named_path(path))),
            _ => Cow::Borrowed(path),
        }
    }

    fn path_in_package(&self, package: &str) -> Option<String> {
        let (group, artifact) = package.split_once(':')?;
        Some(format!("{}/{artifact}/0/{artifact}-0.pom", group.replace('.', "/")))
    }

    fn published_at(&self, entry: &Entry) -> (String, Option<(String, String)>) {
        let named = path::version_of(&entry.key);
        let named = named.map(|(group, artifact, version)| (name(group, artifact), version.to_owned()));
        (entry.key.clone(), named)
    }

    fn restored_as(&self, entry: &Entry) -> String {
        entry.key.clone()
    }

    fn version_folder(&self, file: &str) -> Option<(String, String)> {
        let (group, artifact, version) = path::version_of(file)?;
        Some((format!("{group}/{artifact}/{version}/"), format!("{}:{version}", name(group, artifact))))
    }

    fn has_yanks(&self) -> bool {
        false
    }

    /// Of items of metadata.
    fn moments(&self) -> &'static [&'static str] {
        &["published", "changed", "origin"]
    }

    /// The unit is the folder of a version.
    fn kept_by_unit(&self, unit: &str) -> String {
        tree::folder(unit).to_owned()
    }

    fn name_place<'a>(&self, name: &'a str) -> NamePlace<'a> {
        NamePlace::Folder(name)
    }
}
