//! Reads the bytes of a fetched document from memory or from a file, up to the maximum size of a document.

use bytes::Bytes;
use std::io;
use std::os::unix::fs::FileExt;
use store::Held;

/// Reads a document. It reads at most one byte more than the maximum; that byte shows that the document is too long.
pub(crate) fn read(
    held: &Held,
    size_bytes: u64,
    longest: usize,
) -> impl FnOnce() -> io::Result<Bytes> + Send + 'static {
    let (held, most) = (held.clone(), size_bytes.min(longest as u64 + 1));
    move || match held {
        Held::Bytes(bytes) => Ok(bytes),
        Held::File(file) => {
            let mut bytes = vec![0; usize::try_from(most).unwrap_or(usize::MAX)];
            file.read_exact_at(&mut bytes, 0)?;
            Ok(bytes.into())
        }
    }
}
