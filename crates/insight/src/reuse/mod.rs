//! Reuse curves: the share of lookups that a cache of any size would answer, from a sample of the requests. No cache is touched.
//!
//! Caches that are no LRU caches have miniatures: small copies with their own policy, of sizes from an eighth to 32 times the present one. The
//! cache of files of upstreams is one, and has SHARDS with a fixed size (Waldspurger et al., FAST 2015): a key is followed if its hash is below
//! a threshold, and the threshold falls when too many keys are followed. The weight of all keys that were used since the last use of a key is
//! its distance. A cache that keeps the most recently used keys finds it if its size is at least that distance. All of it takes at most 2 MiB.

pub(crate) mod curve;
mod doorkeeper;
pub(crate) mod miniature;
pub(crate) mod miniatures;
mod pace;
pub(crate) mod policy;
pub(crate) mod recency;
mod recent;
pub(crate) mod shards;
pub(crate) mod streams;
#[cfg(test)]
mod tests;
