//! Searches the names of packages and files in all repositories that the caller may read.
//!
//! [`query`] reads the text and ranks a name; [`names`] finds the best matches in the names of one repository, which [`index`] keeps
//! in memory; [`answer`] joins the matches of all repositories and describes the shown ones, and finds files by checksum.

pub(crate) mod answer;
pub(crate) mod index;
pub(crate) mod names;
pub(crate) mod query;
