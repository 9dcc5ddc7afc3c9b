//! The files of stored events: the only code of this crate that makes, renames and removes files. Only the owner can read them.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use telemetry::Millis;

/// The end of the name of a file that is not complete.
const TEMPORARY: &str = ".tmp";

/// A file that gets its name when it is complete and durable. If it is dropped before, it is removed.
#[derive(Debug)]
pub(crate) struct NewFile {
    file: File,
    temporary: PathBuf,
    path: PathBuf,
    bytes: u64,
    complete: bool,
}

impl NewFile {
    /// Begins a file that will have the name `path`. It replaces an incomplete one of the same name.
    pub(crate) fn begin(path: &Path) -> io::Result<Self> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(TEMPORARY);
        let temporary = PathBuf::from(temporary);
        remove(&temporary)?;
        let file = create(&temporary)?;
        Ok(Self { file, temporary, path: path.to_owned(), bytes: 0, complete: false })
    }

    /// Makes the file durable and gives it its name. An existing file of that name is replaced. Returns its size in bytes.
    #[expect(clippy::disallowed_methods, reason = "the only code of this crate that renames")]
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        self.file.sync_all()?;
        std::fs::rename(&self.temporary, &self.path)?;
        self.complete = true;
        sync_folder_of(&self.path)?;
        Ok(self.bytes)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A file to which pieces are appended. They survive the end of the process, but not a loss of power. A piece that an error of the disk cut
/// off is removed before the next one, which would not be found behind it.
#[derive(Debug)]
pub(crate) struct AppendFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    torn: bool,
}

impl AppendFile {
    /// Creates a file that does not exist.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), file: create(path)?, bytes: 0, torn: false })
    }

    /// Appends a piece. After an error it is not in the file, and earlier ones are.
    pub(crate) fn append(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.torn {
            self.file.set_len(self.bytes)?;
        }
        self.torn = true;
        self.file.write_all(piece)?;
        self.torn = false;
        self.bytes += piece.len() as u64;
        Ok(())
    }

    /// Its size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.complete {
            // The next start removes it as well.
            let _ = remove(&self.temporary);
        }
    }
}

/// Makes a folder that only the owner can enter, with the folders above it. No error if it exists.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a file that does not exist, to append to it.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().create_new(true).append(true).mode(0o600).open(path)
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// The first bytes of a file, so many at most.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Replaces a file without making it durable: after the end of the process it is whole, after a loss of power perhaps not.
#[expect(clippy::disallowed_methods, reason = "the only code of this crate that renames")]
pub(crate) fn replace_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(TEMPORARY);
    let temporary = PathBuf::from(temporary);
    let written = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&temporary);
    written?.write_all(bytes)?;
    std::fs::rename(&temporary, path)
}

/// Moves a file that may be damaged aside, where a person finds it: `NAME.damaged`. It replaces one of before.
#[expect(clippy::disallowed_methods, reason = "the only code of this crate that renames")]
pub(crate) fn move_aside(path: &Path) -> io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".damaged");
    std::fs::rename(path, PathBuf::from(aside))
}

/// Removes a file. No error if it does not exist.
#[expect(clippy::disallowed_methods, reason = "the only code of this crate that removes")]
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// When a file was written last.
pub(crate) fn written(path: &Path) -> io::Result<Millis> {
    let since = path.metadata()?.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Ok(Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
}

/// Makes a removal or a renaming durable.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// The names of the complete files in a folder with their sizes in bytes, sorted.
pub(crate) fn files(folder: &Path) -> io::Result<Vec<(String, u64)>> {
    let mut files = all(folder)?;
    files.retain(|(name, _)| !name.ends_with(TEMPORARY));
    Ok(files)
}

/// Opens a folder for a start: makes it, and removes the incomplete files that a killed process left. Returns the complete ones.
pub(crate) fn open_folder(folder: &Path) -> io::Result<Vec<(String, u64)>> {
    make_folder(folder)?;
    let mut incomplete = all(folder)?.into_iter().filter(|(name, _)| name.ends_with(TEMPORARY));
    incomplete.try_for_each(|(name, _)| remove(&folder.join(name)))?;
    files(folder)
}

/// The number of a log in the name of a file. A larger one than a server ever reaches is none: the next numbers would overflow.
pub(crate) fn log_number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number < 1 << 53)
}

fn all(folder: &Path) -> io::Result<Vec<(String, u64)>> {
    let mut files = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        let (Ok(name), Ok(about)) = (entry.file_name().into_string(), entry.metadata()) else { continue };
        if about.is_file() {
            files.push((name, about.len()));
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_has_its_name_only_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut file = NewFile::begin(&path).unwrap();
        file.write_all(b"whole").unwrap();
        assert!(!path.exists());
        assert_eq!(file.finish().unwrap(), 5);
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        let mut file = NewFile::begin(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        assert_eq!(files(folder.path()).unwrap(), [("a".to_owned(), 5)]);
    }

    #[test]
    fn incomplete_files_of_a_killed_process_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        std::mem::forget(NewFile::begin(&folder.path().join("b")).unwrap());
        assert_eq!(files(folder.path()).unwrap(), []);
        assert!(folder.path().join("b.tmp").exists());
        open_folder(folder.path()).unwrap();
        assert!(!folder.path().join("b.tmp").exists());
        std::mem::forget(NewFile::begin(&folder.path().join("b")).unwrap());
        NewFile::begin(&folder.path().join("b")).unwrap().finish().unwrap();
        assert_eq!(files(folder.path()).unwrap(), [("b".to_owned(), 0)]);
    }

    #[test]
    fn a_piece_that_was_written_in_part_is_replaced_by_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = AppendFile::create(&folder.path().join("a")).unwrap();
        file.append(b"one").unwrap();
        file.file.write_all(b"half of a piece").unwrap();
        file.torn = true;
        file.append(b" two").unwrap();
        assert_eq!(read(file.path(), file.bytes()).unwrap(), b"one two");
        assert_eq!(files(folder.path()).unwrap(), [("a".to_owned(), 7)]);
    }

    #[test]
    fn only_the_owner_can_read_files_and_enter_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("events");
        make_folder(&inner).unwrap();
        make_folder(&inner).unwrap();
        NewFile::begin(&inner.join("a")).unwrap().finish().unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&inner), mode(&inner.join("a"))), (0o700, 0o600));
    }

    #[test]
    fn a_file_that_does_not_exist_can_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        remove(&folder.path().join("a")).unwrap();
    }
}
