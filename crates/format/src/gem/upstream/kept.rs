//! What must be known of a kept file to verify its continuation: its length, its last byte and the states of its digests.

use crate::gem::package::hex;
use md5::Md5;
use sha2::{Digest as _, Sha256};

/// A file of which the beginning is known. Each byte is hashed once, however often the file grows.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    len: u64,
    last: Option<u8>,
    md5: Md5,
    sha256: Sha256,
}

impl Kept {
    /// Continues the file with these bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        self.last = bytes.last().copied().or(self.last);
        self.md5.update(bytes);
        self.sha256.update(bytes);
    }

    /// Its length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has no byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its last byte.
    pub fn last(&self) -> Option<u8> {
        self.last
    }

    /// The range to request, of which the first byte is the last one that is kept: `bytes=41-` for 42 bytes. Bundler since 1.15
    /// does the same, so that an unchanged file is no reason for 416.
    pub fn range(&self) -> Option<String> {
        Some(format!("bytes={}-", self.len.checked_sub(1)?))
    }

    /// The MD5 so far.
    pub fn md5(&self) -> [u8; 16] {
        self.md5.clone().finalize().into()
    }

    /// The MD5 so far, in hexadecimal.
    pub fn md5_hex(&self) -> String {
        hex(&self.md5())
    }

    /// The SHA-256 so far.
    pub fn sha256(&self) -> [u8; 32] {
        self.sha256.clone().finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_read_in_parts_has_the_digests_of_the_whole() {
        let (mut whole, mut parts) = (Kept::default(), Kept::default());
        assert_eq!((parts.range(), parts.last()), (None, None));
        whole.add(b"---\na 1 x\n");
        [&b"---"[..], b"", b"\na 1 x\n"].iter().for_each(|part| parts.add(part));
        assert_eq!((parts.md5(), parts.sha256(), parts.len()), (whole.md5(), whole.sha256(), 10));
        assert_eq!((parts.last(), parts.range().as_deref()), (Some(b'\n'), Some("bytes=9-")));
        assert_eq!(parts.md5_hex(), crate::gem::info::md5_hex(b"---\na 1 x\n"));
    }
}
