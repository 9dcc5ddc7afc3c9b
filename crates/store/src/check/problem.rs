//! What a check found.

use crate::digest::Digest;
use crate::orphans::Orphans;
use crate::record::Seq;
use std::fmt;
use std::path::PathBuf;

/// Something in the data folder that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// A row refers to a blob that is not on disk.
    BlobMissing(Digest),
    /// A blob has another size than its row says.
    BlobSize {
        /// Which.
        digest: Digest,
        /// The size in the row, in bytes.
        expected: u64,
        /// The size on disk.
        found: u64,
    },
    /// The bytes of a blob do not have the digest that is its name.
    BlobDamaged {
        /// Its name.
        digest: Digest,
        /// The digest of its bytes, hexadecimal.
        found: String,
    },
    /// The journal has a gap, or a row that cannot be read.
    Journal(String),
    /// Rows that no segment has, though one has later rows.
    SegmentMissing {
        /// The first of them.
        first: Seq,
        /// The last of them.
        last: Seq,
    },
    /// A segment cannot be read or does not match its name.
    SegmentDamaged(String),
    /// A segment differs from the journal.
    SegmentDiffers(String),
    /// A row of the log of recent rows differs from the journal, or the journal does not have it.
    RecentRowDiffers(Seq),
    /// The bytes of a cached file of an upstream do not match its digest. The next request fetches it again.
    CachedFileDamaged {
        /// A path for which it is cached.
        path: String,
        /// The digest that it should have.
        digest: Digest,
        /// The digest of its bytes, hexadecimal.
        found: String,
    },
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
            Self::Journal(why) | Self::SegmentDamaged(why) => f.write_str(why),
            Self::SegmentMissing { first, last } => write!(f, "no segment holds the rows {} to {}", first.0, last.0),
            Self::SegmentDiffers(name) => write!(f, "the segment `{name}` differs from the journal"),
            Self::RecentRowDiffers(seq) => {
                write!(f, "the row {} in the log of recent changes differs from the journal", seq.0)
            }
            Self::CachedFileDamaged { path, digest, found } => {
                write!(f, "the file `{digest}`, kept of an upstream for `{path}`, has the digest `{found}`")
            }
            Self::Stray(path) => write!(f, "the file `{}` has no place here", path.display()),
        }
    }
}

/// What was checked, and what was wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Journal rows that were read.
    pub rows: u64,
    /// Blobs that were checked.
    pub blobs: u64,
    /// Segments that were read.
    pub segments: u64,
    /// Cached files of upstreams.
    pub cached_files: u64,
    /// The number of those that were read.
    pub cached_files_read: u64,
    /// Empty: nothing is wrong.
    pub problems: Vec<Problem>,
    /// Temporary files of uploads that a killed process left. No damage: the next start of the server removes them.
    pub leftovers: Vec<PathBuf>,
    /// Blobs that no row refers to. No damage to what is served. After a lost truth they are the blobs that a rebuild cannot name.
    pub orphans: Orphans,
}
