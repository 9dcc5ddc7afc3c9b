//! The public interface of the store: asynchronous functions that run on its threads and record their time in the event.

mod adopt;
mod as_of;
mod authors;
mod blobs;
mod cached;
mod children;
mod collect;
mod first_seen;
mod folder_look;
mod frees;
pub(crate) mod holdings;
mod journal_search;
mod last_use;
mod late_digests;
mod nodes;
pub(crate) mod objects;
mod open;
mod open_objects;
mod open_truth;
pub(crate) mod options;
pub(crate) mod progress;
mod reads;
mod resolve;
mod skip_scan;
mod upstreams;

pub use adopt::{Adopted, try_objects};
pub use as_of::AsOf;
pub use authors::AuthoredChange;
pub use cached::Arrival;
pub use children::{Child, LevelRequest};
pub use collect::Collection;
pub use folder_look::FolderLook;
pub use frees::{Frees, Withdrawals};
pub use journal_search::{JournalPage, JournalRange};
pub use resolve::{GivenUp, Histories, History, KeptHistory, Resolving};
pub use skip_scan::UnitFilter;

use crate::blobs::Blobs;
use crate::blobs::life::BlobLife;
use crate::blobs::missing::MissingBlobs;
use crate::blobs::next_looks::NeededLooks;
use crate::cache::{Arrivals, Cache, CacheBounds, ChangedUpstreams, LastVerified, PresenceCache};
use crate::check::{Report, check_on};
use crate::disk::Disk;
use crate::disk::layout::Layout;
use crate::disk::space::{ReadOnly, Space};
use crate::error::{Error, Result};
use crate::journal::change::Change;
use crate::journal::clock::JournalClock;
use crate::journal::clock_doubt::ClockDoubt;
use crate::journal::record::Seq;
use crate::journal::shipper::Shipper;
use crate::pool::Pool;
use crate::pool::lane::Lane;
use crate::store::holdings::Holdings;
use crate::store::objects::StoreObjects;
use crate::store::progress::Progress;
use crate::truth::catalog::{Batch, Catalog, CommitError, JournalRow};
use crate::truth::postgres::{DatabaseState, Everywhere, Freshness, Leases, Member, NodeState};
use crate::truth::readable::{Readability, Unreadable};
use crate::writer::Writer;
use crate::writer::committer::{CLOCK_CORRECTION, Committer};
use crate::writer::first_seen_budget::FirstSeenBudget;
use crate::writer::followed::Followed;
use crate::writer::group_membership::GroupMembership;
use crate::writer::revision::Revisions;
use collect::CollectorFigures;
use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::{Event, Log, Millis, Op, lock};

/// The store. There is one for each data folder.
#[derive(Debug)]
pub struct Store {
    layout: Layout,
    disk: Arc<dyn Disk>,
    revisions: Arc<Revisions>,
    last: Arc<AtomicU64>,
    journal_clock: Arc<JournalClock>,
    /// The identity of the data folder.
    node: u128,
    shipped: Arc<AtomicU64>,
    writer: Arc<Writer>,
    shipper: Shipper,
    readers: Pool<Box<dyn Catalog>>,
    readability: Arc<Readability>,
    /// Other file operations of SQLite, where the usual ones need space that the disk does not have.
    vfs: Option<&'static str>,
    blobs: Arc<Blobs>,
    blob_threads: Arc<Pool<Arc<Blobs>>>,
    /// `None`: the disk keeps the blobs.
    objects: Option<StoreObjects>,
    missing: MissingBlobs,
    cache: Pool<Cache>,
    /// What waits for the cache's thread.
    arrivals: Arc<Arrivals>,
    changed_upstreams: Arc<ChangedUpstreams>,
    /// The facts about folders of upstreams, in memory.
    presence: Arc<PresenceCache>,
    /// The bounds of cached files and facts.
    cache_bounds: CacheBounds,
    /// When cached files were last verified.
    last_verified: Arc<LastVerified>,
    /// Whether a large cached file is being verified after it was served. One at a time.
    verifying: Arc<AtomicBool>,
    log: Log,
    /// How long unreferenced blobs are kept.
    blob_life: BlobLife,
    collector: Arc<CollectorFigures>,
    space: Arc<Space>,
    first_seen: Arc<FirstSeenBudget>,
    membership: Arc<Mutex<GroupMembership>>,
    followed: Arc<Followed>,
    /// The size of each repository.
    holdings: Arc<Holdings>,
    /// The connection to the database that orders the changes, if there is one.
    database: Option<Arc<DatabaseState>>,
    /// Among the other nodes, if there is a database.
    member: Option<Arc<Member>>,
    /// `None`: a change is acknowledged as soon as it is committed.
    everywhere: Option<Arc<Everywhere>>,
    leases: Arc<Leases>,
    freshness: Arc<Freshness>,
    /// The lock of the data folder, held until all writing has ended.
    lock: Mutex<Option<File>>,
}

