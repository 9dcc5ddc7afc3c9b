//! The truth: who has which entry, in SQLite, with PostgreSQL where several machines write, and, for tests, in memory.

pub(crate) mod as_of;
pub(crate) mod catalog;
pub(crate) mod model;
mod package;
pub(crate) mod postgres;
pub(crate) mod readable;
pub(crate) mod sqlite;
#[cfg(test)]
pub(crate) mod suite;
