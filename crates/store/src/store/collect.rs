//! The collector: checks all blobs on disk, and where object storage keeps them all objects, marks the unneeded ones, and deletes the blobs that were marked long enough ago and are still unneeded.
//!
//! Of several nodes with object storage, one does this. The others only remove their copies of unneeded blobs from their disks.

use super::Store;
use crate::blobs::deletion::{DeletionRows, TURN_MAX};
use crate::blobs::digest::Digest;
use crate::blobs::files::names;
use crate::blobs::life::BlobLife;
use crate::blobs::next_looks::NextLooks;
use crate::disk::Disk;
use crate::disk::layout::Layout;
use crate::error::Result;
use crate::journal::record::Seq;
use crate::objects::keys::ObjectBlob;
use crate::pool::lane::Lane;
use crate::truth::catalog::Catalog;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use telemetry::{Event, Millis, Op, Tick, give_way};

/// The lease of the node that collects what all nodes share.
const COLLECT: &str = "collect";

/// The result of one round of the collector.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collection {
    /// Blobs on disk that were checked.
    pub blobs: u64,
    /// Blobs that are marked now: they are unneeded, and their wait is not over.
    pub marked: u64,
    /// Blobs that were deleted.
    pub collected: u64,
    /// The sum of their sizes.
    pub freed_bytes: u64,
    /// Some blobs are left for the next round, for example because a backup needed all blobs to stay.
    pub paused: bool,
}

/// Figures about all rounds since the start.
#[derive(Debug, Default)]
pub(crate) struct CollectorFigures {
    pub(crate) collected: AtomicU64,
    pub(crate) freed_bytes: AtomicU64,
    pub(crate) marked: AtomicU64,
    pub(crate) last_round_ms: AtomicU64,
    /// When the next blobs may be due.
    pub(crate) next_looks: NextLooks,
    /// Allows one round at a time.
    turn: tokio::sync::Mutex<()>,
}

/// The unneeded blobs of a folder; `true`: a purge requires deletion without a wait.
type Unneeded = BTreeMap<Digest, bool>;

/// The number of folders that one thread checks at a time: a folder has few blobs, and a change of threads costs more than they
/// do.
const FOLDERS_MAX: usize = 16;
/// From this number of first bytes on, a round lists all objects at once, where they are few.
const MANY_BYTES: usize = 8;
/// The objects that one thread checks at a time, about.
const SPAN_OBJECTS: usize = 1024;

/// The delay of the next round after one that failed.
pub(super) const AGAIN_AFTER: Duration = Duration::from_secs(60);

/// Blobs to delete, with the moment at which they were marked, if they were.
type Due = Vec<(Digest, Option<Millis>)>;

/// A round under way.
struct Round {
    rows: DeletionRows,
    /// All objects, if they were listed at once.
    listed: Option<Vec<ObjectBlob>>,
    done: Collection,
    due: Due,
}

/// The results for some folders.
#[derive(Default)]
struct Found {
    unneeded: Unneeded,
    /// The number of blobs in them.
    blobs: u64,
    /// The folders that are empty.
    empty: Vec<String>,
    /// When the first needed blob will become unneeded, if that is known.
    ends: Option<Millis>,
    /// Objects of generations that have ended.
    ended: Vec<(Digest, Seq)>,
}

/// What the blobs of some folders are compared with.
struct Look {
    disk: Arc<dyn Disk>,
    layout: Layout,
    life: BlobLife,
    now: Millis,
    /// Where object storage keeps the blobs: the objects whose digests start with the byte of the folders.
    objects: Option<Vec<ObjectBlob>>,
    /// The byte, in hexadecimal.
    outer: String,
}

/// Blobs whose digests follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stretch {
    from: Digest,
    through: Digest,
    /// The folders on the disk that have some of them.
    folders: Vec<String>,
}

impl Store {
    /// Whether this node collects what all nodes share. The others remove copies from their own disks.
    pub fn collects(&self) -> bool {
        self.holds(COLLECT)
    }

    /// One round through all blobs. Yields to requests, and ends early if a thread of the store is busy.
    pub async fn collect(&self, event: &mut Event) -> Result<Collection> {
        let _turn = event.waited(Op::TurnWait, self.collector.turn.lock()).await;
        let began = Tick::now();
        let done = self.round(Millis(i64::MAX), event).await?;
        let figures = &self.collector;
        figures.marked.store(done.marked, Relaxed);
        figures.last_round_ms.store(Tick::now().since(began) / 1_000_000, Relaxed);
        Ok(done)
    }

