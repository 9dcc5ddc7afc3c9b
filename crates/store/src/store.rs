//! The face of the store: asynchronous functions that hop to its threads and note in the event what that took.

mod cached;
mod first_seen;
mod first_units;
mod open;
mod past;

pub use cached::Arrival;
pub use first_units::Units;
pub use past::Then;

use crate::blobs::Blobs;
use crate::cache::{Cache, Folders, Looked};
use crate::check::{Report, check_on};
use crate::disk::Disk;
use crate::first_seen::Budget;
use crate::holders::Holders;
use crate::layout::Layout;
use crate::pool::{Pool, lock};
use crate::rebuild::Progress;
use crate::shipper::Shipper;
use crate::space::{ReadOnly, Space};
use crate::staged::Staged;
use crate::writer::Writer;
use crate::{
    Batch, Catalog, CommitError, Digest, Entry, Error, Holding, JournalRow, Lane, Outline, RepositoryId,
    RepositoryRecord,
};
use crate::{Revisions, Seq, Span, Sqlite, TokenRecord, UnitFacts, UnitRows};
use bytes::Bytes;
use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use telemetry::{Event, Log, Op};

/// The store. One per data folder and machine.
#[derive(Debug)]
pub struct Store {
    layout: Layout,
    disk: Arc<dyn Disk>,
    revisions: Arc<Revisions>,
    last: Arc<AtomicU64>,
    shipped: Arc<AtomicU64>,
    writer: Writer,
    shipper: Shipper,
    readers: Pool<Sqlite>,
    blobs: Arc<Blobs>,
    blob_threads: Arc<Pool<Arc<Blobs>>>,
    cache: Pool<Cache>,
    /// What the cache knows of folders, in memory.
    folders: Arc<Folders>,
    /// When kept files were last held against their digests.
    looked: Arc<Looked>,
    /// Whether one is right now, which nobody waits for.
    looking: Arc<AtomicBool>,
    log: Log,
    space: Arc<Space>,
    /// How much of what upstreams are first seen to have is written down.
    first_seen: Arc<Budget>,
    holders: Arc<Mutex<Holders>>,
    /// Held as long as anything may be written.
    lock: Mutex<Option<File>>,
}

impl Store {
    /// Makes all of a batch or nothing. When this returns, its changes last and every stamp that they touch is void.
    /// A batch is not taken back by dropping the future.
    pub async fn commit(&self, batch: Batch, event: &mut Event) -> Result<Seq, CommitError> {
        self.writer.commit(batch, event).await
    }

    /// Why nothing new is written, if so; what is there is read.
    pub fn read_only(&self) -> Option<ReadOnly> {
        self.space.read_only()
    }

    /// One unit: for an index, or for a change.
    pub async fn unit(
        &self,
        repository: RepositoryId,
        unit: &str,
        lane: Lane,
        event: &mut Event,
    ) -> Result<UnitRows, Error> {
        let unit = unit.to_owned();
        self.read(lane, event, move |truth| truth.unit(repository, &unit)).await
    }

    /// The entries of the units after `after` up to `through`, withdrawn ones too: by unit, then as in a unit.
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

