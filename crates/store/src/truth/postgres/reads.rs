//! Reads of the truth: all of them are reads of the copy, so none waits for the database.

use super::ordered::Ordered;
use crate::blobs::digest::Digest;
use crate::blobs::life::BlobUse;
use crate::error::Result;
use crate::journal::entry::Entry;
use crate::journal::record::{RepositoryId, RepositoryRecord, Seq};
use crate::journal::token::TokenRecord;
use crate::truth::catalog::{
    Authorship, BlobReads, EntryReads, FirstSeen, Holding, JournalReads, JournalRow, Outline, SettingReads, Span,
    Subject, UnitFacts, UnitReads, UnitRows,
};
use serde_json::Value;
use std::collections::BTreeSet;
use telemetry::Millis;

macro_rules! of_the_copy {
    ($($reads:ident { $(fn $name:ident($($of:ident: $type:ty),*) -> $found:ty;)* })*) => {
        $(impl $reads for Ordered {
            $(fn $name(&mut self, $($of: $type),*) -> Result<$found> {
                $reads::$name(&mut self.copy, $($of),*)
            })*
        })*
    };
}

of_the_copy! {
    EntryReads {
        fn entry(repository: RepositoryId, key: &str) -> Option<Entry>;
        fn entry_in_any_case(repository: RepositoryId, key: &str) -> Option<Entry>;
        fn entries(repository: RepositoryId, after: &str, through: &str) -> Vec<Entry>;
        fn entries_beginning(repository: RepositoryId, prefix: &str, after: &str, limit: usize) -> Vec<Entry>;
        fn live_entries_beginning(repository: RepositoryId, prefix: &str, after: &str, limit: usize) -> Vec<Entry>;
        fn keys_of_digest(repository: RepositoryId, digest: &str) -> Vec<String>;
        fn published(repository: RepositoryId, span: Span) -> Vec<Entry>;
        fn holding(repository: RepositoryId) -> Holding;
        fn holdings() -> Vec<(RepositoryId, Holding)>;
        fn blobs(after: Option<Digest>, limit: usize) -> Vec<(Digest, u64)>;
        fn blob_count() -> u64;
        fn refers_to_blob(digest: &Digest) -> bool;
    }
    UnitReads {
        fn unit(repository: RepositoryId, unit: &str) -> UnitRows;
        fn live_unit(repository: RepositoryId, unit: &str) -> UnitRows;
        fn keys(repository: RepositoryId, unit: &str, limit: usize) -> Vec<String>;
        fn outlines(repository: RepositoryId, unit: &str) -> Vec<Outline>;
        fn facts(repository: RepositoryId, unit: &str) -> UnitFacts;
        fn units_with_facts(repository: RepositoryId, prefix: &str, after: &str, limit: usize) -> Vec<(String, Value)>;
        fn unit_in_other_case(repository: RepositoryId, unit: &str) -> Option<String>;
        fn units(repository: RepositoryId, after: &str, limit: usize) -> Vec<String>;
        fn units_ever(repository: RepositoryId, after: &str, limit: usize) -> Vec<String>;
    }
    SettingReads {
        fn repositories() -> Vec<(RepositoryId, RepositoryRecord)>;
        fn repositories_at() -> Seq;
        fn removed_repositories(name: &str) -> Vec<(RepositoryId, RepositoryRecord)>;
        fn tokens() -> Vec<TokenRecord>;
        fn setting(key: &str) -> Option<Value>;
        fn settings_beginning(prefix: &str, limit: usize) -> Vec<(String, Value)>;
    }
    JournalReads {
        fn last() -> Seq;
        fn last_moment() -> Option<Millis>;
        fn journal(after: Seq, limit: usize) -> Vec<JournalRow>;
        fn moment_of(seq: Seq, at: Millis) -> Millis;
        fn journal_text(after: Seq, limit: usize, max_bytes: usize) -> Vec<(Seq, String)>;
        fn row_as_of(repository: RepositoryId, of: Subject<'_>, through: Seq) -> Option<JournalRow>;
        fn authors_as_of(of: &[(RepositoryId, Subject<'_>, Seq)]) -> Vec<Option<Authorship>>;
        fn units_with_facts_as_of(
            repository: RepositoryId, prefix: &str, after: &str, limit: usize, through: Seq
        ) -> Vec<(String, Value)>;
        fn first_seen(repository: RepositoryId, unit: &str, through: Seq) -> Vec<FirstSeen>;
        fn first_seen_bytes() -> Vec<(RepositoryId, u64)>;
        fn lines(repository: RepositoryId, after: Seq, limit: usize) -> Vec<(Seq, String)>;
        fn last_line(repository: RepositoryId, through: Seq) -> Seq;
    }
    BlobReads {
        fn blob_uses(from: &Digest, through: &Digest) -> Vec<(Digest, BlobUse)>;
        fn blob_uses_except(digest: &Digest, except: &BTreeSet<(RepositoryId, String)>) -> Vec<BlobUse>;
        fn blobs_of_entry(repository: RepositoryId, key: &str) -> Vec<(Digest, u64)>;
        fn named_by(digest: &Digest) -> Vec<RepositoryId>;
        fn collected(digest: &Digest) -> Option<Millis>;
        fn blob_size(digest: &Digest) -> Option<u64>;
        fn generations(from: &Digest, through: &Digest) -> Vec<(Digest, Seq)>;
    }
}
