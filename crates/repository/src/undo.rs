//! For how long the removal of a file or of a repository can be undone. From then on it is final: the path stays taken, and the bytes
//! may be deleted.

/// That time in days.
pub const UNDO_DAYS: i64 = 7;

/// The same in milliseconds.
pub(crate) const UNDO_MS: i64 = UNDO_DAYS * 24 * 60 * 60 * 1_000;
