//! Reuse curves: the share of lookups that a cache of any size would answer, from a sample of the requests. No cache is touched.
//!
//! The method is SHARDS with a fixed size (Waldspurger et al., FAST 2015): a key is followed if its hash is below a threshold, and the
//! threshold falls when too many keys are followed. The weight of all keys that were used since the last use of a key is its distance.
//! A cache that keeps the most recently used keys finds it if its size is at least that distance. All samples together take 1 MiB.

pub(crate) mod curve;
pub(crate) mod recency;
pub(crate) mod shards;
pub(crate) mod streams;
#[cfg(test)]
mod tests;
