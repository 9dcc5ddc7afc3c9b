//! Large indexes of any format as ropes in memory, and caches with bounds and stamps.

pub(crate) mod bounded_cache;
pub(crate) mod derived_file;
pub(crate) mod document;
pub(crate) mod incremental_index;
pub(crate) mod name_key;
pub(crate) mod open_files;
pub(crate) mod rope;
pub(crate) mod stamped_cache;
