//! Findings, made by real faults through real HTTP: each is named, told what it costs and what to change; its twin just below the threshold
//! says nothing.

mod baselines;
mod caches;
mod clients;
mod groups;
mod incident;
mod machine;
mod pages;
mod profile;
mod program;
mod silence;
mod together;
mod upstreams;
mod watch;