impl Store {
    /// Makes all changes of a batch or none. When this returns, the changes are durable and no stamp that they affect holds, in no node
    /// that calls its answers fresh (unless the settings say that this node is enough).
    /// Dropping the future does not cancel the batch, once its blobs are in object storage, where there is one.
    pub async fn commit(&self, batch: Batch, event: &mut Event) -> Result<Seq, CommitError> {
        batch.check()?;
        // If the caller does not wait for the reply, the next round through all blobs finds them.
        let looks = NeededLooks::of(batch.changes.iter().map(|change| (change, batch.at)), &self.blob_life);
        let seq = match &self.objects {
            Some(objects) => Box::pin(self.send_and_commit(objects, batch, event)).await?,
            None => self.writer.commit(batch, event).await?,
        };
        self.collector.next_looks.need_all(&looks);
        if let Some(everywhere) = &self.everywhere {
            event.during(Op::CommitEverywhere, everywhere.wait(seq)).await;
        }
        Ok(seq)
    }

    /// Waits until every change that this node has is in every node that calls its answers fresh, as after a change of its own: for an
    /// answer that acknowledges what was there before.
    pub async fn settle_everywhere(&self, event: &mut Event) {
        if let Some(everywhere) = &self.everywhere {
            event.during(Op::CommitEverywhere, everywhere.wait(self.last())).await;
        }
    }

    /// Takes in what other processes have written to the same database by now, as after a change of this process.
    pub async fn follow(&self, event: &mut Event) -> Result<()> {
        self.writer.run(Op::Commit, event, Committer::follow).await
    }

    /// Calls `told` with the changes of other processes, in their order and each once, before any batch is decided after them. It is
    /// called by the thread that commits, so it must not wait. Only the first call of this counts.
    pub fn on_followed(&self, told: impl Fn(&[JournalRow]) + Send + Sync + 'static) {
        let (collector, life) = (self.collector.clone(), self.blob_life);
        self.followed.set(Box::new(move |rows| {
            let changes = rows.iter().map(|row| (&row.change, row.at));
            collector.next_looks.need_all(&NeededLooks::of(changes, &life));
            told(rows);
        }));
    }

