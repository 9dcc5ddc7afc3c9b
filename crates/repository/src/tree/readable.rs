//! The checks that a file must pass before it is stored.

/// Maximum size of a file of an upstream, in bytes.
pub(crate) const FILE_MAX_BYTES: u64 = 64 << 30;

/// Returns why clients cannot read these bytes.
pub(crate) type Check = Box<dyn Fn(&[u8]) -> Result<(), String> + Send>;

/// The checks of a file that clients must be able to read.
pub(crate) struct Readable {
    /// Maximum size, in bytes.
    pub(crate) longest: usize,
    /// Checks the content.
    pub(crate) check: Check,
}
