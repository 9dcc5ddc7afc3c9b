//! Reads of the current state. Names and keys are ordered by their bytes, and `limit` is the most that is returned.

use super::rows::{Holding, Outline, Span, UnitFacts, UnitRows};
use crate::blobs::digest::Digest;
use crate::error::Result;
use crate::journal::entry::Entry;
use crate::journal::record::{RepositoryId, RepositoryRecord, Seq};
use crate::journal::token::TokenRecord;
use serde_json::Value;

/// Reads of entries and the blobs that they refer to.
pub trait EntryReads {
    /// One entry.
    fn entry(&mut self, repository: RepositoryId, key: &str) -> Result<Option<Entry>>;

    /// The first entry whose key equals `key` without regard to the case of ASCII letters.
    fn entry_in_any_case(&mut self, repository: RepositoryId, key: &str) -> Result<Option<Entry>>;

    /// The entries of the units after `after` through `through`, including withdrawn ones: by unit, then as in a unit.
    fn entries(&mut self, repository: RepositoryId, after: &str, through: &str) -> Result<Vec<Entry>>;

    /// Entries whose keys begin with `prefix` and come after `after`, ordered by key.
    fn entries_beginning(
        &mut self,
        repository: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<Entry>>;

    /// The live entries among those of [`EntryReads::entries_beginning`], without reading the others.
    fn live_entries_beginning(
        &mut self,
        repository: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<Entry>>;

    /// The keys of the live entries whose bytes have this SHA-1 (40 hexadecimal digits) or SHA-256 (64), in byte order.
    fn keys_of_digest(&mut self, repository: RepositoryId, digest: &str) -> Result<Vec<String>>;

    /// The live entries that were published in a period, newest first.
    fn published(&mut self, repository: RepositoryId, span: Span) -> Result<Vec<Entry>>;

    /// The size of a repository. Updated with each change, so this reads one row.
    fn holding(&mut self, repository: RepositoryId) -> Result<Holding>;

    /// The size of each repository that ever had an entry, ordered by id.
    fn holdings(&mut self) -> Result<Vec<(RepositoryId, Holding)>>;

    /// The blobs that entries name or named and whose bytes are not deleted, after `after`, with their sizes.
    fn blobs(&mut self, after: Option<Digest>, limit: usize) -> Result<Vec<(Digest, u64)>>;

    /// The number of those blobs.
    fn blob_count(&mut self) -> Result<u64>;

    /// Whether an entry names or named this blob, and its bytes are not deleted.
    fn refers_to_blob(&mut self, digest: &Digest) -> Result<bool>;
}

/// Reads of units: groups of entries that change together.
pub trait UnitReads {
    /// One unit.
    fn unit(&mut self, repository: RepositoryId, unit: &str) -> Result<UnitRows>;

    /// One unit without its withdrawn entries. The cost does not depend on the number of withdrawn ones.
    fn live_unit(&mut self, repository: RepositoryId, unit: &str) -> Result<UnitRows>;

    /// The keys of a unit's entries, including withdrawn ones, in the order of [`UnitReads::unit`].
    fn keys(&mut self, repository: RepositoryId, unit: &str, limit: usize) -> Result<Vec<String>>;

    /// The outlines of a unit's entries, including withdrawn ones, in the order of [`UnitReads::unit`].
    fn outlines(&mut self, repository: RepositoryId, unit: &str) -> Result<Vec<Outline>>;

    /// The facts of the unit itself.
    fn facts(&mut self, repository: RepositoryId, unit: &str) -> Result<UnitFacts>;

    /// Units whose names begin with `prefix` and come after `after`, and which have facts of their own.
    fn units_with_facts(
        &mut self,
        repository: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, Value)>>;

    /// The first other unit with a live entry whose name equals `unit` without regard to the case of ASCII letters.
    fn unit_in_other_case(&mut self, repository: RepositoryId, unit: &str) -> Result<Option<String>>;

    /// Names of the units that have a live entry, after `after`.
    fn units(&mut self, repository: RepositoryId, after: &str, limit: usize) -> Result<Vec<String>>;

    /// Names of all units that ever had a change, after `after`.
    fn units_ever(&mut self, repository: RepositoryId, after: &str, limit: usize) -> Result<Vec<String>>;
}

/// Reads of repositories, tokens and settings of the server.
pub trait SettingReads {
    /// Repositories that are not removed, ordered by name.
    fn repositories(&mut self) -> Result<Vec<(RepositoryId, RepositoryRecord)>>;

    /// The number of the last change of any repository; 0: there is none.
    fn repositories_at(&mut self) -> Result<Seq>;

    /// Repositories that had this name when they were removed, in the order of their creation.
    fn removed_repositories(&mut self, name: &str) -> Result<Vec<(RepositoryId, RepositoryRecord)>>;

    /// Tokens that are not revoked, ordered by name.
    fn tokens(&mut self) -> Result<Vec<TokenRecord>>;

    /// A setting; `None`: it has its default.
    fn setting(&mut self, key: &str) -> Result<Option<Value>>;

    /// Settings whose keys begin with `prefix`, ordered by key, at most `limit`.
    fn settings_beginning(&mut self, prefix: &str, limit: usize) -> Result<Vec<(String, Value)>>;
}
