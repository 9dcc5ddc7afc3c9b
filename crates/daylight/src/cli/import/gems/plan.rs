//! The order of the upload: the versions of each gem in ascending order, so that the index lists them as they were released. The
//! dates of the files do not decide it, as copying a folder often changes them.

use crate::cli::import::origin::modified;
use crate::cli::import::report::FileOutcome;
use data_encoding::HEXLOWER;
use format::gem::{Limits, Package, package};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use telemetry::Millis;

/// A version to upload.
#[derive(Debug)]
pub(super) struct Version {
    pub(super) file: PathBuf,
    /// The SHA-256 of the file, hexadecimal.
    pub(super) sha256: String,
    pub(super) package: Package,
    /// When it was published on the server that it comes from, where that is known.
    pub(super) published: Option<Millis>,
}

/// All versions of one gem, in the order in which they are uploaded.
#[derive(Debug)]
pub(super) struct Gem {
    pub(super) name: String,
    pub(super) versions: Vec<Version>,
}

/// Reads a file once, to its end: the package and the digest.
pub(super) fn read(file: PathBuf) -> Result<Version, FileOutcome> {
    let opened = match File::open(&file) {
        Ok(opened) => opened,
        Err(error) => return Err(FileOutcome::Refused { reason: error.to_string(), file }),
    };
    let mut bytes = HashingReader { inner: BufReader::with_capacity(64 << 10, opened), sha256: Sha256::new() };
    let read = package::read_installable(&mut bytes, &Limits::default());
    // The digest covers bytes after the end of the archive, too.
    let rest = io::copy(&mut bytes, &mut io::sink());
    match (read, rest) {
        (Ok(package), Ok(_)) => Ok(Version { published: modified(&file), file, sha256: bytes.digest(), package }),
        (Err(invalid), _) => {
            let hint = invalid.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            Err(FileOutcome::Refused { reason: format!("{invalid}{hint}"), file })
        }
        (_, Err(error)) => Err(FileOutcome::Refused { reason: error.to_string(), file }),
    }
}

/// Opens a file again, if its bytes have not changed since it was read.
pub(super) fn open_unchanged(file: &Path, sha256: &str) -> io::Result<Option<Arc<File>>> {
    let file = File::open(file)?;
    let mut bytes = HashingReader { inner: &file, sha256: Sha256::new() };
    io::copy(&mut bytes, &mut io::sink())?;
    let same = bytes.digest() == sha256;
    Ok(same.then(|| Arc::new(file)))
}

/// Sorts the versions. Files that could not be read are refused.
pub(super) fn plan(read: Vec<Result<Version, FileOutcome>>) -> (Vec<Gem>, Vec<FileOutcome>) {
    let (mut gems, mut refused): (BTreeMap<String, Vec<Version>>, Vec<FileOutcome>) = Default::default();
    for version in read {
        match version {
            Ok(version) => gems.entry(version.package.name.clone()).or_default().push(version),
            Err(outcome) => refused.push(outcome),
        }
    }
    let gem = |(name, mut versions): (String, Vec<Version>)| {
        // Of versions with the same number, `ruby` comes before the other platforms, which fall back to it.
        versions.sort_by(|a, b| {
            let platform = |version: &Version| (version.package.platform != "ruby", version.package.platform.clone());
            a.package
                .number
                .cmp(&b.package.number)
                .then_with(|| platform(a).cmp(&platform(b)))
                .then(a.file.cmp(&b.file))
        });
        Gem { name, versions }
    };
    (gems.into_iter().map(gem).collect(), refused)
}

/// Hashes the bytes that are read through it.
struct HashingReader<R> {
    inner: R,
    sha256: Sha256,
}

impl<R> HashingReader<R> {
    /// The digest of the bytes that were read, hexadecimal.
    fn digest(self) -> String {
        HEXLOWER.encode(&self.sha256.finalize())
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.sha256.update(&into[..read]);
        Ok(read)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "folders of other servers")]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_replaced_after_it_was_read_is_not_uploaded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a-1.gem");
        std::fs::write(&file, "one").unwrap();
        let sha256 = HEXLOWER.encode(&Sha256::digest("one"));
        assert!(open_unchanged(&file, &sha256).unwrap().is_some());
        std::fs::write(&file, "two").unwrap();
        assert!(open_unchanged(&file, &sha256).unwrap().is_none());
    }
}
