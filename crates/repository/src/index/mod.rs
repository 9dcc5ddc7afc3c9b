//! Large indexes of any format: kept in memory as ropes and brought up to date by what changed, and caches that hold while a stamp does.

pub(crate) mod bounded_cache;
pub(crate) mod document;
pub(crate) mod incremental_index;
pub(crate) mod name_key;
pub(crate) mod open_files;
pub(crate) mod rope;
pub(crate) mod stamped_cache;
