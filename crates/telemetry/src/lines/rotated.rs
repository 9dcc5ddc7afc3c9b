//! A file of bounded size and a fixed number of older ones: `events.jsonl`, `events.jsonl.1`, `events.jsonl.2`.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// Takes whole lines: each write goes into one file entirely, or not at all.
#[derive(Debug)]
pub(super) struct Rotated {
    path: PathBuf,
    max_bytes: u64,
    /// How many older ones are kept.
    keep: usize,
    /// The file and its size. `None` until the first write, and after an error, so that the next write tries everything again.
    open: Option<(File, u64)>,
}

impl Rotated {
    /// `files` counts the one being written.
    pub(super) fn new(path: PathBuf, max_bytes: u64, files: usize) -> Self {
        Self { path, max_bytes, keep: files.saturating_sub(1), open: None }
    }

    /// The `age`th older file; 0 is the one being written.
    fn aged(&self, age: usize) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        if age > 0 {
            path.push(format!(".{age}"));
        }
        path.into()
    }

    /// Opens the file to go on at its end, in a new folder if need be; a line that a crash left torn gets its end.
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

    /// Makes every file one older. Those that are more than are kept go first.
    #[expect(clippy::disallowed_methods, reason = "logs may be lost, so nothing is synced")]
    fn rotate(&self) -> io::Result<()> {
        let mut age = self.keep;
        while present(std::fs::remove_file(self.aged(age)))? {
            age += 1;
        }
        // The first gap ends the row, so that a great number to keep costs nothing until they are there.
        let gap = (1..self.keep).find(|age| !self.aged(*age).exists()).unwrap_or(self.keep);
        for age in (0..gap).rev() {
            present(std::fs::rename(self.aged(age), self.aged(age + 1)))?;
        }
        Ok(())
    }
}

/// Whether there was a file to work on.
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
            // Half a line would spoil the next one.
            file.set_len(size)?;
            return Err(error);
        }
        self.open = Some((file, size + lines.len() as u64));
        Ok(lines.len())
    }

    /// Nothing is kept back.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
