//! Exports Maven artifacts, with the checksums and the metadata that clients and other servers expect beside them.

use crate::cli::export::place::{ExportJob, Placed};
use crate::cli::export::tree::{self, Beside, ListedFile};
use format::maven::path::{self, Kind, METADATA, signature_of};
use std::collections::BTreeSet;

/// Writes the files into a folder. Clients publish no checksums of signatures.
pub(super) fn export(job: &ExportJob<'_>) -> anyhow::Result<Vec<Placed>> {
    tree::export(job, &Beside { documents: metadata, has_sums: |path| signature_of(path).is_none() })
}

/// The paths of the metadata for these files. Only groups with plugins have metadata.
fn metadata(files: &[ListedFile]) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for file in files {
        let Some(Kind::Artifact(artifact)) = path::read(&file.path).map(|read| read.kind) else { continue };
        let package = format!("{}/{}", artifact.group, artifact.artifact);
        let snapshot = artifact.snapshot().then(|| format!("{package}/{}", artifact.version));
        let folders = [artifact.group.to_owned(), package].into_iter().chain(snapshot);
        paths.extend(folders.map(|folder| format!("{folder}/{METADATA}")));
    }
    paths
}
