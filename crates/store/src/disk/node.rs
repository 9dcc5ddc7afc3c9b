//! The identity of the data folder: a random number in the file `node`, written once. A backup does not copy it, so a restored
//! folder gets another one.

use crate::disk::Disk;
use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::error::{Error, Result};
use std::io::Read as _;

/// Digits of an identity: 128 bits, hexadecimal.
const DIGITS: usize = 32;

/// Reads the identity of a folder, or makes one. An invalid file is replaced.
pub(crate) fn read_or_make(disk: &dyn Disk, layout: &Layout, space: &Space) -> Result<u128> {
    let path = layout.node();
    if disk.size(&path).map_err(Error::io("look at", &path))?.is_some() {
        let mut text = String::new();
        let file = disk.open(&path).map_err(Error::io("open", &path))?;
        // A file that is not text is invalid.
        let read = file.take(DIGITS as u64 + 1).read_to_string(&mut text);
        let digits = text.trim_end();
        if read.is_ok()
            && digits.len() == DIGITS
            && let Ok(node) = u128::from_str_radix(digits, 16)
        {
            return Ok(node);
        }
    }
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::io("make a number for", &path)(std::io::Error::other(error)))?;
    let node = u128::from_be_bytes(bytes);
    space.put(&layout.data().join("node.new"), &path, format!("{node:032x}\n").as_bytes())?;
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;
    use std::sync::Arc;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "damage")]
    fn a_folder_keeps_its_identity_and_another_folder_has_another() {
        let node = |folder: &tempfile::TempDir| {
            let layout = Layout::new(folder.path());
            let space = Space::new(Arc::new(RealDisk), folder.path().to_owned(), 0, telemetry::Log::silent());
            read_or_make(&RealDisk, &layout, &space).unwrap()
        };
        let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let first = node(&one);
        assert_eq!(node(&one), first);
        assert_ne!(node(&other), first);
        for damaged in ["", "0", "\u{fffd}", "g0000000000000000000000000000000"] {
            std::fs::write(one.path().join("node"), damaged).unwrap();
            let made = node(&one);
            assert!(made != first && made == node(&one), "{damaged:?}");
        }
    }
}
