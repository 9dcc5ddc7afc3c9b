//! A file that an index of the upstream places: its path below the upstream's URL, which is another one than here, its
//! size and its digest.
//!
//! The setting `checksums` decides about other bytes, as it does where a checksum lies beside the file, and none is
//! requested from there. Bytes that it lets pass are marked with the digest that they lack, so that they are the answer
//! only as long as the index has that digest.

use crate::upstream::declared_digests::DeclaredDigests;
use crate::upstream::failure::Failure;
use store::{CachedFile, Hashes};
use telemetry::Reason;

/// A file that an index places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlacedFile {
    /// Its path below the upstream's URL, decoded, without a leading slash.
    pub(crate) path: String,
    /// Its size in the index.
    pub(crate) size_bytes: u64,
    /// Its digests in the index.
    pub(crate) digests: DeclaredDigests,
}

impl PlacedFile {
    /// Whether the bytes have the size and the digests.
    pub(crate) fn check(&self, hashes: &Hashes) -> Result<(), Failure> {
        self.check_size(hashes.size_bytes)?;
        self.digests.check(hashes).map_err(|differs| Failure::differs(&differs))
    }

    /// Whether a body of this size can be the file.
    pub(crate) fn check_size(&self, size_bytes: u64) -> Result<(), Failure> {
        match size_bytes == self.size_bytes {
            true => Ok(()),
            false => {
                let text = format!(
                    "the file from the upstream has {size_bytes} bytes, and its index says {}",
                    self.size_bytes
                );
                Err(Failure::new(Reason::UpstreamInvalid, text))
            }
        }
    }

    /// The mark of cached bytes that were taken in place of the file. It stands where an `ETag` would.
    pub(crate) fn mark(&self) -> String {
        format!("index {} {}", self.size_bytes, self.digests)
    }

    /// Whether cached bytes are not the answer.
    pub(crate) fn refutes(&self, is_strict: bool, known: &CachedFile) -> bool {
        let is_marked = !is_strict && known.validator.as_deref() == Some(&*self.mark());
        !is_marked && self.check(&known.hashes).is_err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::tree::Checksum;
    use telemetry::Millis;

    fn cached(bytes: &[u8], validator: Option<String>) -> CachedFile {
        CachedFile {
            hashes: Hashes::of(bytes),
            validator,
            modified: None,
            first_seen: Millis(0),
            fetched: Millis(0),
            checked: Millis(0),
            verified: Some(true),
        }
    }

    #[test]
    fn cached_bytes_are_the_answer_with_the_digest_of_the_index_or_with_the_mark_that_they_were_taken_for_it() {
        let digests = DeclaredDigests::said(Checksum::Md5, Hashes::of(b"lamp").md5.unwrap());
        let file = PlacedFile { path: "packages/a".into(), size_bytes: 4, digests };
        assert!(!file.refutes(true, &cached(b"lamp", None)) && file.refutes(true, &cached(b"lump", None)));
        let taken = cached(b"lump", Some(file.mark()));
        assert!(!file.refutes(false, &taken), "as long as its checksums are not enforced");
        assert!(file.refutes(true, &taken) && file.refutes(false, &cached(b"lump", None)));
        let retagged =
            PlacedFile { digests: DeclaredDigests::said(Checksum::Md5, Hashes::of(b"oil").md5.unwrap()), ..file };
        assert!(retagged.refutes(false, &taken), "it was taken for another file");
    }

    #[test]
    fn a_file_of_another_size_is_refused_before_its_digest_is_compared() {
        let digests = DeclaredDigests::said(Checksum::Sha1, Hashes::of(b"lamp").sha1);
        let file = PlacedFile { path: String::new(), size_bytes: 5, digests };
        assert!(file.check(&Hashes::of(b"lamp")).unwrap_err().detail().contains("has 4 bytes, and its index says 5"));
    }
}
