//! TODO maven::upstream

pub(crate) mod artifact_date;
pub(crate) mod filtered_metadata;
pub(crate) mod past;
pub(crate) mod pom_dates;
pub(crate) mod prefixes;
