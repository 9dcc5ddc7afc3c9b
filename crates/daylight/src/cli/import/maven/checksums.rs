//! Compares an artifact with the checksum files beside it.

use super::tree::ArtifactFile;
use anyhow::Context as _;
use data_encoding::HEXLOWER;
use format::tree::{Checksum, LONGEST_CHECKSUM};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};
use std::fs::File;
use std::io::{self, Read as _, Write};

/// The SHA-1 of an artifact, hexadecimal, if all checksums beside it match. The inner error names one that does not.
pub(super) fn verify(artifact: &ArtifactFile, mut file: &File) -> anyhow::Result<Result<String, String>> {
    let unread = || format!("cannot read `{}`", artifact.file.display());
    let needed =
        |checksum| checksum == Checksum::Sha1 || artifact.checksums.iter().any(|(beside, _)| *beside == checksum);
    let mut digests = Digests {
        md5: needed(Checksum::Md5).then(Md5::new),
        sha1: Sha1::new(),
        sha256: needed(Checksum::Sha256).then(Sha256::new),
        sha512: needed(Checksum::Sha512).then(Sha512::new),
    };
    io::copy(&mut file, &mut digests).with_context(unread)?;
    let sha1 = hex(digests.sha1);
    let (md5, sha256, sha512) = (digests.md5.map(hex), digests.sha256.map(hex), digests.sha512.map(hex));
    for (checksum, beside) in &artifact.checksums {
        let actual = match checksum {
            Checksum::Md5 => md5.as_deref(),
            Checksum::Sha1 => Some(sha1.as_str()),
            Checksum::Sha256 => sha256.as_deref(),
            Checksum::Sha512 => sha512.as_deref(),
        };
        let mut text = Vec::new();
        let beside = File::open(beside).with_context(|| format!("cannot read `{}`", beside.display()))?;
        beside.take(LONGEST_CHECKSUM as u64).read_to_end(&mut text)?;
        let expected = checksum.read(&text);
        if expected.as_deref() != actual {
            let (actual, expected) = (actual.unwrap_or_default(), expected.as_deref().unwrap_or("no checksum"));
            return Ok(Err(format!(
                "its {} is {actual}, but the checksum file beside it has {expected}",
                checksum.ending()
            )));
        }
    }
    Ok(Ok(sha1))
}

/// Computes the needed digests of the bytes that are written to it.
struct Digests {
    md5: Option<Md5>,
    sha1: Sha1,
    sha256: Option<Sha256>,
    sha512: Option<Sha512>,
}

impl Write for Digests {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sha1.update(bytes);
        self.md5.iter_mut().for_each(|digest| digest.update(bytes));
        self.sha256.iter_mut().for_each(|digest| digest.update(bytes));
        self.sha512.iter_mut().for_each(|digest| digest.update(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn hex(digest: impl Digest) -> String {
    HEXLOWER.encode(&digest.finalize())
}
