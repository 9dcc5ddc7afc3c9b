//! The files of a SQLite database: the database, its write-ahead log and its shared memory.

use crate::disk::{Disk, RealDisk};
use crate::error::{Error, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Removes a database with the files beside it, where they exist.
pub(crate) fn remove_database(path: &Path) -> Result<()> {
    for path in ["", "-wal", "-shm"].map(|suffix| with_suffix(path, suffix)) {
        if RealDisk.size(&path).map_err(Error::io("look at", &path))?.is_some() {
            RealDisk.unlink(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}

/// The first unused name for a database that is replaced: `.old`, `.old2` and so on. No replaced database is ever overwritten.
pub(crate) fn free_name(database: &Path) -> Result<PathBuf> {
    let mut count = 1;
    loop {
        let suffix = if count == 1 { ".old".to_owned() } else { format!(".old{count}") };
        let path = with_suffix(database, &suffix);
        if RealDisk.size(&path).map_err(Error::io("look at", &path))?.is_none() {
            return Ok(path);
        }
        count += 1;
    }
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}
