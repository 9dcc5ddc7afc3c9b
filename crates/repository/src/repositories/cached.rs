//! The number and size of an upstream's cached files, and the decision about them when its URL changes.

use schemars::JsonSchema;
use serde::Serialize;

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

/// The cached files of the upstream, where that would get, or got, another URL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PreviewCached")]
pub struct Cached {
    /// Their number.
    pub files: u64,
    /// Their size, in bytes.
    pub size_bytes: u64,
    /// Releases among them whose checksums were verified: `keep_cached` keeps these.
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
