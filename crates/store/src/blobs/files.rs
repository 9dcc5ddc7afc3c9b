//! Lists files named by their digests, in two levels of folders.

use crate::blobs::digest::Digest;
use crate::disk::Disk;
use crate::error::{Error, Result};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The names in a folder, sorted. A folder that does not exist counts as empty: no blob was ever written to it.
pub(crate) fn names(disk: &dyn Disk, folder: &Path) -> Result<Vec<String>> {
    match disk.list(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(Vec::new()),
        names => names.map_err(Error::io("list", folder)),
    }
}

/// The files in the subfolders of a folder, ordered by name, with the digests in their names.
pub(crate) fn files_in(disk: &dyn Disk, outer: &Path) -> Result<Vec<(Option<Digest>, PathBuf)>> {
    let mut files = Vec::new();
    for inner in names(disk, outer)? {
        let inner = outer.join(inner);
        files.extend(names(disk, &inner)?.into_iter().map(|name| (name.parse().ok(), inner.join(name))));
    }
    Ok(files)
}
