//! Blobs by digest, the truth about who has what, and the journal from which all other data can be rebuilt.
//!
//! This crate knows digests, keys and revisions. It knows no package format and no network protocol.

mod as_of;
mod backup;
mod blob_files;
mod blob_life;
mod blobs;
mod cache;
mod catalog;
mod change;
mod check;
mod clock_doubt;
mod committer;
mod confined;
mod database_files;
mod deletion;
mod derived;
mod digest;
pub mod disk;
mod entry;
mod error;
#[cfg(any(test, feature = "fault"))]
pub mod fault;
mod first_seen_budget;
mod group_membership;
mod hashing;
mod holdings;
mod holds;
mod job_times;
mod journal_clock;
mod lane;
mod layout;
mod model;
mod network_file_system;
mod next_looks;
mod node;
mod opaque_settings;
mod options;
mod orphans;
mod package;
mod pool;
mod progress;
mod readable;
mod rebuild;
mod recent_rows;
mod record;
mod rehearse;
mod reserve;
mod restore;
mod revision;
mod segments;
mod shipper;
mod space;
mod sqlite;
mod staged;
mod store;
#[cfg(test)]
mod suite;
#[cfg(test)]
mod tests;
mod token;
mod writer;

pub use as_of::CatalogAsOf;
pub use backup::{BackedUp, backup};
pub use blob_life::{BlobLife, BlobUse, Keep, UseEnd};
pub use blobs::KeptBlob;
pub use cache::{CachedFile, CachedPath, FolderPresence, Held, Origin, UpstreamPresence};
pub use catalog::{
    Authorship, Batch, BlobReads, Catalog, CommitError, Conflict, EntryReads, Expect, Facts, FirstSeen, Holding,
    JournalReads, JournalRow, Outline, SettingReads, Span, Subject, Transactions, UnitFacts, UnitReads, UnitRows,
};
pub use change::Change;
pub use check::{Problem, Report, check};
pub use clock_doubt::ClockDoubt;
pub use derived::{CanRead, DamagedIndex, damaged_indexes, remove_damaged_indexes};
pub use digest::{Digest, Hashes};
pub use entry::{Entry, EntryOrigin, State, Withdrawal};
pub use error::Error;
pub use first_seen_budget::Admitted;
pub use hashing::Hashing;
pub use holds::Hold;
pub use lane::Lane;
pub use layout::{CollectorPause, FORM, Layout};
pub use model::Model;
pub use opaque_settings::OpaqueSettings;
pub use options::StoreOptions;
pub use orphans::Orphans;
pub use pool::{Pool, PoolOptions, Threads};
pub use progress::Progress;
pub use readable::Unreadable;
pub use rebuild::{Rebuilt, rebuild};
pub use record::{RepositoryId, RepositoryKind, RepositoryRecord, Seq};
pub use rehearse::{Rehearsal, rehearse};
pub use restore::{Restored, restore};
pub use revision::{Revisions, Stamp, Unit};
pub use segments::segment;
pub use space::{ReadOnly, above_floor};
pub use sqlite::Sqlite;
pub use staged::Staged;
pub use store::{
    Arrival, AsOf, AuthoredChange, Child, Collection, Frees, JournalPage, JournalRange, LevelRequest, Store,
    UnitFilter, Withdrawals,
};
pub use token::TokenRecord;
