//! Merges the metadata of the members of a group.

use super::facts::sorted;
use super::{File, Metadata, Plugin, Snapshot};
use crate::maven::path::is_snapshot;
use crate::maven::snapshot::Build;
use crate::maven::version::Version;
use std::collections::BTreeMap;

/// Merges documents in the order of the members; on a tie the first member wins. A document with another group or
/// artifact than the first document is left out.
pub fn merge<'a>(documents: impl IntoIterator<Item = &'a Metadata>) -> Metadata {
    let mut documents: Vec<_> = documents.into_iter().collect();
    let first = |of: fn(&Metadata) -> &Option<String>, documents: &[&Metadata]| {
        documents.iter().find_map(|document| of(document).clone())
    };
    let (group, artifact) = (first(|of| &of.group, &documents), first(|of| &of.artifact, &documents));
    documents.retain(|document| {
        let same = |a: &Option<String>, b: &Option<String>| a.is_none() || a == b;
        same(&document.group, &group) && same(&document.artifact, &artifact)
    });
    let versions = sorted(documents.iter().flat_map(|document| document.versions.iter().cloned()).collect());
    let greatest = |of: fn(&Metadata) -> &Option<String>| {
        let said = documents.iter().filter_map(|document| of(document).clone()).collect();
        sorted(said).pop()
    };
    // Some documents have no `versions`. Then only their newest version is known.
    let latest = versions.last().cloned().or_else(|| greatest(|of| &of.latest));
    let release = versions.iter().rfind(|version| !is_snapshot(version)).cloned();
    let release = release.or_else(|| greatest(|of| &of.release));
    let (snapshot, files) = builds(&documents);
    Metadata {
        group,
        artifact,
        version: first(|of| &of.version, &documents),
        latest,
        release,
        versions,
        updated: documents.iter().filter_map(|document| document.updated.clone()).max(),
        snapshot,
        files,
        plugins: plugins(&documents),
        undeclared: documents.iter().any(|document| document.undeclared),
    }
}

/// The newest build, and each file in its newest build. Very old documents have a build and no files; clients then
/// expect every file in that build. So if such a build is the newest, the files of other documents are left out;
/// otherwise that build is left out.
fn builds(documents: &[&Metadata]) -> (Option<Snapshot>, Vec<File>) {
    let age = |snapshot: &Snapshot| (snapshot.timestamp.clone(), snapshot.number);
    let mut newest: Option<(&Snapshot, bool)> = None;
    for document in documents {
        if let Some(snapshot) = &document.snapshot
            && newest.is_none_or(|(found, _)| age(snapshot) > age(found))
        {
            newest = Some((snapshot, document.files.is_empty()));
        }
    }
    let mut files = BTreeMap::<(&str, &str), &File>::new();
    if newest.is_none_or(|(_, without_files)| !without_files) {
        for file in documents.iter().flat_map(|document| &document.files) {
            let found = files.entry((&file.classifier, &file.extension)).or_insert(file);
            if newer(file, found) {
                *found = file;
            }
        }
    }
    (newest.map(|(snapshot, _)| snapshot.clone()), files.into_values().cloned().collect())
}

/// By time and number if both have them. A build is newer than a file that is named after the snapshot.
fn newer(file: &File, than: &File) -> bool {
    match (Build::trailing(&file.value), Build::trailing(&than.value)) {
        (None, None) => (Version::new(&file.value), &file.updated) > (Version::new(&than.value), &than.updated),
        (mine, theirs) => mine > theirs,
    }
}

/// Each plugin once; the first name wins.
fn plugins(documents: &[&Metadata]) -> Vec<Plugin> {
    let mut plugins = BTreeMap::<(&str, &str), &Plugin>::new();
    for plugin in documents.iter().flat_map(|document| &document.plugins) {
        plugins.entry((&plugin.artifact, &plugin.prefix)).or_insert(plugin);
    }
    plugins.into_values().cloned().collect()
}
