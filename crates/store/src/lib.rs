//! Blobs by digest, the truth about who has what, and the journal from which all other data can be rebuilt.
//!
//! This crate knows digests, keys and revisions. It knows no package format and no network protocol.

mod backup;
mod blobs;
mod cache;
mod check;
pub mod disk;
mod error;
mod journal;
mod objects;
mod pool;
mod store;
#[cfg(test)]
mod tests;
mod truth;
mod writer;

pub use backup::rehearse::{Rehearsal, rehearse};
pub use backup::restore::{Restored, restore};
pub use backup::{BackedUp, Elsewhere, backup};
pub use blobs::KeptBlob;
pub use blobs::digest::{Digest, Hashes, Hashing, MoreDigests};
pub use blobs::holds::Hold;
pub use blobs::life::{BlobLife, BlobUse, Keep, UseEnd};
pub use blobs::orphans::Orphans;
pub use blobs::staged::Staged;
pub use cache::{CachedFile, CachedPath, FolderPresence, Held, Origin, Undigested, UpstreamPresence};
pub use check::{Problem, Report, check, check_with};
pub use disk::derived::{CanRead, DamagedIndex, damaged_indexes, remove_damaged_indexes};
#[cfg(any(test, feature = "fault"))]
pub use disk::fault;
pub use disk::layout::{CollectorPause, FORM, Layout};
pub use disk::space::{ReadOnly, above_floor};
pub use error::Error;
pub use journal::change::Change;
pub use journal::clock_doubt::ClockDoubt;
pub use journal::entry::{Entry, EntryOrigin, State, Withdrawal};
pub use journal::opaque_settings::OpaqueSettings;
pub use journal::rebuild::{Rebuilt, rebuild};
pub use journal::record::{RepositoryId, RepositoryKind, RepositoryRecord, Seq};
pub use journal::segments::segment;
pub use journal::token::TokenRecord;
pub use objects::Objects;
pub use objects::fetch_segments::{fetch_segments, list_segments};
pub use objects::state::ObjectsState;
pub use pool::lane::Lane;
pub use pool::{Pool, PoolOptions, Threads};
pub use store::options::StoreOptions;
pub use store::progress::Progress;
pub use store::{
    Adopted, Arrival, AsOf, AuthoredChange, Child, Collection, FolderLook, Frees, GivenUp, Histories, History,
    JournalPage, JournalRange, KeptHistory, LevelRequest, Resolving, Store, UnitFilter, Withdrawals, try_objects,
};
pub use truth::as_of::CatalogAsOf;
pub use truth::catalog::{
    Authorship, Batch, BlobReads, Catalog, CommitError, Committed, Conflict, EntryReads, Expect, Facts, FirstSeen,
    Holding, JournalReads, JournalRow, Others, Outline, SettingReads, Span, Subject, Transactions, UnitFacts,
    UnitReads, UnitRows,
};
pub use truth::model::Model;
pub use truth::postgres::{
    DatabaseAway, DatabaseDialling, DatabaseDoor, DatabaseOptions, DatabaseRefusal, DatabaseState, DatabaseStream,
    Freshness, Leases, NodeRow, NodeState, TriedDatabase, try_database,
};
pub use truth::readable::Unreadable;
pub use truth::sqlite::{Sqlite, TRUTH_FORM};
pub use writer::first_seen_budget::Admitted;
pub use writer::revision::{Revisions, Stamp, Unit};
