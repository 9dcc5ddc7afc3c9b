//! Metadata made from what is known to be there, which is how a hosted repository has it: deployers who come at once lose
//! nothing.

use super::{File, Metadata, Plugin, Snapshot};
use crate::maven::path::is_snapshot;
use crate::maven::snapshot::{Build, build_of};
use crate::maven::version::Version;
use std::collections::BTreeMap;

/// A file of a snapshot that is there. Not a checksum: those have no line of their own; signatures have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotFile<'a> {
    /// The version in its name.
    pub file_version: &'a str,
    /// Its classifier.
    pub classifier: Option<&'a str>,
    /// Its extension.
    pub extension: &'a str,
    /// When it came, in milliseconds since 1970.
    pub came: i64,
}

/// Of an artifact: which versions it has. `changed` is when that changed last, in milliseconds since 1970.
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

/// Of a snapshot: which builds it has, and of each file the newest. A file that is named after the snapshot itself is the one
/// to be had only where no build has it.
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

/// Of a group: which plugins it has.
pub fn plugins(plugins: impl IntoIterator<Item = Plugin>) -> Metadata {
    let mut plugins: Vec<_> = plugins.into_iter().collect();
    plugins.sort_by(|a, b| (&a.artifact, &a.prefix).cmp(&(&b.artifact, &b.prefix)));
    plugins.dedup_by(|a, b| (&a.artifact, &a.prefix) == (&b.artifact, &b.prefix));
    Metadata { plugins, ..Metadata::default() }
}

/// Of a folder, which may be that of an artifact and that of a group: its versions and its plugins, in one document. `there`: the
/// artifact is there, whether or not any of its versions is told. `None`: there is nothing to say.
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
        // Who deploys the first version reads this before.
        (None, Some((group, artifact))) if there => {
            Some(Metadata { group: Some(group.replace('/', ".")), artifact: Some(artifact.to_owned()), ..plugins })
        }
        _ => Some(plugins).filter(|plugins| !plugins.plugins.is_empty()),
    }
}

/// Versions in their order, each once. Equal ones (`1.0`, `1.0.0`) in that of their spelling.
pub(super) fn sorted(versions: Vec<String>) -> Vec<String> {
    let mut versions: Vec<_> = versions.iter().map(|version| Version::new(version)).collect();
    versions.sort_by(|a, b| a.cmp(b).then_with(|| a.as_str().cmp(b.as_str())));
    versions.dedup_by(|a, b| a.as_str() == b.as_str());
    versions.iter().map(|version| version.as_str().to_owned()).collect()
}

/// The moment that metadata writes so (`yyyyMMddHHmmss`, UTC), in milliseconds since 1970.
pub fn moment_of(written: &str) -> Option<i64> {
    let moment = jiff::civil::DateTime::strptime("%Y%m%d%H%M%S", written).ok()?;
    Some(moment.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

/// A moment as metadata writes it: `yyyyMMddHHmmss`, UTC.
fn written(millis: i64) -> String {
    let moment = jiff::Timestamp::from_millisecond(millis).unwrap_or_default();
    moment.strftime("%Y%m%d%H%M%S").to_string()
}
