

pub(crate) mod incremental_index;
pub(crate) mod open_files;
pub(crate) mod rope;
