//! What of a file the kernel holds in memory: sending or reading that never waits for a disk.

use rustix::fs::{Advice, fadvise};
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use telemetry::Tick;

/// Between two bytes that are looked for. The kernel forgets a file piece by piece, as it was not read for long, and what it still
/// has may have gaps of any size; it brings no less than so much back.
const STEP: u64 = 32 << 10;
/// What is looked through at once, and known by for a while.
const CHUNK: u64 = 1 << 20;
/// For so long what was found is taken to be there still, in nanoseconds: looking takes a microsecond for each byte, and whoever
/// sends the same has it stay.
const KEPT: u64 = 1_000_000_000;
/// Chunks that a core knows of.
const KNOWN: usize = 512;
/// Bytes read at once to bring a part of a file into memory.
const PIECE: usize = 64 << 10;

/// A chunk that was found whole: of which file, by where that is kept here; the how manieth; and when.
type Found = (usize, u64, Tick);

thread_local! {
    static FOUND: RefCell<Box<[Found]>> = RefCell::new(vec![(0, 0, Tick(0)); KNOWN].into_boxed_slice());
}

/// Reads what is in memory into `into`, which may be less than fits; 0 is the file's end. `None`: a disk would have to be
/// waited for, or this file system cannot tell.
pub(crate) fn read_now(file: &File, into: &mut [u8], at: u64) -> Option<io::Result<usize>> {
    match preadv2(file, &mut [IoSliceMut::new(into)], at, ReadWriteFlags::NOWAIT) {
        Err(Errno::AGAIN | Errno::OPNOTSUPP | Errno::NOSYS) => None,
        done => Some(done.map_err(io::Error::from)),
    }
}

/// Whether everything from `at` to before `end` seems to be in memory, or was within a second.
pub(crate) fn in_memory(file: &Arc<File>, at: u64, end: u64) -> bool {
    let (now, address) = (Tick::now(), Arc::as_ptr(file).addr());
    FOUND.with_borrow_mut(|found| {
        (at / CHUNK..end.div_ceil(CHUNK)).all(|chunk| {
            // Files are apart by some hundred bytes.
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

/// The same, looked for now. What lies behind the file's end needs no disk.
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
