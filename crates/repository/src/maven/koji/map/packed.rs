//! The files of a build as bytes, some twenty for each file.
//!
//! A folder is its number of files, then for each file a number for the end of its name and the kind of its digest, its
//! size, and its digest: whole, or the first 16 bytes of a longer one, which the journal has whole.

use crate::maven::koji::change::MappedFile;
use format::koji::model::FileDigest;
use format::tree::Checksum;
use sha2::{Digest as _, Sha256};

/// Bytes of a digest in memory.
pub(crate) const DIGEST_BYTES: usize = 16;

/// What the names of most files have after `lamp-1.0`, by their number, which begins at 2. Only memory has these
/// numbers. 0: another such end follows; 1: the whole name follows.
const ENDS: [&str; 30] = [
    ".pom",
    ".jar",
    "-sources.jar",
    "-javadoc.jar",
    "-tests.jar",
    "-test-sources.jar",
    ".war",
    ".zip",
    ".tar.gz",
    "-project-sources.tar.gz",
    "-scm-sources.zip",
    "-sources.zip",
    "-patches.zip",
    "-bin.zip",
    "-bin.tar.gz",
    "-src.zip",
    "-src.tar.gz",
    "-features.xml",
    "-dist.zip",
    "-dist.tar.gz",
    "-classes.jar",
    "-runtime.jar",
    "-licenses.zip",
    "-licenses.xml",
    "-site.jar",
    ".ear",
    ".rar",
    ".xml",
    ".json",
    ".txt",
];

/// The digest of a file as far as memory has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoundDigest {
    Whole(FileDigest),
    /// The first bytes of a SHA-1 or a SHA-256.
    Begins(DigestKind, [u8; DIGEST_BYTES]),
}

impl FoundDigest {
    /// The algorithm, which the importer of the file chose.
    pub(crate) fn algorithm(&self) -> Checksum {
        match self {
            Self::Whole(FileDigest::Md5(_)) => Checksum::Md5,
            Self::Whole(FileDigest::Sha1(_)) | Self::Begins(DigestKind::Sha1, _) => Checksum::Sha1,
            Self::Whole(FileDigest::Sha256(_)) | Self::Begins(DigestKind::Sha256, _) => Checksum::Sha256,
        }
    }

    /// Whether a digest is this one, or begins so.
    pub(crate) fn begins(&self, digest: &FileDigest) -> bool {
        match (self, digest) {
            (Self::Whole(whole), digest) => whole == digest,
            (Self::Begins(DigestKind::Sha1, bytes), FileDigest::Sha1(digest)) => digest.starts_with(bytes),
            (Self::Begins(DigestKind::Sha256, bytes), FileDigest::Sha256(digest)) => digest.starts_with(bytes),
            (Self::Begins(..), _) => false,
        }
    }
}

/// The kind of a digest of which memory has the first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DigestKind {
    Sha1,
    Sha256,
}

/// A file as its folder has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackedFile {
    pub(crate) name: String,
    pub(crate) size_bytes: u64,
    pub(crate) digest: FoundDigest,
}

/// The files of a build, packed, and where each folder begins.
#[derive(Debug)]
pub(crate) struct Packed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) folders: Vec<(String, u32)>,
    pub(crate) files: u32,
    /// The first bytes of a SHA-256 over all files with their digests.
    pub(crate) hash: [u8; 16],
}

/// Packs files in the order of their folders and names. `whole`: with whole digests.
pub(crate) fn pack(files: &[MappedFile], whole: bool) -> Packed {
    let mut sorted: Vec<&MappedFile> = files.iter().collect();
    sorted.sort_unstable_by(|one, other| (&one.folder, &one.name).cmp(&(&other.folder, &other.name)));
    sorted.dedup_by(|one, other| one.folder == other.folder && one.name == other.name);
    let (mut packed, mut folders, mut hash) = (Vec::new(), Vec::new(), Sha256::new());
    for of in sorted.chunk_by(|one, other| one.folder == other.folder) {
        let Some(folder) = of.first().map(|file| &file.folder) else { continue };
        folders.push((folder.clone(), u32::try_from(packed.len()).unwrap_or(u32::MAX)));
        put(&mut packed, of.len() as u64);
        for file in of {
            put_file(&mut packed, &stem(folder), file, whole);
            for text in [folder, &file.name] {
                hash.update((text.len() as u64).to_le_bytes());
                hash.update(text);
            }
            hash.update(file.size_bytes.to_le_bytes());
            hash.update([file.digest.bytes().len() as u8]);
            hash.update(file.digest.bytes());
        }
    }
    let files = u32::try_from(sorted.len()).unwrap_or(u32::MAX);
    let mut first = [0; 16];
    first.iter_mut().zip(hash.finalize()).for_each(|(to, from)| *to = from);
    Packed { bytes: packed, folders, files, hash: first }
}

/// `lamp-1.0`, with which the names in `org/example/lamp/1.0` begin.
fn stem(folder: &str) -> String {
    let (above, version) = folder.rsplit_once('/').unwrap_or(("", folder));
    let artifact = above.rsplit('/').next().unwrap_or_default();
    format!("{artifact}-{version}")
}

/// The kinds of digests in a packed file.
const MD5: u64 = 0;
const SHA1: u64 = 1;
const SHA256: u64 = 2;
const WHOLE_SHA1: u64 = 3;
const WHOLE_SHA256: u64 = 4;
const KINDS: u64 = 5;

