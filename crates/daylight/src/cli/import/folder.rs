//! The files in a folder of another server.

use anyhow::Context as _;
use std::path::{Path, PathBuf};

/// What is in a folder.
#[derive(Debug)]
pub(super) struct Files {
    /// In the order of their paths.
    pub(super) found: Vec<PathBuf>,
    /// How many links to files lead out of what is imported. They stay away: whoever may write in the folder would have
    /// files published that only the importer reads.
    pub(super) outside: u64,
}

/// The files below `folder`, a part of `all` that is imported, to which `wanted` says yes. Links to folders are not
/// followed: they may lead back.
pub(super) fn files(
    all: &Path,
    folder: &Path,
    depth: usize,
    wanted: &dyn Fn(&Path) -> bool,
) -> Result<Files, anyhow::Error> {
    let inside = all.canonicalize().with_context(|| format!("cannot read the folder `{}`", all.display()))?;
    let mut outside = 0;
    let (mut found, mut folders) = (Vec::new(), vec![(folder.to_owned(), depth)]);
    while let Some((folder, depth)) = folders.pop() {
        let unread = || format!("cannot read the folder `{}`", folder.display());
        for entry in std::fs::read_dir(&folder).with_context(unread)? {
            let entry = entry.with_context(unread)?;
            let (path, kind) = (entry.path(), entry.file_type().with_context(unread)?);
            if kind.is_dir() && depth > 1 {
                folders.push((path, depth - 1));
            } else if !kind.is_dir() && wanted(&path) && path.is_file() {
                if kind.is_symlink() && !path.canonicalize().with_context(unread)?.starts_with(&inside) {
                    outside += 1;
                } else {
                    found.push(path);
                }
            }
        }
    }
    found.sort();
    Ok(Files { found, outside })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "folders of other servers")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_that_leads_out_of_the_folder_is_counted_and_left_out() {
        let (all, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (gems, pool) = (all.path().join("gems"), all.path().join("pool"));
        for folder in [&gems, &pool] {
            std::fs::create_dir(folder).unwrap();
        }
        for file in [gems.join("a"), pool.join("b"), elsewhere.path().join("secret")] {
            std::fs::write(file, "").unwrap();
        }
        symlink("../pool/b", gems.join("b")).unwrap();
        symlink("nowhere", gems.join("c")).unwrap();
        symlink(elsewhere.path().join("secret"), pool.join("d")).unwrap();
        symlink("../pool/d", gems.join("d")).unwrap();
        let Files { found, outside } = files(all.path(), &gems, 1, &|_| true).unwrap();
        assert_eq!((found, outside), (vec![gems.join("a"), gems.join("b")], 1));
        // A folder that is called by a link is itself.
        symlink(all.path(), elsewhere.path().join("all")).unwrap();
        let Files { found, outside } = files(&elsewhere.path().join("all"), &pool, 1, &|_| true).unwrap();
        assert_eq!((found.len(), outside), (1, 1));
    }
}
