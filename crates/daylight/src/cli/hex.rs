//! Digests in the form in which indexes and checksums say them.

/// Small hexadecimal digits.
pub(super) fn hex(digest: impl AsRef<[u8]>) -> String {
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