fn put_file(packed: &mut Vec<u8>, stem: &str, file: &MappedFile, whole: bool) {
    let kind = match (&file.digest, whole) {
        (FileDigest::Md5(_), _) => MD5,
        (FileDigest::Sha1(_), false) => SHA1,
        (FileDigest::Sha256(_), false) => SHA256,
        (FileDigest::Sha1(_), true) => WHOLE_SHA1,
        (FileDigest::Sha256(_), true) => WHOLE_SHA256,
    };
    let end = file.name.strip_prefix(stem);
    let known = end.and_then(|end| ENDS.iter().position(|known| *known == end));
    let (code, inline) = match (known, end) {
        (Some(at), _) => (at as u64 + 2, None),
        (None, Some(end)) => (0, Some(end)),
        (None, None) => (1, Some(file.name.as_str())),
    };
    put(packed, code * KINDS + kind);
    if let Some(text) = inline {
        put(packed, text.len() as u64);
        packed.extend_from_slice(text.as_bytes());
    }
    put(packed, file.size_bytes);
    let digest = file.digest.bytes();
    let kept = if whole { digest } else { digest.get(..DIGEST_BYTES).unwrap_or(digest) };
    packed.extend_from_slice(kept);
}

/// The files of a folder, in the order of their names, until `each` returns `false`.
pub(crate) fn read(packed: &[u8], offset: u32, folder: &str, mut each: impl FnMut(PackedFile) -> bool) {
    let Some(mut rest) = packed.get(offset as usize..) else { return };
    let stem = stem(folder);
    for _ in 0..take(&mut rest).unwrap_or(0) {
        let Some(file) = read_file(&mut rest, &stem) else { return };
        if !each(file) {
            return;
        }
    }
}

fn read_file(rest: &mut &[u8], stem: &str) -> Option<PackedFile> {
    let code = take(rest)?;
    let name = match code / KINDS {
        0 => format!("{stem}{}", take_text(rest)?),
        1 => take_text(rest)?.to_owned(),
        known => format!("{stem}{}", ENDS.get(usize::try_from(known - 2).ok()?)?),
    };
    let size_bytes = take(rest)?;
    let digest = match code % KINDS {
        MD5 => FoundDigest::Whole(FileDigest::Md5(*take_bytes(rest)?)),
        SHA1 => FoundDigest::Begins(DigestKind::Sha1, *take_bytes(rest)?),
        SHA256 => FoundDigest::Begins(DigestKind::Sha256, *take_bytes(rest)?),
        WHOLE_SHA1 => FoundDigest::Whole(FileDigest::Sha1(*take_bytes(rest)?)),
        _ => FoundDigest::Whole(FileDigest::Sha256(*take_bytes(rest)?)),
    };
    Some(PackedFile { name, size_bytes, digest })
}

/// Adds a number, seven bits in a byte.
pub(crate) fn put(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Takes such a number off the front.
pub(crate) fn take(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn take_bytes<'a, const N: usize>(from: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (bytes, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(bytes)
}

/// Takes a text that follows its length off the front.
pub(crate) fn take_text<'a>(from: &mut &'a [u8]) -> Option<&'a str> {
    let length = usize::try_from(take(from)?).ok()?;
    let (text, rest) = from.split_at_checked(length)?;
    *from = rest;
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_folder_has_each_name_size_and_digest() {
        let file = |folder: &str, name: &str, size_bytes, digest| MappedFile {
            folder: folder.into(),
            name: name.into(),
            size_bytes,
            digest,
        };
        let long: [u8; 32] = std::array::from_fn(|at| at as u8);
        let files = [
            file("org/lamp/1.0", "lamp-1.0.jar", 5_000_000_000, FileDigest::Sha256(long)),
            file("org/lamp/1.0", "lamp-1.0-odd_ü.bin", 0, FileDigest::Md5([7; 16])),
            file("org/lamp/1.0", "settings", 300, FileDigest::Sha1([9; 20])),
            file("1.0", "-1.0.pom", 1, FileDigest::Sha1([8; 20])),
        ];
        for whole in [false, true] {
            let packed = pack(&files, whole);
            assert_eq!(
                packed.folders.iter().map(|(folder, _)| folder.as_str()).collect::<Vec<_>>(),
                ["1.0", "org/lamp/1.0"]
            );
            let mut found = Vec::new();
            read(&packed.bytes, packed.folders[1].1, "org/lamp/1.0", |file| {
                found.push(file);
                true
            });
            let names: Vec<&str> = found.iter().map(|file| file.name.as_str()).collect();
            assert_eq!(names, ["lamp-1.0-odd_ü.bin", "lamp-1.0.jar", "settings"]);
            assert_eq!(found[1].size_bytes, 5_000_000_000);
            let begins: [u8; 16] = std::array::from_fn(|at| at as u8);
            let digest = match whole {
                true => FoundDigest::Whole(FileDigest::Sha256(long)),
                false => FoundDigest::Begins(DigestKind::Sha256, begins),
            };
            assert_eq!((found[1].digest, found[0].digest), (digest, FoundDigest::Whole(FileDigest::Md5([7; 16]))));
        }
        let mut other = files.clone();
        other.reverse();
        assert_eq!(pack(&files, false).hash, pack(&other, true).hash);
        other[0].size_bytes = 2;
        assert_ne!(pack(&files, false).hash, pack(&other, false).hash);
    }
}
