//! The number and size of an upstream's cached files, and the decision about them when its URL changes.

/// The decision about the cached files of a former upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormerFiles {
    /// No decision: the URL is not changed while there are cached files.
    Undecided,
    /// Keep releases with verified checksums.
    KeepVerified,
    /// Delete all.
    Drop,
}

/// The files in the cache of one upstream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cached {
    /// Their number.
    pub files: u64,
    /// Their size, in bytes.
    pub size_bytes: u64,
    /// The number of releases whose checksums were verified.
    pub verified_files: u64,
    /// The size of those releases, in bytes.
    pub verified_bytes: u64,
}

impl Cached {
    /// The number and the size in bytes of the files that this decision deletes.
    pub fn lost(self, decided: FormerFiles) -> (u64, u64) {
        match decided {
            FormerFiles::KeepVerified => (self.files - self.verified_files, self.size_bytes - self.verified_bytes),
            FormerFiles::Undecided | FormerFiles::Drop => (self.files, self.size_bytes),
        }
    }
}
