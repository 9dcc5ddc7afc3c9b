//! The truth in SQLite: the journal, and tables that are derived from it in the same transaction.

mod apply;
mod blob_uses;
mod compare;
mod connection;
mod copy;
#[cfg(test)]
mod earlier;
mod entries;
mod expectations;
mod generations;
mod history;
mod holding;
mod holding_tables;
mod outdated;
mod redated;
mod schema;
mod settings;
mod transactions;
mod units;

pub use connection::Sqlite;
pub(crate) use connection::{WITHOUT_SHARED_FILE, connect};
pub(crate) use copy::{WITHOUT_LOCKS, copy_database};
#[cfg(test)]
pub(crate) use earlier::as_written_by_form;
pub(crate) use outdated::rows_to_fill;
pub use schema::TRUTH_FORM;
pub(crate) use schema::refuse_newer_copy;
