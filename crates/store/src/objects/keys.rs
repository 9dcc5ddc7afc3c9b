//! The keys of objects: `PREFIX/blobs/aa/bb/DIGEST.GENERATION` and `PREFIX/segments/NAME`.
//!
//! No key is the beginning of another one up to a slash, because some servers keep objects as files. Objects with
//! other keys stay as they are.

use crate::blobs::digest::Digest;
use crate::journal::record::Seq;
use crate::objects::Objects;
use object_store::ObjectMeta;
use object_store::path::Path as Key;

/// A blob in object storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ObjectBlob {
    pub(crate) digest: Digest,
    /// The last change that said that the bytes were deleted, when they were sent.
    pub(crate) generation: Seq,
    pub(crate) size_bytes: u64,
}

impl Objects {
    /// The key of a blob.
    pub(crate) fn blob(&self, digest: &Digest, generation: Seq) -> Key {
        let name = digest.to_string();
        Key::from(format!("{}/blobs/{}/{}/{name}.{}", self.prefix, &name[..2], &name[2..4], generation.0))
    }

    /// What the keys of all blobs begin with.
    pub(crate) fn all_blobs(&self) -> Key {
        Key::from(format!("{}/blobs", self.prefix))
    }

    /// What the keys of the blobs begin with whose digests start with this byte.
    pub(crate) fn blobs(&self, first: u8) -> Key {
        Key::from(format!("{}/blobs/{first:02x}", self.prefix))
    }

    /// The key of a segment.
    pub(crate) fn segment(&self, name: &str) -> Key {
        Key::from(format!("{}/segments/{name}", self.prefix))
    }

    /// What the keys of all segments begin with.
    pub(crate) fn segments(&self) -> Key {
        Key::from(format!("{}/segments", self.prefix))
    }

    /// The blob with this key; `None`: this is not the key of a blob.
    pub(crate) fn read_blob(&self, meta: &ObjectMeta) -> Option<ObjectBlob> {
        let (digest, generation) = meta.location.filename()?.split_once('.')?;
        let blob = ObjectBlob {
            digest: digest.parse().ok()?,
            generation: Seq(generation.parse().ok()?),
            size_bytes: meta.size,
        };
        (self.blob(&blob.digest, blob.generation) == meta.location).then_some(blob)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::objects::in_memory;

    #[test]
    fn a_key_has_the_digest_and_the_generation_and_no_other_key_is_that_of_a_blob() {
        let (objects, digest) = (in_memory(), Digest([0xab; 32]));
        let key = objects.blob(&digest, Seq(7));
        assert_eq!(key.as_ref(), format!("test/blobs/ab/ab/{digest}.7"));
        assert!(key.prefix_matches(&objects.blobs(0xab)) && !key.prefix_matches(&objects.blobs(0xa)));
        let of = |key: Key| {
            let last_modified = std::time::SystemTime::UNIX_EPOCH.into();
            objects.read_blob(&ObjectMeta { location: key, last_modified, size: 3, e_tag: None, version: None })
        };
        assert_eq!(of(key), Some(ObjectBlob { digest, generation: Seq(7), size_bytes: 3 }));
        let foreign =
            ["ab/ab/x.7", "ab/DIGEST.7", "ab/ab/DIGEST", "ab/ab/DIGEST.07", "ab/cd/DIGEST.7", "ab/ab/DIGEST.-1"];
        for foreign in foreign {
            let key = format!("test/blobs/{}", foreign.replace("DIGEST", &digest.to_string()));
            assert_eq!(of(Key::from(key)), None, "{foreign}");
        }
    }
}
