//! `opened-by` in the data folder: the version of the program that opened it last, so that an earlier one can name it.

use crate::disk::layout::Layout;
use crate::disk::{Disk as _, RealDisk};
use crate::error::Error;
use std::io::{self, Read as _};
use std::path::PathBuf;

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Most bytes that are read of the version of another program.
const VERSION_MAX: u64 = 64;

impl Layout {
    /// The error where a later version wrote the folder: the form of this part of it is `found`.
    pub(crate) fn too_new(&self, of: &'static str, found: String, known: u32) -> Error {
        Error::TooNew { data: self.data().to_owned(), of, found, known, opened_by: self.opened_by() }
    }

    fn opened_by_file(&self) -> PathBuf {
        self.data().join("opened-by")
    }

    /// Notes that this version of the program has opened the folder.
    pub(crate) fn note_program(&self) -> io::Result<()> {
        if self.opened_by().as_deref() == Some(VERSION) {
            return Ok(());
        }
        // Only messages need the file, so it is not synced.
        let _ = RealDisk.unlink(&self.opened_by_file());
        RealDisk.create(&self.opened_by_file())?.write(format!("{VERSION}\n").as_bytes())
    }

    /// The version of the program that opened the folder last, if the folder tells.
    fn opened_by(&self) -> Option<String> {
        let mut text = String::new();
        RealDisk.open(&self.opened_by_file()).ok()?.take(VERSION_MAX).read_to_string(&mut text).ok()?;
        let version = text.trim_end();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-.+".contains(c);
        (!version.is_empty() && version.chars().all(plain)).then(|| version.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "not a file of Daylight")]
    fn a_folder_names_the_program_that_opened_it_last_and_nothing_that_is_no_version() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        let told = || layout.too_new("database", "5".to_owned(), 4).to_string();
        assert!(told().starts_with("a later version of daylight wrote the folder `"), "{}", told());
        for (text, by) in [("7.1.0\n", "daylight 7.1.0"), ("\u{1b}[1m\n", "a later version"), ("", "a later version")] {
            std::fs::write(folder.path().join("opened-by"), text).unwrap();
            assert!(told().starts_with(by), "{text:?}: {}", told());
        }
        for _ in 0..2 {
            layout.note_program().unwrap();
            assert_eq!(layout.opened_by().as_deref(), Some(VERSION));
        }
    }
}
