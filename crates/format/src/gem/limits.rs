//! Limits on the parts of a package, so that no package takes too much memory or time.

/// The limits. Memory stays within a small multiple of `member_bytes`.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of the gemspec, of the checksums and of a signature each, packed and unpacked.
    pub member_bytes: u64,
    /// Depth of lists and mappings.
    pub yaml_depth: usize,
    /// Values, lists and mappings in all. A gemspec lists all its files.
    pub yaml_nodes: usize,
    /// Characters of one value, with its indentation.
    pub yaml_scalar_chars: usize,
    /// Bytes of the facts as JSON. The journal keeps the facts of each version permanently.
    pub facts_bytes: usize,
    /// Pairs of metadata.
    pub metadata_pairs: usize,
    /// Dependencies of both kinds together. Each index of the gem contains those of all versions.
    pub dependencies: usize,
    /// Unpacked bytes of the content that are read for people, and files of it.
    pub content_bytes: u64,
    /// See `content_bytes`.
    pub content_files: usize,
    /// Bytes of a README.
    pub readme_bytes: usize,
    /// Items of every other list: authors, licences, executables, constraints of one requirement.
    pub list_items: usize,
}

impl Default for Limits {
    /// 10 MiB, as in RubyGems; the other limits are far above the needs of published gems.
    fn default() -> Self {
        Self {
            member_bytes: 10 << 20,
            yaml_depth: 24,
            yaml_nodes: 200_000,
            yaml_scalar_chars: 128 << 10,
            facts_bytes: 256 << 10,
            metadata_pairs: 128,
            dependencies: 1000,
            content_bytes: 16 << 20,
            content_files: 5000,
            readme_bytes: 256 << 10,
            list_items: 256,
        }
    }
}
