//! The ages of versions that follow from files and metadata of an upstream.

use crate::upstream::first_seen::age_key::VersionPath;
use crate::upstream::first_seen::history;
use crate::upstream::first_seen::observation::Observation;
use crate::upstream::release_age::ReportedDate;
use format::maven::metadata::{self, Metadata, moment_of};
use format::maven::path;
use format::maven::snapshot::Build;
use telemetry::Millis;

/// The observation that follows from a file of a version and the upstream's date of it.
pub(crate) fn of_version(
    VersionPath { folder, version }: VersionPath<'_>,
    modified: Option<Millis>,
) -> Vec<Observation> {
    let above = of_snapshot(folder);
    // The name of a build contains its date.
    let made = version.as_deref().and_then(made).filter(|_| above.is_some());
    let date = made.or(modified);
    let told = ReportedDate { date, bound: date.is_none() };
    let versions: Vec<_> = version.map(|version| (version, told)).into_iter().collect();
    let listed = versions.is_empty();
    let here = Observation { folder: folder.to_owned(), versions, listed, ..Observation::default() };
    [here].into_iter().chain(above).collect()
}

/// The observation that follows from the document of this folder, if it lists versions.
pub(crate) fn of_document(folder: &str, document: &Metadata, modified: Option<Millis>) -> Vec<Observation> {
    let here = Observation { folder: folder.to_owned(), listed: true, ..Observation::default() };
    if let Some(above) = of_snapshot(folder) {
        let told = |build: &str| (build.to_owned(), ReportedDate { date: made(build), bound: false });
        return vec![Observation { versions: builds(document).map(|build| told(&build)).collect(), ..here }, above];
    }
    let date = document.updated.as_deref().and_then(moment_of).map(Millis).or(modified);
    let latest = [&document.latest, &document.release].into_iter().flatten();
    let versions = document.versions.iter().chain(latest).map(|version| {
        // The files of a snapshot do not show when its first build was made.
        (version.clone(), ReportedDate { date, bound: !path::is_snapshot(version) })
    });
    vec![Observation { versions: versions.collect(), plugins: document.plugins.iter().map(plugin).collect(), ..here }]
}

/// The existence of a snapshot, if this is the folder of one.
fn of_snapshot(folder: &str) -> Option<Observation> {
    let (above, version) = folder.rsplit_once('/').filter(|(_, version)| path::is_snapshot(version))?;
    let versions = vec![(version.to_owned(), ReportedDate { date: None, bound: true })];
    Some(Observation { folder: above.to_owned(), versions, ..Observation::default() })
}

fn plugin(metadata::Plugin { artifact, prefix, name }: &metadata::Plugin) -> (String, history::Plugin) {
    (artifact.clone(), history::Plugin { prefix: prefix.clone(), name: name.clone() })
}

/// The builds in the document of a snapshot.
pub(crate) fn builds(document: &Metadata) -> impl Iterator<Item = String> {
    let files = document.files.iter().filter_map(|file| Some(Build::trailing(&file.value)?.to_string()));
    let newest = document.snapshot.as_ref().and_then(build);
    files.chain(newest)
}

/// The newest build, if it has a name of its own.
pub(crate) fn build(snapshot: &metadata::Snapshot) -> Option<String> {
    Some(Build { timestamp: snapshot.timestamp.as_deref()?, number: snapshot.number }.to_string())
}

/// The date in the name of a build.
fn made(build: &str) -> Option<Millis> {
    Build::read(build).and_then(|build| moment_of(&build.updated())).map(Millis)
}