    /// One round through the blobs that may be due by now. Its figures cover only these.
    pub async fn collect_due(&self, event: &mut Event) -> Result<Collection> {
        let _turn = event.waited(Op::TurnWait, self.collector.turn.lock()).await;
        self.round(self.now(), event).await
    }

    /// When [`Self::collect_due`] has blobs to check; `None`: not before the next round through all blobs.
    pub fn next_collection(&self) -> Option<Millis> {
        self.collector.next_looks.next()
    }

    /// Checks the blobs that are due at `due`.
    async fn round(&self, due: Millis, event: &mut Event) -> Result<Collection> {
        let looks = &self.collector.next_looks;
        let firsts: Vec<u8> = (0..=u8::MAX).filter(|first| looks.take(*first, due)).collect();
        let done = self.collect_among(&firsts, event).await;
        if done.is_err() {
            let again = self.now().plus(AGAIN_AFTER);
            firsts.iter().for_each(|first| looks.need(*first, again));
        }
        done
    }

    /// Checks the blobs whose digests start with one of these bytes.
    async fn collect_among(&self, firsts: &[u8], event: &mut Event) -> Result<Collection> {
        let rows = match &self.objects {
            None => DeletionRows::Named,
            Some(_) if self.collects() => DeletionRows::All,
            Some(_) => DeletionRows::Nothing,
        };
        let at_once = rows == DeletionRows::All && firsts.len() >= MANY_BYTES;
        let listed = if at_once { self.few_objects(event).await? } else { None };
        let mut round = Round { rows, listed, done: Collection::default(), due: Due::new() };
        // Where object storage keeps the blobs, a folder may have none of them.
        let folders = match rows {
            DeletionRows::All => firsts.iter().map(|first| format!("{first:02x}")).collect(),
            DeletionRows::Named | DeletionRows::Nothing => self.names(&self.layout.blobs_by_digest(), event).await?,
        };
        for name in folders {
            let Some(first) = byte(&name).filter(|first| firsts.contains(first)) else { continue };
            self.collect_in(&name, first, &mut round, event).await?;
            if round.due.len() >= TURN_MAX {
                self.delete_due(&mut round, event).await?;
            }
        }
        self.delete_due(&mut round, event).await?;
        Ok(round.done)
    }

    /// Checks the blobs whose digests start with the byte `outer`, in hexadecimal.
    async fn collect_in(&self, outer: &str, first: u8, round: &mut Round, event: &mut Event) -> Result<()> {
        let Some((from, through)) = range(outer) else { return Ok(()) };
        let mut marks =
            self.cached(Op::CacheRead, event, move |cache| cache.marks(&from, &through)).await.unwrap_or_default();
        let (mut add, mut empty, now) = (Vec::new(), Vec::new(), self.now());
        let folder = self.layout.blobs_by_digest().join(outer);
        let objects = match (round.rows, &round.listed) {
            (DeletionRows::Named | DeletionRows::Nothing, _) => None,
            (DeletionRows::All, Some(all)) => {
                Some(all.iter().filter(|object| object.digest.0[0] == first).copied().collect())
            }
            (DeletionRows::All, None) => self.objects_beginning(first, event).await?,
        };
        let names = self.names(&folder, event).await?;
        let stretches = stretches(outer, &names, objects.as_ref().map(Vec::len));
        let (disk, layout, life) = (self.disk.clone(), self.layout.clone(), self.blob_life);
        let at_once = if objects.is_some() { 1 } else { FOLDERS_MAX };
        let look = Arc::new(Look { disk, layout, life, now, objects, outer: outer.to_owned() });
        let looks = &self.collector.next_looks;
        // Without free space it does not wait.
        let wait = if self.space.is_low() { Duration::ZERO } else { self.blob_life.collect_after };
        for some in stretches.chunks(at_once) {
            let Found { unneeded, blobs, empty: now_empty, ends, ended } =
                self.look(some.to_vec(), look.clone(), event).await?;
            round.done.blobs += blobs;
            ends.into_iter().for_each(|at| looks.need(first, at));
            empty.extend(now_empty.iter().map(|inner| folder.join(inner)));
            self.delete_objects(ended, event).await;
            for (digest, purged) in unneeded {
                match marks.remove(&digest) {
                    Some(at) if at.plus(wait) > now && !purged => {
                        looks.need(first, at.plus(wait));
                        round.done.marked += 1;
                    }
                    None if !wait.is_zero() && !purged => add.push(digest),
                    // The mark stays until the blob is deleted, because this round may end early.
                    marked => round.due.push((digest, marked)),
                }
            }
        }
        self.remove_folders(empty, event).await?;
        if !add.is_empty() {
            looks.need(first, now.plus(wait));
        }
        round.done.marked += add.len() as u64;
        // The remaining marks belong to blobs that are needed again or deleted.
        self.change_marks(add, now, marks.into_keys().collect(), event).await
    }

