//! The parts of remote repositories that only Maven has: metadata without hidden versions, dates of releases,
//! `prefixes.txt`.

pub(crate) mod artifact_date;
pub(crate) mod filtered_metadata;
pub(crate) mod observed;
pub(crate) mod past;
pub(crate) mod pom_dates;
pub(crate) mod prefixes;
