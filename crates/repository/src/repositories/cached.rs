//! The cached files of an upstream, counted, and what is to become of them when the upstream changes.

/// What is to become of the cached files of a former upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormerFiles {
    /// Nobody decided: where there are cached files, the upstream is not changed.
    Undecided,
    /// Releases with verified checksums are kept.
    KeepVerified,
    /// None is kept.
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
    /// The number of files that are lost, and their size in bytes.
    pub fn lost(self, decided: FormerFiles) -> (u64, u64) {
        match decided {
            FormerFiles::KeepVerified => (self.files - self.verified_files, self.size_bytes - self.verified_bytes),
            FormerFiles::Undecided | FormerFiles::Drop => (self.files, self.size_bytes),
        }
    }
}
