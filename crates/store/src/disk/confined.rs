//! Reads files of a folder that others may have written, such as a backup: only regular files, and never through a symbolic link,
//! which may lead out of the folder.

use crate::disk::{Disk, DiskFile, DiskFolder, Failpoint, RealDisk, SpaceBytes, irregular, regular};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

/// How a file is opened. Without `NONBLOCK`, opening a FIFO waits for a writer.
const FILE: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);
/// How a folder on the way is opened.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A folder to read from. Its own path may contain links, because the user names it.
#[derive(Debug)]
pub(crate) struct Confined {
    folder: File,
    path: PathBuf,
}

impl Confined {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { folder: File::open(path)?, path: path.to_owned() })
    }

    /// Opens the folder of `path`, and returns the last name of `path`.
    fn parent<'p>(&self, path: &'p Path) -> io::Result<(OwnedFd, &'p std::ffi::OsStr)> {
        let below = path.strip_prefix(&self.path).map_err(io::Error::other)?;
        let name = below.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut folder = OwnedFd::from(self.folder.try_clone()?);
        for step in below.parent().unwrap_or(below).components() {
            let Component::Normal(step) = step else { return Err(io::ErrorKind::InvalidInput.into()) };
            folder = open_folder(&folder, Path::new(step))?;
        }
        Ok((folder, name))
    }
}

fn open_folder(at: &OwnedFd, name: &Path) -> io::Result<OwnedFd> {
    openat(at, name, FOLDER, Mode::empty()).map_err(|error| match error {
        Errno::LOOP | Errno::NOTDIR if is_link(at, name) => irregular(),
        error => error.into(),
    })
}

fn is_link(at: &OwnedFd, name: &Path) -> bool {
    let about = statat(at, name, AtFlags::SYMLINK_NOFOLLOW);
    about.is_ok_and(|about| FileType::from_raw_mode(about.st_mode) == FileType::Symlink)
}

impl Disk for Confined {
    fn open(&self, path: &Path) -> io::Result<File> {
        // The size is asked first: opening a device may have an effect.
        self.size(path)?.ok_or(io::ErrorKind::NotFound)?;
        let (folder, name) = self.parent(path)?;
        regular(openat(&folder, name, FILE, Mode::empty()).map(File::from).map_err(Into::into))
    }

    fn size(&self, path: &Path) -> io::Result<Option<u64>> {
        let about = self.parent(path).and_then(|(folder, name)| Ok(statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?));
        match about {
            Ok(about) if FileType::from_raw_mode(about.st_mode) != FileType::RegularFile => Err(irregular()),
            Ok(about) => Ok(Some(about.st_size.cast_unsigned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let folder = match path == self.path {
            true => OwnedFd::from(self.folder.try_clone()?),
            false => self.parent(path).and_then(|(folder, name)| open_folder(&folder, Path::new(name)))?,
        };
        let mut names = Vec::new();
        for entry in Dir::read_from(&folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn space(&self, path: &Path) -> io::Result<SpaceBytes> {
        RealDisk.space(path)
    }

    fn point(&self, _: Failpoint) -> io::Result<()> {
        Ok(())
    }

    fn make_folder(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn create(&self, _: &Path) -> io::Result<Box<dyn DiskFile>> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn open_folder(&self, _: &Path) -> io::Result<Box<dyn DiskFolder>> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn unlink(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn remove_folder(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn remove_empty_folder(&self, _: &Path) -> io::Result<bool> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a folder that somebody else wrote")]
mod tests {
    use super::*;
    use crate::disk::is_irregular;
    use rustix::fs::{CWD, mkfifoat};
    use std::io::Read as _;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_regular_files_are_read_and_no_link_is_followed_on_the_way() {
        let (target, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = target.path();
        std::fs::create_dir(root.join("a")).unwrap();
        for file in [root.join("a/file"), outside.path().join("secret")] {
            std::fs::write(file, "bytes").unwrap();
        }
        symlink(outside.path().join("secret"), root.join("a/link")).unwrap();
        symlink(outside.path(), root.join("b")).unwrap();
        symlink("a", root.join("inside")).unwrap();
        mkfifoat(CWD, root.join("a/pipe"), Mode::from_raw_mode(0o600)).unwrap();
        // The user may name the folder by a link.
        symlink(root, outside.path().join("named")).unwrap();
        for root in [root.to_owned(), outside.path().join("named")] {
            let confined = Confined::open(&root).unwrap();
            let mut text = String::new();
            confined.open(&root.join("a/file")).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!((text.as_str(), confined.size(&root.join("a/file")).unwrap()), ("bytes", Some(5)));
            assert_eq!(confined.list(&root.join("a")).unwrap(), ["file", "link", "pipe"]);
            assert_eq!(confined.list(&root).unwrap(), ["a", "b", "inside"]);
            for refused in ["a/link", "a/pipe", "b/secret", "inside/file", "a"] {
                let refused = root.join(refused);
                assert!(is_irregular(&confined.open(&refused).unwrap_err()), "{}", refused.display());
                assert!(is_irregular(&confined.size(&refused).unwrap_err()), "{}", refused.display());
            }
            assert!(is_irregular(&confined.list(&root.join("b")).unwrap_err()));
            assert!(confined.open(&root.join("a/../../secret")).is_err());
            assert_eq!(confined.size(&root.join("a/none")).unwrap(), None);
        }
    }
}
