//! `daylight import maven` and `daylight import raw`: uploads a tree of files.

mod checksums;
mod metadata_dates;
mod tree;
mod upload;

use super::flags::{ImportFlags, Paths};
use super::report::{ImportReport, LeftOut};
use crate::cli::context::Context;
use crate::cli::import::origin::Claims;
use crate::cli::parallel;
use crate::cli::progress::Bar;
use crate::cli::repository_client::RepositoryClient;
use store::Progress;
use upload::MavenUploader;

pub(super) fn import(
    flags: &ImportFlags,
    paths: Paths,
    repository: &RepositoryClient,
    context: &mut Context<'_>,
) -> Result<ImportReport, anyhow::Error> {
    let tree = tree::read(&flags.dir, paths)?;
    let total = tree.folders.iter().map(|folder| folder.len() as u64).sum();
    writeln!(context.err, "`{}` has {total} files in {} folders", flags.dir.display(), tree.folders.len())?;
    if tree.left_out > 0 {
        writeln!(context.err, "{} other files are left out", tree.left_out)?;
    }
    let (bar, claims) = (Bar::new(), Claims::new());
    let (sender, files) = std::sync::mpsc::channel();
    let mut done = 0;
    // A thread uploads one folder after the other, so that versions are complete early and threads do not wait for each other.
    let all = parallel::map(
        usize::from(flags.jobs),
        tree.folders,
        || MavenUploader::new(repository, &claims),
        |uploader, folder| uploader.folder(folder, &|| sender.send(()).unwrap_or_default()),
        |_| {
            done += files.try_iter().count() as u64;
            bar.show(Progress { done, total, of: "files" });
        },
    );
    drop(bar);
    let outcomes = all?.into_iter().flatten().collect();
    let left_out = LeftOut { key: "left_out", files: tree.left_out, links_outside: tree.links_outside };
    Ok(ImportReport {
        source: if paths == Paths::Raw { "a folder of files" } else { "a Maven repository" }.to_owned(),
        noun: "files",
        outcomes,
        left_out,
    })
}
