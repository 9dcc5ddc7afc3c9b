//! Files that save making again what is derived from the truth. They may be lost at any moment, and none is believed
//! that is not, byte for byte, what was written: its SHA-256 stands in front.

use crate::disk::Disk;
use crate::layout::Layout;
use crate::space::Space;
use crate::{Error, RepositoryId};
use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use std::io::Read;

const DIGEST: usize = 32;

/// Writes `parts`, one after the other, and gives them their name when they are all there. Nothing is synced: that would
/// keep pushes waiting for the disk, for something that may be lost.
pub(crate) fn keep(
    disk: &dyn Disk,
    space: &Space,
    layout: &Layout,
    (repository, name): (RepositoryId, &str),
    parts: &[Bytes],
) -> Result<(), Error> {
    space.check()?;
    let (outer, inner, path) = layout.derived(repository, name);
    for folder in [&outer, &inner] {
        disk.make_folder(folder).map_err(Error::io("make", folder))?;
    }
    let arriving = path.with_extension("new");
    if disk.size(&arriving).map_err(Error::io("look at", &arriving))?.is_some() {
        disk.unlink(&arriving).map_err(Error::io("remove", &arriving))?;
    }
    let digest = parts.iter().fold(Sha256::new(), |hash, part| hash.chain_update(part)).finalize();
    let mut file = disk.create(&arriving).map_err(Error::io("create", &arriving))?;
    let written = file.write(&digest).and_then(|()| parts.iter().try_for_each(|part| file.write(part)));
    written.map_err(Error::io("write", &arriving))?;
    disk.rename(&arriving, &path).map_err(Error::io("rename", &arriving))
}

/// What was written, or nothing where that is not what is there.
pub(crate) fn read(disk: &dyn Disk, layout: &Layout, (repository, name): (RepositoryId, &str)) -> Option<Bytes> {
    let (_, _, path) = layout.derived(repository, name);
    let size = disk.size(&path).ok()??;
    let mut bytes = Vec::with_capacity(usize::try_from(size).ok()?);
    disk.open(&path).ok()?.take(size).read_to_end(&mut bytes).ok()?;
    let (digest, content) = bytes.split_at_checked(DIGEST)?;
    (*Sha256::digest(content) == *digest).then(|| Bytes::from(bytes).slice(DIGEST..))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;
    use std::sync::Arc;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "damage")]
    fn what_was_written_is_read_again_and_anything_else_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        let space = Space::new(Arc::new(RealDisk), folder.path().to_owned(), 0, telemetry::Log::silent());
        let (which, other) = ((RepositoryId(7), "versions"), (RepositoryId(8), "versions"));
        assert_eq!(read(&RealDisk, &layout, which), None);
        for content in ["", "one", "two and more"] {
            let parts: Vec<Bytes> = content.split(' ').map(|part| Bytes::copy_from_slice(part.as_bytes())).collect();
            keep(&RealDisk, &space, &layout, which, &parts).unwrap();
            assert_eq!(read(&RealDisk, &layout, which).unwrap(), content.replace(' ', ""));
            assert_eq!(read(&RealDisk, &layout, other), None);
        }
        let (_, inner, path) = layout.derived(which.0, which.1);
        assert_eq!(std::fs::read_dir(inner).unwrap().count(), 1, "nothing stays beside it");
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            for damage in [&damaged[..], &whole[..at]] {
                std::fs::write(&path, damage).unwrap();
                assert_eq!(read(&RealDisk, &layout, which), None, "{at}");
            }
        }
        std::fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
        assert_eq!(read(&RealDisk, &layout, which), None);
    }
}
