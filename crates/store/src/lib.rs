//! Bytes by digest, who has what, and the journal from which everything else can be made again.
//!
//! This crate knows digests, keys and revisions; never gems, coordinates or HTTP.

mod blobs;
mod cache;
mod catalog;
mod check;
mod derived;
mod desk;
pub mod disk;
mod error;
#[cfg(any(test, feature = "fault"))]
pub mod fault;
mod first_seen;
mod holders;
mod lane;
mod layout;
mod model;
mod options;
mod past;
mod policy;
mod pool;
mod rebuild;
mod record;
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
mod unnamed;
mod writer;

pub use cache::{CachedFile, Fact, Folder, Held, Origin, Recalled};
pub use catalog::{
    Batch, Catalog, CommitError, Conflict, Expect, Facts, FirstSeen, Holding, JournalRow, Outline, Span, Subject,
    UnitFacts, UnitRows,
};
pub use check::{Problem, Report, check};
pub use error::Error;
pub use lane::Lane;
pub use layout::{FORM, Layout};
pub use model::Model;
pub use options::StoreOptions;
pub use past::Past;
pub use policy::{ExceptionRecord, PolicyRecord};
pub use pool::{Pool, Threads};
pub use rebuild::{Progress, Rebuilt, rebuild};
pub use record::{
    Change, Digest, Entry, Hashes, IndexBase, RemoteRecord, RepositoryId, RepositoryKind, RepositoryRecord, Retention,
    Seq, State, TokenRecord,
};
pub use revision::{Revisions, Stamp, Unit};
pub use segments::segment;
pub use space::{ReadOnly, above_floor};
pub use sqlite::Sqlite;
pub use staged::Staged;
pub use store::{Arrival, Store, Then, Units};
pub use unnamed::Unnamed;
