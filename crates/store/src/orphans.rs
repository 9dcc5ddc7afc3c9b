//! Blobs on disk that no row refers to.
//!
//! Bytes are kept before their row is written. So there are orphans after an upload that was interrupted between the two, and after a
//! crash that lost the truth and the log of recent rows.

use crate::catalog::Catalog;
use crate::digest::Digest;
use crate::disk::Disk;
use crate::error::Error;
use crate::layout::Layout;
use crate::progress::Progress;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Most orphans that are listed. All of them are counted.
const LISTED_MAX: usize = 1_000;

/// Blobs on disk that no row refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Orphans {
    /// How many there are.
    pub blobs: u64,
    /// The sum of their sizes, in bytes.
    pub size_bytes: u64,
    /// The files of the first thousand, in the order of their digests.
    pub files: Vec<PathBuf>,
}

/// Looks up every blob on disk in the truth.
pub(crate) fn find_orphans(
    truth: &mut dyn Catalog,
    disk: &dyn Disk,
    layout: &Layout,
    progress: &mut dyn FnMut(Progress),
) -> Result<Orphans, Error> {
    let mut found = Orphans::default();
    let outer = list(disk, &layout.blobs_by_digest())?;
    for (done, folder) in outer.iter().enumerate() {
        for folder in list(disk, folder)? {
            for file in list(disk, &folder)? {
                let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let Ok(digest) = name.parse::<Digest>() else { continue };
                if truth.refers_to_blob(&digest)? {
                    continue;
                }
                found.blobs += 1;
                found.size_bytes += disk.size(&file).map_err(Error::io("look at", &file))?.unwrap_or_default();
                if found.files.len() < LISTED_MAX {
                    found.files.push(file);
                }
            }
        }
        progress(Progress { done: done as u64 + 1, total: outer.len() as u64, of: "folders" });
    }
    Ok(found)
}

/// The paths in a folder. A folder that does not exist is empty: no blob was ever kept in it.
fn list(disk: &dyn Disk, folder: &Path) -> Result<Vec<PathBuf>, Error> {
    match disk.list(folder) {
        Ok(names) => Ok(names.into_iter().map(|name| folder.join(name)).collect()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(Vec::new()),
        Err(error) => Err(Error::io("list", folder)(error)),
    }
}
