//! Findings, made by real faults through real HTTP: each is named, told what it costs and what to change; its twin just below the threshold
//! says nothing.

mod baselines;
pub(crate) mod caches;
mod clients;
pub(crate) mod groups;
pub(crate) mod incident;
mod machine;
mod pages;
mod profile;
mod program;
mod silence;
mod together;
pub(crate) mod upstreams;
mod watch;
