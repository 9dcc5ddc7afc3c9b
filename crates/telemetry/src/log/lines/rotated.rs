//! A log file of bounded size with a fixed number of older files: `events.jsonl`, `events.jsonl.1`, `events.jsonl.2`.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// Takes whole lines. Each write goes entirely into one file, or not at all.
#[derive(Debug)]
pub(super) struct Rotated {
    path: PathBuf,
    max_bytes: u64,
    /// How many older files are kept.
    keep: usize,
    /// The file and its size. `None` before the first write, and after an error, so that the next write starts over.
    open: Option<(File, u64)>,
}

impl Rotated {
    /// `files` includes the one that is being written.
    pub(super) fn new(path: PathBuf, max_bytes: u64, files: usize) -> Self {
        Self { path, max_bytes, keep: files.saturating_sub(1), open: None }
    }

    /// The path of the `age`th older file; 0 is the one that is being written.
    fn aged(&self, age: usize) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        if age > 0 {
            path.push(format!(".{age}"));
        }
        path.into()
    }

    /// Opens the file at its end. Makes its folder if necessary, and completes a line that a crash cut off.
    fn open(&self) -> io::Result<(File, u64)> {
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
            std::fs::create_dir(folder)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&self.path)?;
        let mut size = file.metadata()?.len();
        if size > 0 {
            let mut last = [0];
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                file.write_all(b"\n")?;
                size += 1;
            }
        }
        Ok((file, size))
    }

    /// First removes the oldest files beyond the limit, then renames every file to the next older name.
    #[expect(clippy::disallowed_methods, reason = "logs may be lost, so nothing is synced")]
    fn rotate(&self) -> io::Result<()> {
        let mut age = self.keep;
        while present(std::fs::remove_file(self.aged(age)))? {
            age += 1;
        }
        // Stops at the first missing file, so that a large number of kept files costs nothing until they exist.
        let gap = (1..self.keep).find(|age| !self.aged(*age).exists()).unwrap_or(self.keep);
        for age in (0..gap).rev() {
            present(std::fs::rename(self.aged(age), self.aged(age + 1)))?;
        }
        Ok(())
    }
}

/// Whether the file existed.
fn present(done: io::Result<()>) -> io::Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

impl Write for Rotated {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let (mut file, mut size) = match self.open.take() {
            Some(open) => open,
            None => self.open()?,
        };
        if size > 0 && size + lines.len() as u64 > self.max_bytes {
            self.rotate()?;
            (file, size) = self.open()?;
        }
        if let Err(error) = file.write_all(lines) {
            // A part of a line would damage the next one.
            file.set_len(size)?;
            return Err(error);
        }
        self.open = Some((file, size + lines.len() as u64));
        Ok(lines.len())
    }

    /// Nothing is buffered.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
