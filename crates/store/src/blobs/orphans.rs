//! Blobs on disk that no row refers to.
//!
//! Blobs are stored before their row is written. So an upload that is interrupted between the two leaves an orphan, and so does a
//! crash that loses the truth and the log of recent rows.

use crate::blobs::files::{files_in, names};
use crate::disk::Disk;
use crate::disk::layout::Layout;
use crate::error::{Error, Result};
use crate::store::progress::Progress;
use crate::truth::catalog::Catalog;
use std::path::PathBuf;

/// The most orphans that are listed. All of them are counted.
const LISTED_MAX: usize = 1_000;

/// Blobs on disk that no row refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Orphans {
    /// The number of all of them.
    pub blobs: u64,
    /// The sum of their sizes, in bytes.
    pub size_bytes: u64,
    /// The files of the first thousand, ordered by digest.
    pub files: Vec<PathBuf>,
}

/// Looks up every blob on disk in the truth.
pub(crate) fn find_orphans(
    truth: &mut dyn Catalog,
    disk: &dyn Disk,
    layout: &Layout,
    progress: &mut dyn FnMut(Progress),
) -> Result<Orphans> {
    let mut found = Orphans::default();
    let root = layout.blobs_by_digest();
    let outer = names(disk, &root)?;
    for (done, folder) in outer.iter().enumerate() {
        for (digest, file) in files_in(disk, &root.join(folder))? {
            let Some(digest) = digest else { continue };
            if truth.refers_to_blob(&digest)? {
                continue;
            }
            found.blobs += 1;
            found.size_bytes += disk.size(&file).map_err(Error::io("look at", &file))?.unwrap_or_default();
            if found.files.len() < LISTED_MAX {
                found.files.push(file);
            }
        }
        progress(Progress { done: done as u64 + 1, total: outer.len() as u64, of: "folders" });
    }
    Ok(found)
}
