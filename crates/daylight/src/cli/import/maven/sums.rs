//! The checksums of a file, and whether those beside it say the same.

use super::tree::Found;
use anyhow::Context as _;
use data_encoding::HEXLOWER;
use format::tree::{Checksum, LONGEST_CHECKSUM};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};
use std::fs::File;
use std::io::{self, Read as _, Write};

/// The SHA-1 of `file`, which is opened, hexadecimal, if all checksums beside it are its own. The inner error says which is not.
pub(super) fn verified(found: &Found, mut file: &File) -> Result<Result<String, String>, anyhow::Error> {
    let unread = || format!("cannot read `{}`", found.file.display());
    let asked = |checksum| checksum == Checksum::Sha1 || found.checksums.iter().any(|(beside, _)| *beside == checksum);
    let mut sums = Sums {
        md5: asked(Checksum::Md5).then(Md5::new),
        sha1: Sha1::new(),
        sha256: asked(Checksum::Sha256).then(Sha256::new),
        sha512: asked(Checksum::Sha512).then(Sha512::new),
    };
    io::copy(&mut file, &mut sums).with_context(unread)?;
    let sha1 = HEXLOWER.encode(&sums.sha1.finalize());
    let (md5, sha256, sha512) = (sums.md5.map(finished), sums.sha256.map(finished), sums.sha512.map(finished));
    for (checksum, beside) in &found.checksums {
        let is = match checksum {
            Checksum::Md5 => md5.as_deref(),
            Checksum::Sha1 => Some(sha1.as_str()),
            Checksum::Sha256 => sha256.as_deref(),
            Checksum::Sha512 => sha512.as_deref(),
        };
        let mut text = Vec::new();
        let beside = File::open(beside).with_context(|| format!("cannot read `{}`", beside.display()))?;
        beside.take(LONGEST_CHECKSUM as u64).read_to_end(&mut text)?;
        let said = checksum.read(&text);
        if said.as_deref() != is {
            let (is, said) = (is.unwrap_or_default(), said.as_deref().unwrap_or("nothing that is one"));
            return Ok(Err(format!("its {} is {is}, and the file beside it says {said}", checksum.ending())));
        }
    }
    Ok(Ok(sha1))
}

/// Hashes what is written to it, in the ways that are needed.
struct Sums {
    md5: Option<Md5>,
    sha1: Sha1,
    sha256: Option<Sha256>,
    sha512: Option<Sha512>,
}

impl Write for Sums {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sha1.update(bytes);
        self.md5.iter_mut().for_each(|sum| sum.update(bytes));
        self.sha256.iter_mut().for_each(|sum| sum.update(bytes));
        self.sha512.iter_mut().for_each(|sum| sum.update(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn finished(sum: impl Digest) -> String {
    HEXLOWER.encode(&sum.finalize())
}
