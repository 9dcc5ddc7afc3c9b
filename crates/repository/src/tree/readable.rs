//! What must be readable of a file before it is kept.

/// Why clients cannot read bytes.
pub(crate) type Check = Box<dyn Fn(&[u8]) -> Result<(), String> + Send>;

/// A file that clients must be able to read.
pub(crate) struct Readable {
    /// Most bytes that it may have.
    pub(crate) longest: usize,
    /// Why they cannot.
    pub(crate) check: Check,
}
