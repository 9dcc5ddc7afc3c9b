//! Copies of large replies in the kernel's memory. The kernel sends them as it sends files, without copying them for
//! each client.

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use std::fs::File;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};
use telemetry::{Bound, BoundName, Recorder, Slot};

/// Sizes of bodies that get a copy. For a smaller body, write(2) is faster than sendfile(2), and making a larger copy
/// would block a core's other clients for too long.
const WORTH: RangeInclusive<usize> = 24 << 10..=1 << 20;

/// Makes the copies. Each of them takes a descriptor.
#[derive(Debug)]
pub struct KernelCopies(Arc<Bound>);

/// The copy of one body. It is made when it is first needed.
#[derive(Debug, Clone, Default)]
pub struct KernelCopy(OnceLock<Option<Arc<Copied>>>);

#[derive(Debug)]
struct Copied {
    file: Arc<File>,
    _slot: Slot,
}

impl KernelCopies {
    /// Allows up to `most` copies. `which` distinguishes their bound, which is registered at `recorder`, from others.
    pub fn new(which: &str, most: u64, recorder: &Recorder) -> Self {
        let bound = Bound::new(BoundName::PageFiles, which, most);
        recorder.register(bound.clone());
        Self(bound)
    }

    /// The copy of `body`, if its size is right (24 KiB to 1 MiB) and the bound allows it. `copy` belongs to this body.
    pub fn of(&self, body: &[u8], copy: &KernelCopy) -> Option<Arc<File>> {
        if !WORTH.contains(&body.len()) {
            return None;
        }
        let made = || {
            let slot = self.0.enter().ok()?;
            Some(Arc::new(Copied { file: Arc::new(write(body).ok()?), _slot: slot }))
        };
        copy.0.get_or_init(made).as_ref().map(|copied| copied.file.clone())
    }
}

impl KernelCopy {
    /// Bytes that the copy of such a body takes.
    pub fn weight(body: &[u8]) -> usize {
        if WORTH.contains(&body.len()) { body.len() } else { 0 }
    }
}

/// A sealed memory file, which cannot be changed any more.
fn write(body: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create("page", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
    file.write_all(body)?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;
    use telemetry::Clock;

    #[test]
    fn a_copy_is_made_once_for_bodies_that_are_worth_it_while_there_is_room() {
        let copies = KernelCopies::new("", 1, &Recorder::silent(Clock::default()));
        let (small, large) = (vec![1; WORTH.start() - 1], vec![2; WORTH.start() + 1]);
        assert!(copies.of(&small, &KernelCopy::default()).is_none());
        let copy = KernelCopy::default();
        let file = copies.of(&large, &copy).unwrap();
        let mut read = vec![0; large.len() + 1];
        assert_eq!(file.read_at(&mut read, 0).unwrap(), large.len());
        assert_eq!(read[..large.len()], large);
        assert!(Arc::ptr_eq(&copies.of(&large, &copy.clone()).unwrap(), &file));
        assert!(file.write_at(&[0], 0).is_err() && file.set_len(0).is_err());
        // A body that was refused once is not tried again.
        let late = KernelCopy::default();
        assert!(copies.of(&large, &late).is_none());
        drop(copy);
        assert!(copies.of(&large, &late).is_none());
        assert!(copies.of(&large, &KernelCopy::default()).is_some());
    }
}
