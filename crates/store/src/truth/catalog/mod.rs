//! The operations on the truth, as traits. A second database is a second implementation of these and nothing else.
//!
//! One test suite runs against every implementation: SQLite, and the model in memory.

mod batch;
mod blob_reads;
mod history;
mod journal_row;
mod reads;
mod rows;
mod transactions;

pub use batch::{Batch, CommitError, Conflict, Expect};
pub use blob_reads::BlobReads;
pub use history::JournalReads;
pub use journal_row::{Authorship, JournalRow};
pub use reads::{EntryReads, SettingReads, UnitReads};
pub use rows::{Facts, FirstSeen, Holding, Outline, Span, Subject, UnitFacts, UnitRows};
pub use transactions::{Committed, Others, Transactions};

/// All operations on the truth. They are synchronous: threads of the store call them, never an async runtime.
pub trait Catalog: Transactions + EntryReads + UnitReads + SettingReads + JournalReads + BlobReads + Send {}

impl<T: Transactions + EntryReads + UnitReads + SettingReads + JournalReads + BlobReads + Send> Catalog for T {}
