//! What of a file the kernel holds in memory: sending or reading that never waits for a disk.

use rustix::fs::{Advice, fadvise};
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;

/// Between two bytes that are looked for. A gap between them is rare, as the kernel forgets a file in the order in which it was
/// read, and costs a wait for one read. Looking costs nearly a microsecond, sending as much some twenty.
const STEP: u64 = 512 << 10;
/// Bytes read at once to bring a part of a file into memory.
const PIECE: usize = 64 << 10;

/// Reads what is in memory into `into`, which may be less than fits; 0 is the file's end. `None`: a disk would have to be
/// waited for, or this file system cannot tell.
pub(crate) fn read_now(file: &File, into: &mut [u8], at: u64) -> Option<io::Result<usize>> {
    match preadv2(file, &mut [IoSliceMut::new(into)], at, ReadWriteFlags::NOWAIT) {
        Err(Errno::AGAIN | Errno::OPNOTSUPP | Errno::NOSYS) => None,
        done => Some(done.map_err(io::Error::from)),
    }
}

/// Whether everything from `at` to before `end` seems to be in memory. What lies behind the file's end needs no disk.
pub(crate) fn in_memory(file: &File, at: u64, end: u64) -> bool {
    let mut byte = [0];
    let mut there = |at| read_now(file, &mut byte, at).is_some();
    let mut steps = (at..end).step_by(usize::try_from(STEP).unwrap_or(usize::MAX));
    steps.all(&mut there) && there(end.saturating_sub(1))
}

/// Brings everything from `at` to before `end` into memory, and has the kernel begin with as much again. Blocks.
pub(crate) fn read_ahead(file: &File, mut at: u64, end: u64) -> io::Result<()> {
    let len = end - at;
    let mut piece = [0; PIECE];
    while at < end {
        let fits = usize::try_from(end - at).map_or(PIECE, |left| left.min(PIECE));
        match file.read_at(&mut piece[..fits], at)? {
            // Who sends it finds the end for himself.
            0 => return Ok(()),
            read => at += read as u64,
        }
    }
    // A hint: without it the next read is slower.
    let _ = fadvise(file, end, NonZeroU64::new(len), Advice::WillNeed);
    Ok(())
}