    /// Deletes the blobs of several folders. One folder has few blobs, while a turn of the writer can delete many: each turn with
    /// rows syncs the disk.
    async fn delete_due(&self, round: &mut Round, event: &mut Event) -> Result<()> {
        let (now, mut gone, due) = (self.now(), Vec::new(), std::mem::take(&mut round.due));
        for some in due.chunks(TURN_MAX) {
            let digests = some.iter().map(|(digest, _)| *digest).collect();
            if self.delete(digests, now, round, event).await? {
                gone.extend(some.iter().filter(|(_, marked)| marked.is_some()).map(|(digest, _)| *digest));
            } else {
                some.iter().for_each(|(digest, _)| self.collector.next_looks.need_for(digest, now));
            }
        }
        self.change_marks(Vec::new(), now, gone, event).await
    }

    async fn change_marks(&self, add: Vec<Digest>, at: Millis, remove: Vec<Digest>, event: &mut Event) -> Result<()> {
        if add.is_empty() && remove.is_empty() {
            return Ok(());
        }
        let change = move |cache: &mut crate::cache::Cache| cache.change_marks(&add, at, &remove);
        match self.cached(Op::CacheWrite, event, change).await {
            // A later round writes them.
            Err(error) if error.is_disk_full() => Ok(()),
            changed => changed,
        }
    }

    /// Deletes blobs in turns of the writer. `false`: they must stay for now.
    async fn delete(&self, mut blobs: Vec<Digest>, now: Millis, round: &mut Round, event: &mut Event) -> Result<bool> {
        let (mut rows, done) = (round.rows, &mut round.done);
        while !blobs.is_empty() {
            let deleted = self.writer.delete(blobs, rows, now, event).await?;
            self.delete_objects(deleted.ended, event).await;
            done.collected += deleted.blobs;
            done.freed_bytes += deleted.size_bytes;
            self.collector.collected.fetch_add(deleted.blobs, Relaxed);
            self.collector.freed_bytes.fetch_add(deleted.size_bytes, Relaxed);
            if deleted.paused {
                done.paused = true;
                return Ok(false);
            }
            blobs = deleted.rest;
            if rows == DeletionRows::All {
                // They have their rows.
                rows = DeletionRows::Named;
            }
        }
        Ok(true)
    }

    async fn names(&self, folder: &Path, event: &mut Event) -> Result<Vec<String>> {
        let (disk, folder) = (self.disk.clone(), folder.to_owned());
        self.read(Lane::Index, event, move |_| names(&*disk, &folder)).await
    }

    /// Removes folders that an earlier round emptied. Each takes a disk block, and time in every round.
    async fn remove_folders(&self, empty: Vec<PathBuf>, event: &mut Event) -> Result<()> {
        if empty.is_empty() {
            return Ok(());
        }
        let blobs = self.blobs.clone();
        let remove = move |_: &mut dyn Catalog| {
            empty.iter().try_for_each(|folder| {
                give_way();
                blobs.remove_empty_folder(folder)
            })
        };
        self.read(Lane::Index, event, remove).await
    }

    /// The blobs of some stretches, and which of them are unneeded.
    async fn look(&self, stretches: Vec<Stretch>, look: Arc<Look>, event: &mut Event) -> Result<Found> {
        let look_into = move |truth: &mut dyn Catalog| {
            let mut found = Found::default();
            stretches.iter().try_for_each(|stretch| look.add(truth, stretch, &mut found))?;
            Ok(found)
        };
        self.read(Lane::Index, event, look_into).await
    }
}

