//! The disk space that a cached file takes.

/// Disks allocate whole blocks of this many bytes.
const BLOCK: u64 = 4096;
/// Roughly the bytes of a file's row in the database and its indexes.
const ROW: u64 = 2048;

/// The bytes that a file of this size takes on the disk, with its row.
pub(super) fn weight(size_bytes: u64) -> u64 {
    size_bytes.div_ceil(BLOCK).saturating_mul(BLOCK).saturating_add(ROW)
}