    /// Replaces a note by what `change` makes of it, and returns what else it made. A note is a small text under a name that all
    /// processes with this database share; it is durable, and no part of the history. If `change` makes no new text, the note stays.
    /// `change` may be called several times, and its last call counts.
    pub async fn change_note<T: Send + 'static>(
        &self,
        name: String,
        mut change: impl FnMut(Option<&str>) -> (Option<String>, T) + Send + 'static,
        event: &mut Event,
    ) -> Result<T> {
        let work = move |committer: &mut Committer| {
            let mut made = None;
            committer.change_note(&name, &mut |note| {
                let (body, also) = change(note);
                made = Some(also);
                body
            })?;
            made.ok_or(Error::Closed)
        };
        self.writer.run(Op::Commit, event, work).await
    }

    /// The moment of a change that is made now: that of the clock, or that of the last change, if the clock is behind it. Take
    /// the moment of a batch here, as late as possible: a batch with an index line is refused if another batch has a later
    /// moment.
    pub fn now(&self) -> Millis {
        self.journal_clock.now()
    }

    /// The identity of the data folder: a random number. A restored folder gets another one.
    pub fn node(&self) -> u128 {
        self.node
    }

    /// Whether the database that orders the changes can be used; `None`: there is none, and the data folder has everything.
    pub fn database(&self) -> Option<&DatabaseState> {
        self.database.as_deref()
    }

    /// Whether this node does work that one does for all ([`Leases::holds`]).
    pub fn holds(&self, lease: &str) -> bool {
        self.leases.holds(lease)
    }

    /// The work that one node does for all of them.
    pub fn leases(&self) -> &Arc<Leases> {
        &self.leases
    }

    /// Whether answers have every change that was acknowledged by any node.
    pub fn freshness(&self) -> &Arc<Freshness> {
        &self.freshness
    }

    /// An error while tokens are not believed, as this node has not heard of the others for longer than [`DatabaseOptions::stale_private`].
    pub fn believes_tokens(&self) -> Result<()> {
        self.member.as_ref().map_or(Ok(()), |member| member.believes_tokens())
    }

    /// This node is about to stop, so others do the work that one does for all.
    pub fn drain(&self) {
        self.member.iter().for_each(|member| member.is_now(NodeState::Draining));
    }

    /// Whether this node is about to stop.
    pub fn is_draining(&self) -> bool {
        self.member.as_ref().is_some_and(|member| member.state() == NodeState::Draining)
    }

    /// Whether another node has the name of this one, which calls no answer fresh then.
    pub fn is_nameless(&self) -> bool {
        self.member.as_ref().is_some_and(|member| member.is_nameless())
    }

    /// Free bytes on the disk of the data folder, as they were when the last write asked for them.
    pub fn free_bytes(&self) -> u64 {
        self.space.free_bytes()
    }

    /// No content is written while fewer bytes are free.
    pub fn floor_bytes(&self) -> u64 {
        self.space.floor_bytes()
    }

    /// Why nothing is written, if the store is read-only.
    pub fn read_only(&self) -> Option<ReadOnly> {
        let of_objects = || self.objects().filter(|objects| objects.is_away()).map(|_| ReadOnly::Objects);
        let why = |database: &DatabaseState| if database.has_parted() { ReadOnly::Parted } else { ReadOnly::Database };
        let of_database = || self.database().filter(|database| database.is_away()).map(why);
        let of_clock = || self.clock_doubt().map(ReadOnly::Clock);
        self.space.read_only().or_else(of_clock).or_else(of_database).or_else(of_objects)
    }

    /// By how many milliseconds the clock of the machine is corrected, because somebody decided that it is wrong; 0: it is believed.
    pub fn clock_correction(&self) -> i64 {
        self.journal_clock.correction()
    }

    /// Why the clock cannot be believed, if that is so.
    pub fn clock_doubt(&self) -> Option<ClockDoubt> {
        self.journal_clock.doubt().or_else(|| self.database().and_then(DatabaseState::clock_doubt))
    }

    /// The time of the machine's clock, whether it is believed or not.
    pub fn machine_now(&self) -> Millis {
        self.journal_clock.of_machine()
    }

    /// Believes the clock of the machine, where no row is later than it. Otherwise a batch with [`crate::Change::Redate`] does that.
    pub fn believe_clock(&self) {
        self.journal_clock.believe_clock(Millis(i64::MAX));
    }

    /// Lets time go on from where the rows are, whatever the clock of the machine says. Returns the change that makes the decision last
    /// over a restart.
    pub fn believe_rows(&self) -> Change {
        self.journal_clock.believe_rows();
        self.clock_setting()
    }

    /// The change that records the decision about the clock.
    pub fn clock_setting(&self) -> Change {
        let correction = self.journal_clock.correction();
        let value = if correction > 0 { correction.into() } else { serde_json::Value::Null };
        Change::Setting { key: CLOCK_CORRECTION.to_owned(), value }
    }

    /// Why the truth cannot be read, if that is so. Opens the database at most once in two seconds, and not at all after a read that
    /// met damage.
    pub async fn unreadable(&self, event: &mut Event) -> Result<Option<Unreadable>> {
        if let Some(known) = self.readability.known() {
            return Ok(known);
        }
        let (readability, vfs, path) = (self.readability.clone(), self.vfs, self.layout.truth());
        self.read(Lane::Single, event, move |_| Ok(readability.look(vfs, &path))).await
    }

    /// The size of the file of the truth database, in bytes. `None`: the file system does not tell.
    pub fn truth_bytes(&self) -> Option<u64> {
        std::fs::metadata(self.layout.truth()).map(|file| file.len()).ok()
    }

    /// The counters that stamps are compared with.
    pub fn revisions(&self) -> &Arc<Revisions> {
        &self.revisions
    }

    /// The number of the last committed change.
    pub fn last(&self) -> Seq {
        Seq(self.last.load(Ordering::Acquire))
    }

    /// The number of the last change that is in a segment. A rebuild reaches this far.
    pub fn shipped(&self) -> Seq {
        Seq(self.shipped.load(Ordering::Acquire))
    }

    /// Ships all rows that are committed by now, without waiting for the interval. Returns the last shipped change.
    pub async fn ship_now(&self, event: &mut Event) -> Result<Seq> {
        self.shipper.now(event).await
    }

    /// Compares rows, blobs and segments with each other; with `verify` reads every byte of every blob. Blocks on the disk. No
    /// thread may write to the store meanwhile.
    pub fn check(&self, verify: bool, progress: &mut dyn FnMut(Progress)) -> Result<Report> {
        let objects = self.objects.as_ref().map(|objects| &objects.blobs.calls.objects);
        check_on(&*self.disk, &self.layout, verify, objects, progress)
    }

    #[cfg(test)]
    pub(crate) fn commits_under_way(&self) -> u64 {
        self.writer.under_way()
    }

    /// How long unreferenced blobs are kept.
    pub fn blob_life(&self) -> &BlobLife {
        &self.blob_life
    }

    /// The paths in the data folder.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Finishes operations in progress, and ends the threads. Every later call returns [`Closed`](crate::Error::Closed). Blocks on the disk.
    pub fn close(&self) {
        // Locked to the end: a second caller waits, and no other process gets the folder before everything is done.
        let mut held = lock(&self.lock);
        let truth = self.writer.close();
        self.shipper.close();
        self.objects.iter().for_each(|objects| objects.keeper.close());
        self.readers.close();
        self.blob_threads.close();
        self.cache.run_later(Duration::ZERO, Op::CacheWrite, Cache::finish);
        self.cache.close();
        if let Some(truth) = truth {
            // If this fails the write-ahead log stays, and the next start reads it.
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
