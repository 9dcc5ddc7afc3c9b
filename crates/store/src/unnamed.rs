//! Blobs on disk that no row names.
//!
//! Bytes are kept before their row is written. So there are some after a crash that lost the last rows with the truth database,
//! which segments follow by up to a second, and after an upload that was cut off between the two.

use crate::disk::Disk;
use crate::layout::Layout;
use crate::rebuild::Progress;
use crate::{Digest, Error, Sqlite};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// So many are listed. All are counted.
const LISTED_MAX: usize = 1_000;

/// Blobs on disk that no row names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unnamed {
    /// How many there are.
    pub blobs: u64,
    /// The sum of their sizes, in bytes.
    pub size_bytes: u64,
    /// The files of the first thousand, in the order of their digests.
    pub files: Vec<PathBuf>,
}

/// Looks at the name of every file among the blobs.
pub(crate) fn unnamed(
    truth: &Sqlite,
    disk: &dyn Disk,
    layout: &Layout,
    progress: &mut dyn FnMut(Progress),
) -> Result<Unnamed, Error> {
    let mut found = Unnamed::default();
    let outer = below(disk, &layout.blobs_by_digest())?;
    for (done, folder) in outer.iter().enumerate() {
        for folder in below(disk, folder)? {
            for file in below(disk, &folder)? {
                let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let Ok(digest) = name.parse::<Digest>() else { continue };
                if truth.names_blob(&digest)? {
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

/// What is in a folder. One that is not there has nothing: no blob was ever kept in it.
fn below(disk: &dyn Disk, folder: &Path) -> Result<Vec<PathBuf>, Error> {
    match disk.list(folder) {
        Ok(names) => Ok(names.into_iter().map(|name| folder.join(name)).collect()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(Vec::new()),
        Err(error) => Err(Error::io("list", folder)(error)),
    }
}
