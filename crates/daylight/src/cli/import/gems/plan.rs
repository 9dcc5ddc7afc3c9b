//! In which order: each gem's versions one after the other, the lower first, so that the index tells them in the order in
//! which they came to be. When the files were made is not asked: a copy of a folder often has forgotten it.

use crate::cli::import::outcome::Outcome;
use data_encoding::HEXLOWER;
use format::gem::{Limits, Package, package};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A version to bring in.
#[derive(Debug)]
pub(super) struct Version {
    pub(super) file: PathBuf,
    /// Of the file, hexadecimal.
    pub(super) sha256: String,
    pub(super) package: Package,
}

/// All versions of one gem, in the order in which they are uploaded.
#[derive(Debug)]
pub(super) struct Gem {
    pub(super) name: String,
    pub(super) versions: Vec<Version>,
}

/// Reads a file to its end, once: the facts and the digest.
pub(super) fn read(file: PathBuf) -> Result<Version, Outcome> {
    let opened = match File::open(&file) {
        Ok(opened) => opened,
        Err(error) => return Err(Outcome::Refused { reason: error.to_string(), file }),
    };
    let mut bytes = Hashed { inner: BufReader::with_capacity(64 << 10, opened), sha256: Sha256::new() };
    let read = package::read(&mut bytes, &Limits::default());
    // What stands behind the end of the archive belongs to the bytes, too.
    let rest = io::copy(&mut bytes, &mut io::sink());
    match (read, rest) {
        (Ok(package), Ok(_)) => Ok(Version { file, sha256: bytes.digest(), package }),
        (Err(invalid), _) => {
            let hint = invalid.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            Err(Outcome::Refused { reason: format!("{invalid}{hint}"), file })
        }
        (_, Err(error)) => Err(Outcome::Refused { reason: error.to_string(), file }),
    }
}

/// Opens a file that was read before, if it still has the bytes that were read: others may have been put there since.
pub(super) fn opened(file: &Path, sha256: &str) -> io::Result<Option<Arc<File>>> {
    let file = File::open(file)?;
    let mut bytes = Hashed { inner: &file, sha256: Sha256::new() };
    io::copy(&mut bytes, &mut io::sink())?;
    let same = bytes.digest() == sha256;
    Ok(same.then(|| Arc::new(file)))
}

/// Puts the versions in order. What could not be read is refused already.
pub(super) fn plan(read: Vec<Result<Version, Outcome>>) -> (Vec<Gem>, Vec<Outcome>) {
    let (mut gems, mut refused): (BTreeMap<String, Vec<Version>>, Vec<Outcome>) = Default::default();
    for version in read {
        match version {
            Ok(version) => gems.entry(version.package.name.clone()).or_default().push(version),
            Err(outcome) => refused.push(outcome),
        }
    }
    let gem = |(name, mut versions): (String, Vec<Version>)| {
        // `ruby` before the platforms of the same number, which name it as what they fall back to.
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

/// Hashes what is read through it.
struct Hashed<R> {
    inner: R,
    sha256: Sha256,
}

impl<R> Hashed<R> {
    /// Of what was read, hexadecimal.
    fn digest(self) -> String {
        HEXLOWER.encode(&self.sha256.finalize())
    }
}

impl<R: Read> Read for Hashed<R> {
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
    fn a_file_that_was_exchanged_since_it_was_read_is_not_sent() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a-1.gem");
        std::fs::write(&file, "one").unwrap();
        let sha256 = HEXLOWER.encode(&Sha256::digest("one"));
        assert!(opened(&file, &sha256).unwrap().is_some());
        std::fs::write(&file, "two").unwrap();
        assert!(opened(&file, &sha256).unwrap().is_none());
    }
}
