//! Reads of the truth, on the readers' threads. Their results are described in [`crate::catalog`].

use super::Store;
use crate::blobs::digest::Digest;
use crate::error::Error;
use crate::journal::entry::Entry;
use crate::journal::record::{RepositoryId, RepositoryRecord, Seq};
use crate::journal::token::TokenRecord;
use crate::pool::lane::Lane;
use crate::truth::catalog::{Catalog, Holding, JournalRow, Outline, Span, UnitFacts, UnitRows};
use serde_json::Value;
use telemetry::{Event, Millis, Op};

impl Store {
    /// One unit. `lane`: whether it is read for an index or for a change.
    pub async fn unit(&self, id: RepositoryId, unit: &str, lane: Lane, event: &mut Event) -> Result<UnitRows, Error> {
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
    ) -> Result<Vec<UnitRows>, Error> {
        let unit = unit.to_owned();
        self.read(lane, event, move |truth| ids.into_iter().map(|id| truth.unit(id, &unit)).collect()).await
    }

    /// One unit without its withdrawn entries, ordered by `published`, then `key`. The cost does not depend on the number of
    /// withdrawn ones.
    pub async fn live_unit(
        &self,
        id: RepositoryId,
        unit: &str,
        lane: Lane,
        event: &mut Event,
    ) -> Result<UnitRows, Error> {
        let unit = unit.to_owned();
        self.read(lane, event, move |truth| truth.live_unit(id, &unit)).await
    }

    /// The entries of the units after `after` through `through`, including withdrawn ones: by unit, then as in a unit.
    pub async fn entries(
        &self,
        repository: RepositoryId,
        after: &str,
        through: &str,
        event: &mut Event,
    ) -> Result<Vec<Entry>, Error> {
        let (after, through) = (after.to_owned(), through.to_owned());
        self.read(Lane::Index, event, move |truth| truth.entries(repository, &after, &through)).await
    }

