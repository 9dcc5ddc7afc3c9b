//! The truth: who has which entry, in SQLite and, for tests, in memory.

pub(crate) mod as_of;
pub(crate) mod catalog;
pub(crate) mod model;
mod package;
pub(crate) mod readable;
pub(crate) mod sqlite;
#[cfg(test)]
pub(crate) mod suite;
