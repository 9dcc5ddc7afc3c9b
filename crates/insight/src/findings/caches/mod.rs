//! Checks of caches and memory.

mod cached_files;
pub(super) mod curves;
mod database_memory;
mod larger_than_needed;
mod memory_grows;
mod near_full;
pub(crate) mod needed;
mod outdated;
mod removed_stays;
pub(crate) mod room;
pub(crate) mod size;
mod sized;
mod too_small;
mod without;
mod without_reuse;

use super::check::Check;

/// All of them.
pub(super) const ALL: &[&Check] = &[
    &too_small::CHECK,
    &cached_files::CHECK,
    &without_reuse::CHECK,
    &outdated::CHECK,
    &larger_than_needed::CHECK,
    &database_memory::CHECK,
    &memory_grows::CHECK,
    &near_full::CHECK,
    &removed_stays::CHECK,
];
