//! How much of a package is read, so that no package takes more memory or time than others.

/// How much of a package is looked at. Memory stays within a small multiple of `member_bytes`.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of the gemspec, of the checksums and of a signature each, packed and unpacked.
    pub member_bytes: u64,
    /// Lists and mappings within each other.
    pub yaml_depth: usize,
    /// Values, lists and mappings in all; a gemspec names all its files.
    pub yaml_nodes: usize,
    /// Characters of one value, with its indentation.
    pub yaml_scalar_chars: usize,
    /// Bytes of the facts as JSON: each version brings them into the journal, which is kept for ever.
    pub facts_bytes: usize,
    /// Pairs of metadata.
    pub metadata_pairs: usize,
    /// Dependencies, of each kind together. Each index of the gem has those of all versions.
    pub dependencies: usize,
    /// Items of every other list: authors, licences, executables, constraints of one requirement.
    pub list_items: usize,
}

impl Default for Limits {
    /// 10 MiB, as in RubyGems; the others far above what published gems have.
    fn default() -> Self {
        Self {
            member_bytes: 10 << 20,
            yaml_depth: 24,
            yaml_nodes: 200_000,
            yaml_scalar_chars: 128 << 10,
            facts_bytes: 256 << 10,
            metadata_pairs: 128,
            dependencies: 1000,
            list_items: 256,
        }
    }
}
