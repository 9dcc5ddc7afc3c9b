//! Renders metadata from the versions and files that exist. Hosted repositories do this, so that concurrent deploys
//! lose nothing.

use super::{File, Metadata, Plugin, Snapshot};
use crate::maven::path::is_snapshot;
use crate::maven::snapshot::{Build, build_of};
use crate::maven::version::Version;
use std::collections::BTreeMap;

/// An existing file of a snapshot. Signatures have entries of their own, checksums have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotFile<'a> {
    /// The version in its name.
    pub file_version: &'a str,
    /// Its classifier.
    pub classifier: Option<&'a str>,
    /// Its extension.
    pub extension: &'a str,
    /// The time of its upload, in milliseconds since 1970.
    pub came: i64,
}

/// The metadata of an artifact: its versions. `changed` is the time of the last change, in milliseconds since 1970.
pub fn versions<'a>(
    group: &str,
    artifact: &str,
    versions: impl IntoIterator<Item = &'a str>,
    changed: i64,
) -> Metadata {
    let versions = sorted(versions.into_iter().map(str::to_owned).collect());
    Metadata {
        group: Some(group.to_owned()),
        artifact: Some(artifact.to_owned()),
        latest: versions.last().cloned(),
        release: versions.iter().rfind(|version| !is_snapshot(version)).cloned(),
        versions,
        updated: Some(written(changed)),
        ..Metadata::default()
    }
}

/// The metadata of a snapshot: its builds, and each file in its newest build. A file named after the snapshot itself
/// is listed only if no build has it.
pub fn snapshot<'a>(
    group: &str,
    artifact: &str,
    version: &str,
    files: impl IntoIterator<Item = SnapshotFile<'a>>,
) -> Metadata {
    let mut newest = BTreeMap::<(&str, &str), (Option<Build<'_>>, SnapshotFile<'_>)>::new();
    let (mut last, mut came) = (None, i64::MIN);
    for file in files {
        let build = build_of(version, file.file_version);
        last = last.max(build);
        came = came.max(file.came);
        let found = newest.entry((file.classifier.unwrap_or_default(), file.extension)).or_insert((build, file));
        if (build, file.came) > (found.0, found.1.came) {
            *found = (build, file);
        }
    }
    let files = newest.into_iter().map(|((classifier, extension), (build, file))| File {
        classifier: classifier.to_owned(),
        extension: extension.to_owned(),
        value: file.file_version.to_owned(),
        updated: Some(build.map_or_else(|| written(file.came), |build| build.updated())),
    });
    let files: Vec<_> = files.collect();
    Metadata {
        group: Some(group.to_owned()),
        artifact: Some(artifact.to_owned()),
        version: Some(version.to_owned()),
        updated: files.iter().filter_map(|file| file.updated.clone()).max(),
        snapshot: last.map(|build| Snapshot {
            timestamp: Some(build.timestamp.to_owned()),
            number: build.number,
            local: false,
        }),
        files,
        ..Metadata::default()
    }
}

/// The metadata of a group: its plugins.
pub fn plugins(plugins: impl IntoIterator<Item = Plugin>) -> Metadata {
    let mut plugins: Vec<_> = plugins.into_iter().collect();
    plugins.sort_by(|a, b| (&a.artifact, &a.prefix).cmp(&(&b.artifact, &b.prefix)));
    plugins.dedup_by(|a, b| (&a.artifact, &a.prefix) == (&b.artifact, &b.prefix));
    Metadata { plugins, ..Metadata::default() }
}

/// The metadata of a folder, which may belong to an artifact and to a group: its versions and its plugins in one
/// document. `there`: the artifact exists, even if all its versions are hidden. `None`: there is neither a version nor
/// a plugin.
pub fn listing<'a>(
    folder: &str,
    listed: impl IntoIterator<Item = &'a str>,
    there: bool,
    plugins: impl IntoIterator<Item = Plugin>,
    changed: i64,
) -> Option<Metadata> {
    let plugins = self::plugins(plugins);
    let mut listed = listed.into_iter().peekable();
    match (listed.peek(), folder.rsplit_once('/')) {
        (Some(_), Some((group, artifact))) => {
            let versions = versions(&group.replace('/', "."), artifact, listed, changed);
            Some(Metadata { plugins: plugins.plugins, ..versions })
        }
        // A client reads this before it deploys the first version.
        (None, Some((group, artifact))) if there => {
            Some(Metadata { group: Some(group.replace('/', ".")), artifact: Some(artifact.to_owned()), ..plugins })
        }
        _ => Some(plugins).filter(|plugins| !plugins.plugins.is_empty()),
    }
}

/// Versions in order, each once. Equal versions (`1.0`, `1.0.0`) are ordered by their spelling.
pub(super) fn sorted(versions: Vec<String>) -> Vec<String> {
    let mut versions: Vec<_> = versions.iter().map(|version| Version::new(version)).collect();
    versions.sort_by(|a, b| a.cmp(b).then_with(|| a.as_str().cmp(b.as_str())));
    versions.dedup_by(|a, b| a.as_str() == b.as_str());
    versions.iter().map(|version| version.as_str().to_owned()).collect()
}

/// Parses a time of metadata (`yyyyMMddHHmmss`, UTC) into milliseconds since 1970.
pub fn moment_of(written: &str) -> Option<i64> {
    let moment = jiff::civil::DateTime::strptime("%Y%m%d%H%M%S", written).ok()?;
    Some(moment.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

/// Writes a time as metadata does: `yyyyMMddHHmmss`, UTC.
fn written(millis: i64) -> String {
    let moment = jiff::Timestamp::from_millisecond(millis).unwrap_or_default();
    moment.strftime("%Y%m%d%H%M%S").to_string()
}
