//! Connects findings to the program: what they are told about settings, repositories and upstreams.

pub(crate) mod gather;
mod gather_repositories;
