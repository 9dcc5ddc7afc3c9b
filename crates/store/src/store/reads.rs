//! Reads of the truth, on the readers' threads. Their results are described in [`crate::catalog`].

use super::Store;
use crate::blobs::digest::Digest;
use crate::error::Result;
use crate::journal::entry::Entry;
use crate::journal::record::{RepositoryId, RepositoryRecord, Seq};
use crate::journal::token::TokenRecord;
use crate::pool::lane::Lane;
use crate::truth::catalog::{Catalog, Holding, JournalRow, Outline, Span, UnitFacts, UnitRows};
use serde_json::Value;
use telemetry::{Event, Millis, Op};

/// Reads of one call: the lane in which each waits, its parameters and result, and the call of the catalog.
macro_rules! reads {
    (|$truth:ident| $($(#[$doc:meta])* $lane:ident: $name:ident($($arg:ident: $type:ty),*) -> $out:ty = $call:expr;)*) => {
        impl Store {
            $(
                $(#[$doc])*
                pub async fn $name(&self, $($arg: $type,)* event: &mut Event) -> Result<$out> {
                    $(let $arg = $arg.to_owned();)*
                    self.read(Lane::$lane, event, move |$truth| $call).await
                }
            )*
        }
    };
}

reads! { |truth|
    /// The entries of the units after `after` through `through`, including withdrawn ones: by unit, then as in a unit.
    Index: entries(repository: RepositoryId, after: &str, through: &str) -> Vec<Entry>
        = truth.entries(repository, &after, &through);
    /// The keys of a unit's entries, including withdrawn ones, at most `limit`.
    Single: keys(id: RepositoryId, unit: &str, limit: usize) -> Vec<String> = truth.keys(id, &unit, limit);
    /// The facts of a unit itself.
    Single: facts(repository: RepositoryId, unit: &str) -> UnitFacts = truth.facts(repository, &unit);
    /// Units whose names begin with `prefix` and come after `after`, and which have facts of their own, ordered by name, at most
    /// `limit`.
    Index: units_with_facts(repository: RepositoryId, prefix: &str, after: &str, limit: usize) -> Vec<(String, Value)>
        = truth.units_with_facts(repository, &prefix, &after, limit);
    /// The live entries that were published in a period, newest first.
    Index: published(id: RepositoryId, span: Span) -> Vec<Entry> = truth.published(id, span);
    /// The keys of the live entries whose bytes have this SHA-1 (40 hexadecimal digits) or SHA-256 (64), in byte order.
    Single: keys_of_digest(id: RepositoryId, digest: &str) -> Vec<String> = truth.keys_of_digest(id, &digest);
    /// One entry.
    Single: entry(id: RepositoryId, key: &str) -> Option<Entry> = truth.entry(id, &key);
    /// Entries whose keys begin with `prefix` and come after `after`, ordered by key, at most `limit`.
    Single: entries_beginning(id: RepositoryId, prefix: &str, after: &str, limit: usize) -> Vec<Entry>
        = truth.entries_beginning(id, &prefix, &after, limit);
    /// The live entries among those of [`Store::entries_beginning`], without reading the others.
    Single: live_entries_beginning(id: RepositoryId, prefix: &str, after: &str, limit: usize) -> Vec<Entry>
        = truth.live_entries_beginning(id, &prefix, &after, limit);
    /// The entry whose key equals `key` without regard to the case of ASCII letters.
    Change: entry_in_any_case(id: RepositoryId, key: &str) -> Option<Entry> = truth.entry_in_any_case(id, &key);
    /// Another unit with a live entry whose name equals `unit` without regard to the case of ASCII letters.
    Change: unit_in_other_case(id: RepositoryId, unit: &str) -> Option<String> = truth.unit_in_other_case(id, &unit);
    /// Names of units with a live entry, after `after`, in byte order, at most `limit`.
    Index: units(repository: RepositoryId, after: &str, limit: usize) -> Vec<String>
        = truth.units(repository, &after, limit);
    /// Names of all units that ever had a change, after `after`, in byte order, at most `limit`.
    Index: units_ever(repository: RepositoryId, after: &str, limit: usize) -> Vec<String>
        = truth.units_ever(repository, &after, limit);
    /// Index lines of a repository after `after`, ordered by number, at most `limit`.
    Index: lines(repository: RepositoryId, after: Seq, limit: usize) -> Vec<(Seq, String)>
        = truth.lines(repository, after, limit);
    /// When the bytes of a blob were deleted, if they were and were not published again.
    Single: collected(digest: Digest) -> Option<Millis> = truth.collected(&digest);
    /// Repositories that are not removed, ordered by name.
    Single: repositories() -> Vec<(RepositoryId, RepositoryRecord)> = truth.repositories();
    /// Repositories that had this name when they were removed, in the order of their creation.
    Single: removed_repositories(name: &str) -> Vec<(RepositoryId, RepositoryRecord)>
        = truth.removed_repositories(&name);
    /// The repositories with a live entry that names the blob.
    Single: named_by(digest: Digest) -> Vec<RepositoryId> = truth.named_by(&digest);
    /// Tokens that are not revoked, ordered by name.
    Single: tokens() -> Vec<TokenRecord> = truth.tokens();
    /// A setting; `None`: it has its default.
    Single: setting(key: &str) -> Option<Value> = truth.setting(&key);
    /// Settings whose keys begin with `prefix`, ordered by key, at most `limit`.
    Single: settings_beginning(prefix: &str, limit: usize) -> Vec<(String, Value)>
        = truth.settings_beginning(&prefix, limit);
    /// The journal after `after`, at most `limit` rows.
    Index: journal(after: Seq, limit: usize) -> Vec<JournalRow> = truth.journal(after, limit);
}

impl Store {
    /// One unit. `lane`: whether it is read for an index or for a change.
    pub async fn unit(&self, id: RepositoryId, unit: &str, lane: Lane, event: &mut Event) -> Result<UnitRows> {
        let unit = unit.to_owned();
        self.read(lane, event, move |truth| truth.unit(id, &unit)).await
    }

    /// One unit of each of these repositories, in their order, all in one job.
    pub async fn unit_of_each(
        &self,
        ids: Vec<RepositoryId>,
        unit: &str,
        lane: Lane,
        event: &mut Event,
    ) -> Result<Vec<UnitRows>> {
        let unit = unit.to_owned();
        self.read(lane, event, move |truth| ids.into_iter().map(|id| truth.unit(id, &unit)).collect()).await
    }

    /// One unit without its withdrawn entries, ordered by `published`, then `key`. The cost does not depend on the number of
    /// withdrawn ones.
    pub async fn live_unit(&self, id: RepositoryId, unit: &str, lane: Lane, event: &mut Event) -> Result<UnitRows> {
        let unit = unit.to_owned();
        self.read(lane, event, move |truth| truth.live_unit(id, &unit)).await
    }

    /// Calls `read` with each of several units and the outlines of its entries, all in one job.
    pub async fn outlines<T: Send + 'static>(
        &self,
        id: RepositoryId,
        units: Vec<String>,
        read: impl Fn(&str, Vec<Outline>) -> T + Send + 'static,
        event: &mut Event,
    ) -> Result<Vec<T>> {
        let all = move |truth: &mut dyn Catalog| {
            units.iter().map(|unit| Ok(read(unit, truth.outlines(id, unit)?))).collect::<Result<_, _>>()
        };
        self.read(Lane::Index, event, all).await
    }

    /// Repositories that are not removed, ordered by name, and the number that [`crate::Expect::RepositoriesAt`] is compared with.
    pub async fn repositories_with_number(
        &self,
        event: &mut Event,
    ) -> Result<(Vec<(RepositoryId, RepositoryRecord)>, Seq)> {
        // The number is read first: if a change is committed in between, the number is too old, and a batch that expects it is
        // refused.
        let read = |truth: &mut dyn Catalog| truth.repositories_at().and_then(|at| Ok((truth.repositories()?, at)));
        self.read(Lane::Single, event, read).await
    }

    /// When the last index line of any of these repositories was written. `None`: they have none.
    pub async fn last_line_at(&self, of: Vec<RepositoryId>, event: &mut Event) -> Result<Option<Millis>> {
        let read = move |truth: &mut dyn Catalog| {
            let last = of.iter().map(|id| truth.last_line(*id, Seq(i64::MAX.cast_unsigned())));
            let last = last.collect::<Result<Vec<_>>>()?.into_iter().max().unwrap_or_default();
            let row = truth.journal(Seq(last.0.saturating_sub(1)), 1)?.into_iter().find(|row| row.seq == last);
            row.map(|row| truth.moment_of(row.seq, row.at)).transpose()
        };
        self.read(Lane::Index, event, read).await
    }

    /// The number, size and packages of a repository's live entries. Read from memory.
    pub fn holding(&self, repository: RepositoryId) -> Holding {
        self.holdings.published(repository)
    }

    /// Runs a read on one of the readers' threads.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        lane: Lane,
        event: &mut Event,
        read: impl FnOnce(&mut dyn Catalog) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let done = self.readers.run(lane, Op::TruthRead, event, |truth| read(&mut **truth)).await?;
        self.readability.note(&done);
        done
    }
}
