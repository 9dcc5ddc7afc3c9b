//! The bytes of a document that was fetched, in memory or in a file, as far as a document may be long.

use bytes::Bytes;
use std::io;
use std::os::unix::fs::FileExt;
use store::Held;

/// Reads the bytes of a document, which may be in a file: as many as a document may have, and one more, which says that it has too
/// many.
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
