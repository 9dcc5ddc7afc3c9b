//! `daylight import maven` and `daylight import raw`: uploads a tree of files.

mod checksums;
mod closed;
mod decision;
mod metadata_dates;
mod names;
mod parent_folder;
mod tree;
mod upload;

use super::flags::{ImportFlags, NameFlags, Paths};
use super::report::{FileOutcome, ImportReport, LeftOut};
use crate::cli::context::Context;
use crate::cli::import::origin::Claims;
use crate::cli::parallel;
use crate::cli::progress::Bar;
use crate::cli::repository_client::RepositoryClient;
use closed::Closed;
use std::collections::BTreeSet;
use store::Progress;
use tree::ArtifactTree;
use upload::MavenUploader;

/// Uploads a folder. `None`: it was only to be shown what would be uploaded.
pub(super) fn import(
    flags: &ImportFlags,
    paths: Paths,
    names: Option<&NameFlags>,
    repository: &RepositoryClient,
    context: &mut Context<'_>,
) -> anyhow::Result<Option<ImportReport>> {
    let mut tree = tree::read(&flags.dir, paths)?;
    let files = |tree: &ArtifactTree| tree.folders.iter().map(|folder| folder.len() as u64).sum();
    let found: u64 = files(&tree);
    writeln!(context.err, "`{}` has {found} files in {} folders", flags.dir.display(), tree.folders.len())?;
    if let Some(left_out) = tree.left_out_shown() {
        writeln!(context.err, "{left_out}")?;
    }
    let mut decided = None;
    if let Some(flags_of_names) = names {
        let decision = names::decide(&tree, flags_of_names, repository, context)?;
        if !decision.goes_on(flags, flags_of_names, context)? {
            return Ok(None);
        }
        for folder in &mut tree.folders {
            folder.retain(|file| decision.is_ours(&file.path));
        }
        tree.folders.retain(|folder| !folder.is_empty());
        decided = Some(decision);
    }
    let total = files(&tree);
    let (bar, claims) = (Bar::new(), Claims::new());
    let (sender, files) = std::sync::mpsc::channel();
    let mut done = 0;
    // A thread uploads one folder after the other, so that versions are complete early and threads do not wait for each other.
    let all = parallel::map(
        usize::from(flags.jobs),
        tree.folders,
        || MavenUploader::new(repository, &claims, paths),
        |uploader, folder| uploader.folder(folder, &|| sender.send(()).unwrap_or_default()),
        |_| {
            done += files.try_iter().count() as u64;
            bar.show(Progress { done, total, of: "files" });
        },
    );
    drop(bar);
    let (mut outcomes, mut brought, mut takes) = (Vec::new(), BTreeSet::new(), None);
    for folder in all? {
        let is_new = folder.files.iter().any(|outcome| matches!(outcome, FileOutcome::Uploaded { .. }));
        brought.extend(folder.name.filter(|_| is_new));
        outcomes.extend(folder.files);
        takes = takes.or(folder.takes);
    }
    let closed = decided.as_ref().map(|decision| decision.closed(&brought)).unwrap_or_default();
    let mut names = decided.map(|decision| decision.to_json());
    if let Some(names) = &mut names {
        names["closed"] = serde_json::json!(closed);
    }
    let left_out = LeftOut { key: "left_out", files: tree.left_out.len() as u64, links_outside: tree.links_outside };
    Ok(Some(ImportReport {
        source: if paths == Paths::Raw { "a folder of files" } else { "a Maven repository" }.to_owned(),
        noun: "files",
        outcomes,
        left_out,
        names,
        closing: closed.iter().map(Closed::notice).collect(),
        hint: takes
            .map(|repository| format!("`--into {repository}` imports the versions that this repository does not take")),
    }))
}
