//! The program. Everything it does is in the library beside it, where tests can reach it.

use std::process::ExitCode;

/// What is given back goes back to the kernel, so that a crowd that has left costs nothing: the C library's keeps it. And
/// events, which are made on one thread and freed on another, cost each less.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    daylight::cli::main()
}
