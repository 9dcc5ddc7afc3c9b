//! `daylight import maven`.

mod sums;
mod tree;
mod upload;

use super::Way;
use super::outcome::Brought;
use crate::cli::progress::Bar;
use crate::cli::site::Site;
use crate::cli::{Context, crew};
use store::Progress;
use upload::Upload;

pub(super) fn bring(way: &Way, site: &Site, context: &mut Context<'_>) -> Result<Brought, anyhow::Error> {
    let tree = tree::read(&way.dir)?;
    let total = tree.folders.iter().map(|folder| folder.len() as u64).sum();
    writeln!(context.err, "`{}` has {total} files of {} versions", way.dir.display(), tree.folders.len())?;
    if tree.left_out > 0 {
        writeln!(context.err, "{} other files are of no artifact and stay away", tree.left_out)?;
    }
    let bar = Bar::new();
    let (tell, told) = std::sync::mpsc::channel();
    let mut done = 0;
    // One folder after the other for each upload: a version is whole soon, and no two wait for each other's.
    let all = crew::each(
        usize::from(way.jobs),
        tree.folders,
        || Upload::new(site),
        |upload, folder| upload.folder(folder, &|| tell.send(()).unwrap_or_default()),
        |_| {
            done += told.try_iter().count() as u64;
            bar.show(Progress { done, total, of: "files" });
        },
    );
    drop(bar);
    let outcomes = all?.into_iter().flatten().collect();
    Ok(Brought {
        source: "a Maven repository".to_owned(),
        things: "files",
        outcomes,
        left: ("left_out", tree.left_out),
        outside: tree.outside,
    })
}
