//! The results of a check.

use crate::blobs::digest::Digest;
use crate::blobs::orphans::Orphans;
use crate::disk::derived::DamagedIndex;
use crate::journal::record::Seq;
use std::fmt;
use std::path::PathBuf;

/// A defect in the data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// A row refers to a blob that is not on disk.
    BlobMissing(Digest),
    /// A blob has another size than its row says.
    BlobSize {
        /// The digest.
        digest: Digest,
        /// The size in the row, in bytes.
        expected: u64,
        /// The size on disk.
        found: u64,
    },
    /// The digest of a blob's bytes differs from its name.
    BlobDamaged {
        /// Its name.
        digest: Digest,
        /// The digest of its bytes, hexadecimal.
        found: String,
    },
    /// Object storage lacks a blob that a row names, or has one of another size.
    ObjectMissing(Digest),
    /// The digest of the bytes in object storage differs from their name.
    ObjectDamaged {
        /// The name.
        digest: Digest,
        /// The digest of the bytes, hexadecimal.
        found: String,
    },
    /// The journal has a gap, or a row that cannot be read.
    Journal(String),
    /// Rows that no segment has, although a segment has later rows.
    SegmentMissing {
        /// The first missing row.
        first: Seq,
        /// The last missing row.
        last: Seq,
    },
    /// A segment cannot be read or does not match its name.
    SegmentDamaged(String),
    /// A segment differs from the journal.
    SegmentDiffers(String),
    /// A row of the log of recent rows differs from the journal, or the journal does not have it.
    RecentRowDiffers(Seq),
    /// The bytes of a cached file of an upstream do not match its digest. The next request downloads it again.
    CachedFileDamaged {
        /// A path for which it is cached.
        path: String,
        /// The digest that it should have.
        digest: Digest,
        /// The digest of its bytes, hexadecimal.
        found: String,
    },
    /// A saved index cannot be read or decoded. The server makes it again.
    IndexDamaged(DamagedIndex),
    /// A file that the store did not put there.
    Stray(PathBuf),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BlobMissing(digest) => write!(f, "the blob `{digest}` is not on disk"),
            Self::BlobSize { digest, expected, found } => {
                write!(f, "the blob `{digest}` has {found} bytes instead of {expected}")
            }
            Self::BlobDamaged { digest, found } => write!(f, "the blob `{digest}` has the digest `{found}`"),
            Self::ObjectMissing(digest) => write!(f, "the blob `{digest}` is not in object storage"),
            Self::ObjectDamaged { digest, found } => {
                write!(f, "the blob `{digest}` has the digest `{found}` in object storage")
            }
            Self::Journal(why) | Self::SegmentDamaged(why) => f.write_str(why),
            Self::SegmentMissing { first, last } => write!(f, "no segment has the rows {} to {}", first.0, last.0),
            Self::SegmentDiffers(name) => write!(f, "the segment `{name}` differs from the journal"),
            Self::RecentRowDiffers(seq) => {
                write!(f, "the row {} in the log of recent changes differs from the journal", seq.0)
            }
            Self::CachedFileDamaged { path, digest, found } => {
                write!(f, "the cached file `{digest}` of `{path}` has the digest `{found}`")
            }
            Self::IndexDamaged(DamagedIndex { path, why }) => {
                write!(f, "the saved index `{}` is damaged: {why}", path.display())
            }
            Self::Stray(path) => write!(f, "the file `{}` does not belong in the data folder", path.display()),
        }
    }
}

/// The counts and the problems of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Journal rows that were read.
    pub rows: u64,
    /// Blobs that were checked.
    pub blobs: u64,
    /// Those of them that were looked for in object storage.
    pub objects: u64,
    /// Blobs that are only in object storage, which was not checked.
    pub unchecked: u64,
    /// Segments that were read.
    pub segments: u64,
    /// The number of cached files of upstreams.
    pub cached_files: u64,
    /// The number of cached files that were read.
    pub cached_files_read: u64,
    /// Published files of 0 bytes, by repository and path. Some are meant so.
    pub empty_files: Vec<(String, String)>,
    /// Empty: there are no problems.
    pub problems: Vec<Problem>,
    /// Temporary files of uploads, left by a killed process. Harmless: the next start of the server removes them.
    pub leftovers: Vec<PathBuf>,
    /// Blobs that no row refers to. Harmless. After the truth was lost, they include the blobs that only its lost rows named.
    pub orphans: Orphans,
}
