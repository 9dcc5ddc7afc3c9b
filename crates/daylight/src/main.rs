//! The program. All of its code is in the library, where tests can reach it.

use std::process::ExitCode;

/// mimalloc returns freed memory to the kernel, which the allocator of the C library does not after many clients have left. It is also
/// faster for events, which are allocated on one thread and freed on another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Only the program itself is linked in one way or the other: its crates are compiled once for both.
    daylight::cli::main(cfg!(target_feature = "crt-static"))
}
