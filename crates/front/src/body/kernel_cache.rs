//! Which parts of a file the kernel holds in memory, so that sending or reading them never waits for a disk.

use rustix::fs::{Advice, fadvise};
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use telemetry::Tick;

/// The distance between two bytes that are probed. The kernel evicts a file page by page, so gaps may have any size;
/// it reads back no less than this much.
const STEP: u64 = 32 << 10;
/// The number of bytes that one stored result covers.
const CHUNK: u64 = 1 << 20;
/// How long a probe is trusted, in nanoseconds. A probe takes a microsecond for each byte, and sending a file keeps
/// it in memory.
const KEPT: u64 = 1_000_000_000;
/// Chunks that each core remembers.
const KNOWN: usize = 512;
/// Bytes per read when a part of a file is brought into memory.
const PIECE: usize = 64 << 10;

/// A chunk that was in memory: the address of the file's handle, the index of the chunk, and the time of the probe.
type Found = (usize, u64, Tick);

thread_local! {
    static FOUND: RefCell<Box<[Found]>> = RefCell::new(vec![(0, 0, Tick(0)); KNOWN].into_boxed_slice());
}

/// Reads from memory into `into`, possibly less than fits; 0 at the end of the file. `None`: the read would wait for
/// a disk, or the file system cannot tell.
pub(crate) fn read_now(file: &File, into: &mut [u8], at: u64) -> Option<io::Result<usize>> {
    match preadv2(file, &mut [IoSliceMut::new(into)], at, ReadWriteFlags::NOWAIT) {
        Err(Errno::AGAIN | Errno::OPNOTSUPP | Errno::NOSYS) => None,
        done => Some(done.map_err(io::Error::from)),
    }
}

/// Whether the bytes from `at` to before `end` seem to be in memory, or were within a second.
pub(crate) fn in_memory(file: &Arc<File>, at: u64, end: u64) -> bool {
    let (now, address) = (Tick::now(), Arc::as_ptr(file).addr());
    FOUND.with_borrow_mut(|found| {
        (at / CHUNK..end.div_ceil(CHUNK)).all(|chunk| {
            // Handles lie some hundred bytes apart, so the low bits of the address do not differ.
            let place = &mut found[((address >> 5).wrapping_add(chunk as usize)) % KNOWN];
            if (place.0, place.1) == (address, chunk) && now.since(place.2) <= KEPT {
                return true;
            }
            let (from, to) = (chunk * CHUNK, (chunk + 1) * CHUNK);
            if is_there(file, from, to) {
                *place = (address, chunk, now);
                return true;
            }
            is_there(file, from.max(at), to.min(end))
        })
    })
}

/// Probes now. Bytes behind the end of the file need no disk.
fn is_there(file: &File, from: u64, to: u64) -> bool {
    let mut byte = [0];
    for at in (from..to).step_by(STEP as usize).chain([to - 1]) {
        match read_now(file, &mut byte, at) {
            Some(Ok(0)) => return true,
            Some(_) => {}
            None => return false,
        }
    }
    true
}

/// Reads the bytes from `at` to before `end` into memory, and asks the kernel to read as much again. Blocks.
pub(crate) fn read_ahead(file: &File, mut at: u64, end: u64) -> io::Result<()> {
    let len = end - at;
    let mut piece = [0; PIECE];
    while at < end {
        let fits = usize::try_from(end - at).map_or(PIECE, |left| left.min(PIECE));
        match file.read_at(&mut piece[..fits], at)? {
            // The sender notices the end of the file itself.
            0 => return Ok(()),
            read => at += read as u64,
        }
    }
    // Only a hint. If it fails, the next read is slower.
    let _ = fadvise(file, end, NonZeroU64::new(len), Advice::WillNeed);
    Ok(())
}