    /// Calls `read` with each of several units and the outlines of its entries, all in one job.
    pub async fn outlines<T: Send + 'static>(
        &self,
        id: RepositoryId,
        units: Vec<String>,
        read: impl Fn(&str, Vec<Outline>) -> T + Send + 'static,
        event: &mut Event,
    ) -> Result<Vec<T>, Error> {
        let all = move |truth: &mut dyn Catalog| {
            units.iter().map(|unit| Ok(read(unit, truth.outlines(id, unit)?))).collect::<Result<_, _>>()
        };
        self.read(Lane::Index, event, all).await
    }

    /// The keys of a unit's entries, including withdrawn ones, at most `limit`.
    pub async fn keys(
        &self,
        id: RepositoryId,
        unit: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<String>, Error> {
        let unit = unit.to_owned();
        self.read(Lane::Single, event, move |truth| truth.keys(id, &unit, limit)).await
    }

    /// The facts of a unit itself.
    pub async fn facts(&self, repository: RepositoryId, unit: &str, event: &mut Event) -> Result<UnitFacts, Error> {
        let unit = unit.to_owned();
        self.read(Lane::Single, event, move |truth| truth.facts(repository, &unit)).await
    }

    /// Units whose names begin with `prefix` and come after `after`, and which have facts of their own, ordered by name, at most
    /// `limit`.
    pub async fn units_with_facts(
        &self,
        repository: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<(String, Value)>, Error> {
        let (prefix, after) = (prefix.to_owned(), after.to_owned());
        let read = move |truth: &mut dyn Catalog| truth.units_with_facts(repository, &prefix, &after, limit);
        self.read(Lane::Index, event, read).await
    }

    /// The live entries that were published in a period, newest first.
    pub async fn published(&self, id: RepositoryId, span: Span, event: &mut Event) -> Result<Vec<Entry>, Error> {
        self.read(Lane::Index, event, move |truth| truth.published(id, span)).await
    }

    /// The keys of the live entries whose bytes have this SHA-1 (40 hexadecimal digits) or SHA-256 (64), in byte order.
    pub async fn keys_of_digest(
        &self,
        id: RepositoryId,
        digest: &str,
        event: &mut Event,
    ) -> Result<Vec<String>, Error> {
        let digest = digest.to_owned();
        self.read(Lane::Single, event, move |truth| truth.keys_of_digest(id, &digest)).await
    }

    /// One entry.
    pub async fn entry(&self, id: RepositoryId, key: &str, event: &mut Event) -> Result<Option<Entry>, Error> {
        let key = key.to_owned();
        self.read(Lane::Single, event, move |truth| truth.entry(id, &key)).await
    }

    /// Entries whose keys begin with `prefix` and come after `after`, ordered by key, at most `limit`.
    pub async fn entries_beginning(
        &self,
        id: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<Entry>, Error> {
        let (prefix, after) = (prefix.to_owned(), after.to_owned());
        self.read(Lane::Single, event, move |truth| truth.entries_beginning(id, &prefix, &after, limit)).await
    }

    /// The live entries among those of [`Store::entries_beginning`], without reading the others.
    pub async fn live_entries_beginning(
        &self,
        id: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<Entry>, Error> {
        let (prefix, after) = (prefix.to_owned(), after.to_owned());
        self.read(Lane::Single, event, move |truth| truth.live_entries_beginning(id, &prefix, &after, limit)).await
    }

    /// The entry whose key equals `key` without regard to the case of ASCII letters.
    pub async fn entry_in_any_case(
        &self,
        id: RepositoryId,
        key: &str,
        event: &mut Event,
    ) -> Result<Option<Entry>, Error> {
        let key = key.to_owned();
        self.read(Lane::Change, event, move |truth| truth.entry_in_any_case(id, &key)).await
    }

    /// Another unit with a live entry whose name equals `unit` without regard to the case of ASCII letters.
    pub async fn unit_in_other_case(
        &self,
        id: RepositoryId,
        unit: &str,
        event: &mut Event,
    ) -> Result<Option<String>, Error> {
        let unit = unit.to_owned();
        self.read(Lane::Change, event, move |truth| truth.unit_in_other_case(id, &unit)).await
    }

    /// Names of units with a live entry, after `after`, in byte order, at most `limit`.
    pub async fn units(
        &self,
        repository: RepositoryId,
        after: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<String>, Error> {
        let after = after.to_owned();
        self.read(Lane::Index, event, move |truth| truth.units(repository, &after, limit)).await
    }

    /// Names of all units that ever had a change, after `after`, in byte order, at most `limit`.
    pub async fn units_ever(
        &self,
        repository: RepositoryId,
        after: &str,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<String>, Error> {
        let after = after.to_owned();
        self.read(Lane::Index, event, move |truth| truth.units_ever(repository, &after, limit)).await
    }

    /// Index lines of a repository after `after`, ordered by number, at most `limit`.
    pub async fn lines(
        &self,
        repository: RepositoryId,
        after: Seq,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<(Seq, String)>, Error> {
        self.read(Lane::Index, event, move |truth| truth.lines(repository, after, limit)).await
    }

    /// When the bytes of a blob were deleted, if they were and were not published again.
    pub async fn collected(&self, digest: Digest, event: &mut Event) -> Result<Option<Millis>, Error> {
        self.read(Lane::Single, event, move |truth| truth.collected(&digest)).await
    }

    /// Repositories that are not removed, ordered by name, and the number that [`crate::Expect::RepositoriesAt`] is compared with.
    pub async fn repositories_with_number(
        &self,
        event: &mut Event,
    ) -> Result<(Vec<(RepositoryId, RepositoryRecord)>, Seq), Error> {
        // The number is read first: if a change is committed in between, the number is too old, and a batch that expects it is
        // refused.
        let read = |truth: &mut dyn Catalog| truth.repositories_at().and_then(|at| Ok((truth.repositories()?, at)));
        self.read(Lane::Single, event, read).await
    }

    /// Repositories that are not removed, ordered by name.
    pub async fn repositories(&self, event: &mut Event) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Error> {
        self.read(Lane::Single, event, |truth| truth.repositories()).await
    }

    /// Repositories that had this name when they were removed, in the order of their creation.
    pub async fn removed_repositories(
        &self,
        name: &str,
        event: &mut Event,
    ) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Error> {
        let name = name.to_owned();
        self.read(Lane::Single, event, move |truth| truth.removed_repositories(&name)).await
    }

    /// The number, size and packages of a repository's live entries. Read from memory.
    pub fn holding(&self, repository: RepositoryId) -> Holding {
        self.holdings.published(repository)
    }

    /// The repositories with a live entry that names the blob.
    pub async fn named_by(&self, digest: Digest, event: &mut Event) -> Result<Vec<RepositoryId>, Error> {
        self.read(Lane::Single, event, move |truth| truth.named_by(&digest)).await
    }

    /// Tokens that are not revoked, ordered by name.
    pub async fn tokens(&self, event: &mut Event) -> Result<Vec<TokenRecord>, Error> {
        self.read(Lane::Single, event, |truth| truth.tokens()).await
    }

    /// A setting; `None`: it has its default.
    pub async fn setting(&self, key: &str, event: &mut Event) -> Result<Option<Value>, Error> {
        let key = key.to_owned();
        self.read(Lane::Single, event, move |truth| truth.setting(&key)).await
    }

    /// The journal after `after`, at most `limit` rows.
    pub async fn journal(&self, after: Seq, limit: usize, event: &mut Event) -> Result<Vec<JournalRow>, Error> {
        self.read(Lane::Index, event, move |truth| truth.journal(after, limit)).await
    }

    /// Runs a read on one of the readers' threads.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        lane: Lane,
        event: &mut Event,
        read: impl FnOnce(&mut dyn Catalog) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let done = self.readers.run(lane, Op::TruthRead, event, |truth| read(&mut **truth)).await?;
        self.readability.note(&done);
        done
    }
}
