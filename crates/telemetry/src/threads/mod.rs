//! Threads: event loops, pools, and threads with long work that give way to the others.

pub(crate) mod background;
pub(crate) mod core_load;
pub(crate) mod long_job;
pub(crate) mod loop_blocks;
pub(crate) mod loop_monitor;
pub(crate) mod pool_threads;
pub(crate) mod register;
pub(crate) mod starvation;
