//! Connects findings to the program: what they are told about settings, repositories and upstreams.

mod free_bytes;
pub(crate) mod gather;
mod gather_certificates;
mod gather_disk;
mod gather_indexes;
mod gather_names;
mod gather_repositories;
pub(crate) mod gathered;
pub(crate) mod mutes;
