//! Rollups: exact counts of all events, by minute and by hour, sampled or not.
//!
//! A census adds each event to the counts of its minute and key: kind, class, layer, repository, status
//! and outcome. A thread takes these counts twice a second, adds them to those in memory and appends them to a log. After an hour they
//! become a file of minutes; after a day the files of minutes become one of hours. A file adds to the others: an event that ends hours after
//! it began is counted in a later file, for the minute in which it began.

mod buckets;
mod census;
mod coding;
mod counts;
mod delta;
mod folder;
mod log;
mod name;
mod parquet;
mod part;
pub(crate) mod plan;
mod rollups;
mod rows;
#[cfg(test)]
mod tests;

pub use buckets::Buckets;
pub use plan::RollupScan;
pub use rollups::{RollupOptions, Rollups};

/// A minute, in milliseconds.
const MINUTE: i64 = 60_000;
/// An hour, in milliseconds.
const HOUR: i64 = 60 * MINUTE;
/// A day, in milliseconds.
const DAY: i64 = 24 * HOUR;
/// How long counts by minute are kept.
const MINUTES_KEPT: i64 = 8 * DAY;
/// How long counts by hour are kept: 13 months.
const HOURS_KEPT: i64 = 396 * DAY;

/// The most keys of a minute.
const KEYS_MAX: usize = 4096;
/// The most keys of a minute with a repository of their own. The others are for events of [`OTHER`] repositories.
const OWN_KEYS_MAX: usize = 3840;
/// The text of keys that found no row of their own.
const OTHER: &str = "(other)";
