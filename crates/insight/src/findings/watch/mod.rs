//! Checks of what the watch found.

mod job_crash_loop;
mod job_outgrows_memory;
mod job_stands_still;
mod loop_blocked;
mod previous_run_died;
mod serving_stands_still;

use super::check::Check;

/// All of them.
pub(super) const ALL: &[&Check] = &[
    &serving_stands_still::CHECK,
    &loop_blocked::CHECK,
    &previous_run_died::CHECK,
    &job_crash_loop::CHECK,
    &job_stands_still::CHECK,
    &job_outgrows_memory::CHECK,
];

/// Bytes in words: `310 MB`.
fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes / 1_000),
        1_000_000..10_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests;
