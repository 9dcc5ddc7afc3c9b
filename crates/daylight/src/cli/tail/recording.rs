//! The file of `--out`: it has a temporary name until it is complete, and a largest size.

use crate::cli::failure::Failure;
use anyhow::Context as _;
use std::io;
use std::path::{Path, PathBuf};
use store::disk::{Disk as _, DiskFile, RealDisk};

/// A file of lines that is being written. Only its owner can read it, as the program sets for all its files.
pub(super) struct Recording {
    path: PathBuf,
    arriving: PathBuf,
    file: Box<dyn DiskFile>,
    max_bytes: u64,
    bytes: u64,
}

impl Recording {
    /// Begins a file of at most `max_bytes` that will be at `path`. No file may be there.
    pub(super) fn new(path: PathBuf, max_bytes: u64) -> anyhow::Result<Self> {
        let failed = || format!("cannot write `{}`", path.display());
        if RealDisk.size(&path).with_context(failed)?.is_some() {
            let hint = "choose another name, or move the file away";
            return Err(Failure::usage(format!("`{}` exists already", path.display()), hint).into());
        }
        let Some(name) = path.file_name() else {
            return Err(Failure::usage(format!("`{}` is not the name of a file", path.display()), "add one").into());
        };
        let arriving = folder(&path).join(format!(".{}.arriving", name.to_string_lossy()));
        // The remainder of a killed command.
        match RealDisk.unlink(&arriving) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).with_context(failed),
            _ => {}
        }
        let file = RealDisk.create(&arriving).with_context(failed)?;
        Ok(Self { path, arriving, file, max_bytes, bytes: 0 })
    }

    /// Writes lines. `false`: they would make the file too large, and it is complete.
    pub(super) fn write(&mut self, lines: &[u8]) -> io::Result<bool> {
        if self.bytes + lines.len() as u64 > self.max_bytes {
            return Ok(false);
        }
        self.file.write(lines)?;
        self.bytes += lines.len() as u64;
        Ok(true)
    }

    /// The bytes so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Gives the file its name, which is returned.
    pub(super) fn finish(mut self) -> anyhow::Result<PathBuf> {
        let named = || {
            let folder = RealDisk.open_folder(folder(&self.path))?;
            self.file.sync()?;
            RealDisk.rename(&self.arriving, &self.path)?;
            folder.sync()
        };
        let named: io::Result<()> = { named }();
        named.with_context(|| format!("cannot write `{}`", self.path.display()))?;
        Ok(self.path)
    }

    /// Removes the file.
    pub(super) fn discard(self) {
        // If this fails, the next command with this name removes it.
        let _ = RealDisk.unlink(&self.arriving);
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}
