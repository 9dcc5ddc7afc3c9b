//! Files with data that is derived from the truth, so that it need not be computed again. They may be deleted at any time.
//!
//! Each file starts with the SHA-256 of its content, and is ignored if they do not match.

use crate::disk::Disk;
use crate::error::Error;
use crate::layout::NestedFile;
use crate::space::Space;
use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use std::io::Read;

const DIGEST: usize = 32;

/// Writes `parts` to a temporary file and renames it. Nothing is synced: pushes would wait for the disk, although the file may be
/// lost.
pub(crate) fn keep(disk: &dyn Disk, space: &Space, place: &NestedFile, parts: &[Bytes]) -> Result<(), Error> {
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

/// Reads a file. `None`: there is none, or its content does not match its digest.
pub(crate) fn read(disk: &dyn Disk, place: &NestedFile) -> Option<Bytes> {
    let size = disk.size(&place.file).ok()??;
    let mut bytes = Vec::with_capacity(usize::try_from(size).ok()?);
    disk.open(&place.file).ok()?.take(size).read_to_end(&mut bytes).ok()?;
    let (digest, content) = bytes.split_at_checked(DIGEST)?;
    (*Sha256::digest(content) == *digest).then(|| Bytes::from(bytes).slice(DIGEST..))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;
    use crate::layout::Layout;
    use crate::record::RepositoryId;
    use std::sync::Arc;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "damage")]
    fn a_written_file_is_read_again_and_a_damaged_one_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        let space = Space::new(Arc::new(RealDisk), folder.path().to_owned(), 0, telemetry::Log::silent());
        let [which, other] = [7, 8].map(|id| layout.derived(RepositoryId(id), "versions"));
        assert_eq!(read(&RealDisk, &which), None);
        for content in ["", "one", "two and more"] {
            let parts: Vec<Bytes> = content.split(' ').map(|part| Bytes::copy_from_slice(part.as_bytes())).collect();
            keep(&RealDisk, &space, &which, &parts).unwrap();
            assert_eq!(read(&RealDisk, &which).unwrap(), content.replace(' ', ""));
            assert_eq!(read(&RealDisk, &other), None);
        }
        assert_eq!(std::fs::read_dir(&which.inner).unwrap().count(), 1, "no temporary file is left");
        let whole = std::fs::read(&which.file).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            for damage in [&damaged[..], &whole[..at]] {
                std::fs::write(&which.file, damage).unwrap();
                assert_eq!(read(&RealDisk, &which), None, "{at}");
            }
        }
        std::fs::write(&which.file, [&whole[..], b"x"].concat()).unwrap();
        assert_eq!(read(&RealDisk, &which), None);
    }
}
