//! The files in a folder of another server.

use anyhow::Context as _;
use std::path::{Path, PathBuf};

/// The files in a folder.
#[derive(Debug)]
pub(super) struct Files {
    /// Their paths, sorted.
    pub(super) paths: Vec<PathBuf>,
    /// How many links lead out of the imported folder. They are not followed: otherwise everybody who may write to the folder could
    /// publish files that only the importing user may read.
    pub(super) links_outside: u64,
}

/// Finds the files below `folder` that `accepts` accepts, to a depth of `depth` folders. `root`, which contains `folder`, is the
/// imported folder. Links to folders are not followed, as they may lead back.
pub(super) fn files(
    root: &Path,
    folder: &Path,
    depth: usize,
    accepts: &dyn Fn(&Path) -> bool,
) -> anyhow::Result<Files> {
    let inside = root.canonicalize().with_context(|| format!("cannot read the folder `{}`", root.display()))?;
    let mut links_outside = 0;
    let (mut paths, mut folders) = (Vec::new(), vec![(folder.to_owned(), depth)]);
    while let Some((folder, depth)) = folders.pop() {
        let unread = || format!("cannot read the folder `{}`", folder.display());
        for entry in std::fs::read_dir(&folder).with_context(unread)? {
            let entry = entry.with_context(unread)?;
            let (path, kind) = (entry.path(), entry.file_type().with_context(unread)?);
            if kind.is_dir() && depth > 1 {
                folders.push((path, depth - 1));
            } else if !kind.is_dir() && accepts(&path) && path.is_file() {
                if kind.is_symlink() && !path.canonicalize().with_context(unread)?.starts_with(&inside) {
                    links_outside += 1;
                } else {
                    paths.push(path);
                }
            }
        }
    }
    paths.sort();
    Ok(Files { paths, links_outside })
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
        let Files { paths, links_outside } = files(all.path(), &gems, 1, &|_| true).unwrap();
        assert_eq!((paths, links_outside), (vec![gems.join("a"), gems.join("b")], 1));
        // The imported folder itself may be given by a link.
        symlink(all.path(), elsewhere.path().join("all")).unwrap();
        let Files { paths, links_outside } = files(&elsewhere.path().join("all"), &pool, 1, &|_| true).unwrap();
        assert_eq!((paths.len(), links_outside), (1, 1));
    }
}
