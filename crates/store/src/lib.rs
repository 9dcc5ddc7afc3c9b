//! Bytes by digest, who has what, and the journal from which everything else can be made again.
//!
//! This crate knows digests, keys and revisions; never gems, coordinates or HTTP.

mod catalog;
mod record;
mod revision;

pub use catalog::{Batch, Catalog, Conflict, Expect, JournalRow, UnitRows};
pub use record::{
    Change, Digest, Entry, Hashes, RepositoryId, RepositoryKind, RepositoryRecord, Seq, State, TokenRecord,
};
pub use revision::{Revisions, Stamp, Unit};
