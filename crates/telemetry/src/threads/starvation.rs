//! How long threads were ready to run and had no processor, as counted by the kernel. The load of the machine causes that, not the
//! threads.

use std::cell::{Cell, OnceCell};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// More than three numbers of 64 bits take.
const LONGEST: usize = 80;

thread_local! {
    /// The count of this thread at the last call, in nanoseconds.
    static SEEN: Cell<Option<u64>> = const { Cell::new(None) };
    /// The kernel's figures of this thread. It stays open: each beat of an event loop reads it.
    static FIGURES: OnceCell<Option<File>> = const { OnceCell::new() };
}

/// Nanoseconds that this thread starved since the last call. 0 at the first call, and where the kernel does not count.
pub(crate) fn since_last() -> u64 {
    let nanos =
        FIGURES.with(|file| starved(file.get_or_init(|| File::open("/proc/thread-self/schedstat").ok()).as_ref()?));
    let nanos = nanos.unwrap_or(0);
    nanos.saturating_sub(SEEN.replace(Some(nanos)).unwrap_or(nanos))
}

/// Fields: nanoseconds run, nanoseconds starved, number of time slices. The file is in memory.
fn starved(figures: &File) -> Option<u64> {
    let mut text = [0; LONGEST];
    let length = figures.read_at(&mut text, 0).ok()?;
    std::str::from_utf8(text.get(..length)?).ok()?.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_a_thread_can_be_read_again_and_again() {
        let figures = File::open("/proc/thread-self/schedstat").unwrap();
        let first = starved(&figures).unwrap();
        assert!(starved(&figures).unwrap() >= first);
        assert_eq!(since_last(), 0, "the first call has nothing to compare with");
    }
}
