//! The files in a folder of another server.

use anyhow::Context as _;
use std::path::{Path, PathBuf};

/// The files that `wanted` says yes to, in the order of their paths. Links to folders are not followed: they may lead
/// back.
pub(super) fn files(
    folder: &Path,
    depth: usize,
    wanted: &dyn Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, anyhow::Error> {
    let (mut found, mut folders) = (Vec::new(), vec![(folder.to_owned(), depth)]);
    while let Some((folder, depth)) = folders.pop() {
        let unread = || format!("cannot read the folder `{}`", folder.display());
        for entry in std::fs::read_dir(&folder).with_context(unread)? {
            let entry = entry.with_context(unread)?;
            let (path, kind) = (entry.path(), entry.file_type().with_context(unread)?);
            if kind.is_dir() && depth > 1 {
                folders.push((path, depth - 1));
            } else if !kind.is_dir() && wanted(&path) && path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