impl Look {
    /// Adds the blobs of a stretch.
    fn add(&self, truth: &mut dyn Catalog, stretch: &Stretch, found: &mut Found) -> Result<()> {
        let Stretch { from, through, folders } = stretch;
        let mut unneeded = Unneeded::new();
        for inner in folders {
            give_way();
            let names = names(&*self.disk, &self.layout.blobs_by_digest().join(&self.outer).join(inner))?;
            if names.is_empty() {
                found.empty.push(inner.clone());
            }
            let digests = names.iter().filter_map(|name| name.parse::<Digest>().ok());
            unneeded.extend(digests.map(|digest| (digest, false)));
        }
        give_way();
        if let Some(objects) = &self.objects {
            let generations: BTreeMap<_, _> = truth.generations(from, through)?.into_iter().collect();
            for object in objects.iter().filter(|object| (*from..=*through).contains(&object.digest)) {
                match object.generation.cmp(&generations.get(&object.digest).copied().unwrap_or_default()) {
                    Ordering::Less => found.ended.push((object.digest, object.generation)),
                    Ordering::Equal => drop(unneeded.insert(object.digest, false)),
                    // The row that made it is not here yet.
                    Ordering::Greater => {}
                }
            }
        } else if unneeded.is_empty() {
            return Ok(());
        }
        let uses = truth.blob_uses(from, through)?;
        if self.objects.is_some() {
            // A blob whose object is lost has rows that end as well.
            unneeded.extend(uses.iter().map(|(digest, _)| (*digest, false)));
        }
        found.blobs += unneeded.len() as u64;
        let mut ends = BTreeMap::<Digest, Option<Millis>>::new();
        for (digest, one) in uses {
            if one.keeps(&self.life, self.now) {
                unneeded.remove(&digest);
                let until = one.keeps_until(&self.life);
                let last = ends.entry(digest).or_insert(until);
                *last = last.zip(until).map(|(last, until)| last.max(until));
            } else if let Some(purged) = unneeded.get_mut(&digest) {
                *purged |= one.purged();
            }
        }
        found.ends = found.ends.into_iter().chain(ends.into_values().flatten()).min();
        found.unneeded.append(&mut unneeded);
        Ok(())
    }
}

/// The blobs whose digests start with the byte `outer`, in stretches. `names`: its folders on the disk; `objects`: their number, where object
/// storage keeps the blobs. There, all blobs are in one of the stretches, whatever the disk has.
fn stretches(outer: &str, names: &[String], objects: Option<usize>) -> Vec<Stretch> {
    let of = |first: u8, last: u8, folders: Vec<String>| {
        let ((from, _), (_, through)) =
            range(&format!("{outer}{first:02x}")).zip(range(&format!("{outer}{last:02x}")))?;
        Some(Stretch { from, through, folders })
    };
    let folders = names.iter().filter_map(|name| Some((byte(name)?, name.clone())));
    let Some(objects) = objects else {
        return folders.filter_map(|(inner, name)| of(inner, inner, vec![name])).collect();
    };
    let folders: Vec<_> = folders.collect();
    let many = (objects / SPAN_OBJECTS + 1).next_power_of_two().min(1 << 8);
    let step = (1 << 8) / many;
    let stretch = |at: usize| {
        let (first, last) = (u8::try_from(at).ok()?, u8::try_from(at + step - 1).ok()?);
        let inside = folders.iter().filter(|(inner, _)| (first..=last).contains(inner));
        of(first, last, inside.map(|(_, name)| name.clone()).collect())
    };
    (0..1 << 8).step_by(step).filter_map(stretch).collect()
}

/// The byte for a name of two hexadecimal digits.
fn byte(name: &str) -> Option<u8> {
    u8::from_str_radix(name, 16).ok().filter(|_| name.len() == 2)
}

/// The first and the last digest that start with the bytes of a hexadecimal prefix.
fn range(prefix: &str) -> Option<(Digest, Digest)> {
    let end = |fill: &str| format!("{prefix}{}", fill.repeat(64_usize.saturating_sub(prefix.len()))).parse().ok();
    Some((end("0")?, end("f")?))
}
