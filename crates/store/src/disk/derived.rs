//! Files with data that is derived from the truth, so that it need not be computed again. They may be deleted at any time.
//!
//! Each file starts with the SHA-256 of its content. A file that does not match it, or whose content cannot be decoded, is removed and
//! made again.

use crate::disk::layout::{Layout, NestedFile};
use crate::disk::space::Space;
use crate::disk::{Disk, RealDisk};
use crate::error::{Error, Result};
use crate::journal::record::RepositoryId;
use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

const DIGEST: usize = 32;

/// Writes `parts` to a temporary file and renames it. Nothing is synced: pushes would wait for the disk, although the file may be
/// lost.
pub(crate) fn keep(disk: &dyn Disk, space: &Space, place: &NestedFile, parts: &[Bytes]) -> Result<()> {
    space.check()?;
    for folder in [&place.outer, &place.inner] {
        disk.make_folder(folder).map_err(Error::io("make", folder))?;
    }
    let temporary = place.file.with_extension("new");
    if disk.size(&temporary).map_err(Error::io("look at", &temporary))?.is_some() {
        disk.unlink(&temporary).map_err(Error::io("remove", &temporary))?;
    }
    let digest = parts.iter().fold(Sha256::new(), |hash, part| hash.chain_update(part)).finalize();
    let mut file = disk.create(&temporary).map_err(Error::io("create", &temporary))?;
    let written = file.write(&digest).and_then(|()| parts.iter().try_for_each(|part| file.write(part)));
    written.map_err(Error::io("write", &temporary))?;
    disk.rename(&temporary, &place.file).map_err(Error::io("rename", &temporary))
}

/// Reads a file. `None`: there is none. An error: it cannot be read, or its content does not match its digest.
pub(crate) fn read(disk: &dyn Disk, place: &NestedFile) -> io::Result<Option<Bytes>> {
    let Some(size) = disk.size(&place.file)? else { return Ok(None) };
    let mut bytes = Vec::with_capacity(usize::try_from(size).map_err(io::Error::other)?);
    disk.open(&place.file)?.take(size).read_to_end(&mut bytes)?;
    let split = bytes.split_at_checked(DIGEST);
    if split.is_none_or(|(digest, content)| *Sha256::digest(content) != *digest) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "its content does not match its digest"));
    }
    Ok(Some(Bytes::from(bytes).slice(DIGEST..)))
}

/// Whether the content of a derived file of that name can be used. The store does not know what such files contain.
pub type CanRead<'a> = &'a dyn Fn(&str, Bytes) -> bool;

/// A file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedIndex {
    /// Its path.
    pub path: PathBuf,
    /// The reason.
    pub why: String,
}

/// The derived files in the folder `data` that cannot be used.
pub fn damaged_indexes(data: &Path, can_read: CanRead<'_>) -> Result<Vec<DamagedIndex>> {
    find_damaged(&RealDisk, &Layout::new(data), can_read)
}

/// Removes these files, and returns them.
pub fn remove_damaged_indexes(data: &Path, can_read: CanRead<'_>) -> Result<Vec<DamagedIndex>> {
    let layout = Layout::new(data);
    let _lock = layout.lock()?;
    let damaged = find_damaged(&RealDisk, &layout, can_read)?;
    for DamagedIndex { path, .. } in &damaged {
        RealDisk.unlink(path).map_err(Error::io("remove", path))?;
    }
    Ok(damaged)
}

fn find_damaged(disk: &dyn Disk, layout: &Layout, can_read: CanRead<'_>) -> Result<Vec<DamagedIndex>> {
    let outer = layout.all_derived();
    let names = |folder: &Path| match disk.list(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        names => names.map_err(Error::io("list", folder)),
    };
    let mut damaged = Vec::new();
    for folder in names(&outer)? {
        let Ok(id) = folder.parse().map(RepositoryId) else { continue };
        // A file that is being written has an extension.
        for name in names(&outer.join(&folder))?.into_iter().filter(|name| !name.contains('.')) {
            let place = layout.derived(id, &name);
            let why = match read(disk, &place) {
                Ok(content) if content.as_ref().is_none_or(|content| can_read(&name, content.clone())) => continue,
                Ok(_) => "its content cannot be decoded".to_owned(),
                Err(error) => error.to_string(),
            };
            damaged.push(DamagedIndex { path: place.file, why });
        }
    }
    Ok(damaged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "damage")]
    fn a_written_file_is_read_again_and_a_damaged_one_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        let space = Space::new(Arc::new(RealDisk), folder.path().to_owned(), 0, telemetry::Log::silent());
        let [which, other] = [7, 8].map(|id| layout.derived(RepositoryId(id), "versions"));
        let can_read: CanRead<'_> = &|name, content| name == "versions" && content != "one";
        let damaged = || damaged_indexes(folder.path(), can_read).unwrap().into_iter().map(|damaged| damaged.path);
        assert_eq!(read(&RealDisk, &which).unwrap(), None);
        for content in ["", "one", "two and more"] {
            let parts: Vec<Bytes> = content.split(' ').map(|part| Bytes::copy_from_slice(part.as_bytes())).collect();
            keep(&RealDisk, &space, &which, &parts).unwrap();
            assert_eq!(read(&RealDisk, &which).unwrap().unwrap(), content.replace(' ', ""));
            assert_eq!(read(&RealDisk, &other).unwrap(), None);
            assert_eq!(damaged().count(), usize::from(content == "one"));
        }
        assert_eq!(std::fs::read_dir(&which.inner).unwrap().count(), 1, "no temporary file is left");
        let whole = std::fs::read(&which.file).unwrap();
        for at in 0..whole.len() {
            let mut other = whole.clone();
            other[at] ^= 1;
            for damage in [&other[..], &whole[..at]] {
                std::fs::write(&which.file, damage).unwrap();
                assert!(read(&RealDisk, &which).is_err() && damaged().eq([which.file.clone()]), "{at}");
            }
        }
        std::fs::write(&which.file, [&whole[..], b"x"].concat()).unwrap();
        assert!(read(&RealDisk, &which).is_err());
        assert_eq!(remove_damaged_indexes(folder.path(), can_read).unwrap().len(), 1);
        assert_eq!(read(&RealDisk, &which).unwrap(), None);
    }
}
