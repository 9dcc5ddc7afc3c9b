//! A small file with the state of a job of the program, which a restart goes on with. Only its owner can read it.

use crate::disk::{self, NewFile};
use std::io::{self, Write};
use std::path::PathBuf;

/// A file that is always whole: a new content replaces the one before when it is durable.
#[derive(Debug, Clone)]
pub struct StateFile {
    path: PathBuf,
}

impl StateFile {
    /// The file at this path. Its folder is made when it is written first.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Its content, at most `most` bytes of it. `None`: it was not written yet.
    pub fn read(&self, most: u64) -> io::Result<Option<Vec<u8>>> {
        match disk::read(&self.path, most) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    /// Replaces its content.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            disk::make_folder(folder)?;
        }
        let mut file = NewFile::begin(&self.path)?;
        file.write_all(bytes)?;
        file.finish().map(drop)
    }
}

impl std::fmt::Display for StateFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.path.display().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_was_written_last() {
        let folder = tempfile::tempdir().unwrap();
        let file = StateFile::new(folder.path().join("jobs").join("one.json"));
        assert_eq!(file.read(100).unwrap(), None);
        for text in ["first", "second"] {
            file.write(text.as_bytes()).unwrap();
            assert_eq!(file.read(100).unwrap().unwrap(), text.as_bytes());
        }
        assert_eq!(file.read(3).unwrap().unwrap(), b"sec");
    }
}