    /// What `read` makes of each of several units, given their entries in outline: all in one turn of one thread.
    pub async fn outlines<T: Send + 'static>(
        &self,
        id: RepositoryId,
        units: Vec<String>,
        read: impl Fn(&str, Vec<Outline>) -> T + Send + 'static,
        event: &mut Event,
    ) -> Result<Vec<T>, Error> {
        let all = move |truth: &mut Sqlite| {
            units.iter().map(|unit| Ok(read(unit, truth.outlines(id, unit)?))).collect::<Result<_, _>>()
        };
        self.read(Lane::Index, event, all).await
    }

    /// The keys of the entries of one unit, withdrawn ones too, `limit` at most.
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

    /// What is known of a unit beside its entries.
    pub async fn facts(&self, repository: RepositoryId, unit: &str, event: &mut Event) -> Result<UnitFacts, Error> {
        let unit = unit.to_owned();
        self.read(Lane::Single, event, move |truth| truth.facts(repository, &unit)).await
    }

    /// Units whose names begin with `prefix` and come after `after`, and of which something is known beside their entries, in
    /// byte order, `limit` at most.
    pub async fn known(
        &self,
        repository: RepositoryId,
        (prefix, after): (&str, &str),
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<(String, serde_json::Value)>, Error> {
        let (prefix, after) = (prefix.to_owned(), after.to_owned());
        self.read(Lane::Index, event, move |truth| truth.known(repository, &prefix, &after, limit)).await
    }

    /// The live entries published in a time, newest first.
    pub async fn published(&self, id: RepositoryId, span: Span, event: &mut Event) -> Result<Vec<Entry>, Error> {
        self.read(Lane::Index, event, move |truth| truth.published(id, span)).await
    }

    /// One entry.
    pub async fn entry(&self, id: RepositoryId, key: &str, event: &mut Event) -> Result<Option<Entry>, Error> {
        let key = key.to_owned();
        self.read(Lane::Single, event, move |truth| truth.entry(id, &key)).await
    }

    /// Entries whose keys begin with `prefix` and come after `after`, in byte order of those, `limit` at most.
    pub async fn entries_beginning(
        &self,
        id: RepositoryId,
        (prefix, after): (&str, &str),
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<Entry>, Error> {
        let (prefix, after) = (prefix.to_owned(), after.to_owned());
        self.read(Lane::Single, event, move |truth| truth.entries_beginning(id, &prefix, &after, limit)).await
    }

    /// The entry whose key is `key` but for the case of ASCII letters.
    pub async fn entry_in_any_case(
        &self,
        id: RepositoryId,
        key: &str,
        event: &mut Event,
    ) -> Result<Option<Entry>, Error> {
        let key = key.to_owned();
        self.read(Lane::Change, event, move |truth| truth.entry_in_any_case(id, &key)).await
    }

    /// Another unit with a live entry that is called `unit` but for the case of ASCII letters.
    pub async fn unit_in_other_case(
        &self,
        id: RepositoryId,
        unit: &str,
        event: &mut Event,
    ) -> Result<Option<String>, Error> {
        let unit = unit.to_owned();
        self.read(Lane::Change, event, move |truth| truth.unit_in_other_case(id, &unit)).await
    }

    /// Names of units with a live entry, after `after`, in byte order, `limit` at most.
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

    /// Index lines of a repository after `after`, in the order of their numbers, `limit` at most.
    pub async fn lines(
        &self,
        repository: RepositoryId,
        after: Seq,
        limit: usize,
        event: &mut Event,
    ) -> Result<Vec<(Seq, String)>, Error> {
        self.read(Lane::Index, event, move |truth| truth.lines(repository, after, limit)).await
    }

    /// Repositories that live, in byte order of their names.
    pub async fn repositories(&self, event: &mut Event) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Error> {
        self.read(Lane::Single, event, Catalog::repositories).await
    }

    /// Repositories that had this name when they were removed, in the order in which they were made.
    pub async fn removed_repositories(
        &self,
        name: &str,
        event: &mut Event,
    ) -> Result<Vec<(RepositoryId, RepositoryRecord)>, Error> {
        let name = name.to_owned();
        self.read(Lane::Single, event, move |truth| truth.removed_repositories(&name)).await
    }

    /// How much the live entries of a repository come to. Reads all of them.
    pub async fn holding(&self, repository: RepositoryId, event: &mut Event) -> Result<Holding, Error> {
        self.read(Lane::Index, event, move |truth| truth.holding(repository)).await
    }

    /// Tokens that are not revoked, in byte order of their names.
    pub async fn tokens(&self, event: &mut Event) -> Result<Vec<TokenRecord>, Error> {
        self.read(Lane::Single, event, Catalog::tokens).await
    }

    /// A setting; `None` where it has its default.
    pub async fn setting(&self, key: &str, event: &mut Event) -> Result<Option<serde_json::Value>, Error> {
        let key = key.to_owned();
        self.read(Lane::Single, event, move |truth| truth.setting(&key)).await
    }

    /// The journal after `after`, `limit` rows at most.
    pub async fn journal(&self, after: Seq, limit: usize, event: &mut Event) -> Result<Vec<JournalRow>, Error> {
        self.read(Lane::Index, event, move |truth| truth.journal(after, limit)).await
    }

    async fn read<T: Send + 'static>(
        &self,
        lane: Lane,
        event: &mut Event,
        read: impl FnOnce(&mut Sqlite) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.readers.run(lane, (Op::TruthWait, Op::TruthRead), event, read).await?
    }

    /// Begins to take bytes.
    pub async fn stage(&self, event: &mut Event) -> Result<Staged, Error> {
        let stage = |blobs: &mut Arc<Blobs>| blobs.stage();
        let writing = self.blob_threads.run(Lane::Change, (Op::BlobWait, Op::BlobWrite), event, stage).await??;
        Ok(Staged::new(self.blob_threads.clone(), self.blobs.clone(), writing))
    }

    /// The bytes of `digest`, and how many.
    pub async fn open_blob(&self, digest: Digest, event: &mut Event) -> Result<(File, u64), Error> {
        let open = move |blobs: &mut Arc<Blobs>| blobs.open_blob(&digest);
        self.blob_threads.run(Lane::Single, (Op::BlobWait, Op::BlobOpen), event, open).await?
    }

    /// The bytes of `digest` in memory: for what is small.
    pub async fn read_blob(&self, digest: Digest, event: &mut Event) -> Result<Bytes, Error> {
        let read = move |blobs: &mut Arc<Blobs>| blobs.read_blob(&digest);
        self.blob_threads.run(Lane::Single, (Op::BlobWait, Op::BlobRead), event, read).await?
    }

    /// Writes a file that is derived from the truth, in place of the one that has its name. Durable enough for what can be
    /// made again, and less work for the disk: a crash may lose it or leave a part, which is noticed when it is read.
    pub async fn keep_derived(
        &self,
        repository: RepositoryId,
        name: &'static str,
        parts: Vec<Bytes>,
        event: &mut Event,
    ) -> Result<(), Error> {
        let keep = move |blobs: &mut Arc<Blobs>| blobs.keep_derived(repository, name, &parts);
        self.blob_threads.run(Lane::Index, (Op::BlobWait, Op::IndexKeep), event, keep).await?
    }

    /// What was last written with [`Store::keep_derived`], if it is there byte for byte.
    pub async fn derived(
        &self,
        repository: RepositoryId,
        name: &'static str,
        event: &mut Event,
    ) -> Result<Option<Bytes>, Error> {
        let read = move |blobs: &mut Arc<Blobs>| blobs.derived(repository, name);
        self.blob_threads.run(Lane::Index, (Op::BlobWait, Op::IndexRead), event, read).await
    }

    /// The counters that pages are held against.
    pub fn revisions(&self) -> &Arc<Revisions> {
        &self.revisions
    }

    /// The number of the last change that is committed.
    pub fn last(&self) -> Seq {
        Seq(self.last.load(Ordering::Acquire))
    }

    /// The number of the last change that is in a segment: how far a rebuild reaches.
    pub fn shipped(&self) -> Seq {
        Seq(self.shipped.load(Ordering::Acquire))
    }

    /// Ships all that is committed by now without waiting for its time, and says how far that is.
    pub async fn ship_now(&self, event: &mut Event) -> Result<Seq, Error> {
        self.shipper.now(event).await
    }

    /// Holds rows, blobs and segments against each other; with `verify` reads every byte of every blob. Waits for
    /// the disk. Meant for a store that nobody else writes to.
    pub fn check(&self, verify: bool, progress: &mut dyn FnMut(Progress)) -> Result<Report, Error> {
        check_on(&*self.disk, &self.layout, verify, progress)
    }

    #[cfg(test)]
    pub(crate) fn commits_under_way(&self) -> u64 {
        self.writer.under_way()
    }

    /// Where everything is.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Ends what is under way, and the threads. From then on everything is [`Error::Closed`]. Waits for the disk.
    pub fn close(&self) {
        // Held until all is done: who closes at the same time waits, and nobody else gets the folder before.
        let mut held = lock(&self.lock);
        let truth = self.writer.close();
        self.shipper.close();
        self.readers.close();
        self.blob_threads.close();
        self.cache.close();
        if let Some(truth) = truth {
            // The write-ahead log stays then, and the next start reads it.
            let _ = truth.close();
        }
        held.take();
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.close();
    }
}
