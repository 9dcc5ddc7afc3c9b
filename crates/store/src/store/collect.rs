//! The collector: goes through all blobs on disk, marks those that nothing needs, and deletes those that it marked long enough ago and that
//! nothing needs still.

use super::Store;
use crate::blob_files::names;
use crate::blob_life::BlobLife;
use crate::catalog::Catalog;
use crate::deletion::TURN_MAX;
use crate::digest::Digest;
use crate::disk::Disk;
use crate::error::Error;
use crate::lane::Lane;
use crate::layout::Layout;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use telemetry::{Event, Millis, Op, Tick, give_way};

/// What one round of the collector did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collection {
    /// Blobs on disk that it looked at.
    pub blobs: u64,
    /// Those that are marked now: nothing needs them, and their wait is not over.
    pub marked: u64,
    /// Those that it deleted.
    pub collected: u64,
    /// The sum of their sizes.
    pub freed_bytes: u64,
    /// Some blobs are left for the next round, for example because a backup needed all of them to stay.
    pub paused: bool,
}

/// Figures about all rounds since the start.
#[derive(Debug, Default)]
pub(crate) struct CollectorFigures {
    pub(crate) collected: AtomicU64,
    pub(crate) freed_bytes: AtomicU64,
    pub(crate) marked: AtomicU64,
    pub(crate) last_round_ms: AtomicU64,
    /// One round at a time.
    turn: tokio::sync::Mutex<()>,
}

/// The blobs of a folder that nothing needs; `true`: a purge wants them gone without a wait.
type Unneeded = BTreeMap<Digest, bool>;

/// Folders that are looked into at a time, by one thread: a folder alone has few blobs, and a change of threads costs more than these.
const FOLDERS_MAX: usize = 16;

/// Blobs to delete, with the moment at which they were marked, if they were.
type Due = Vec<(Digest, Option<Millis>)>;

/// What was found in some folders.
#[derive(Default)]
struct Found {
    unneeded: Unneeded,
    /// All blobs in them.
    blobs: u64,
    /// Those in which nothing at all is.
    empty: Vec<String>,
}

impl Store {
    /// One round. Gives way to requests, and ends early where a thread of the store is busy.
    pub async fn collect(&self, event: &mut Event) -> Result<Collection, Error> {
        let _turn = self.collector.turn.lock().await;
        let began = Tick::now();
        let mut done = Collection::default();
        let folder = self.layout.blobs_by_digest();
        let folders = self.names(&folder, event).await?;
        let mut due = Due::new();
        for name in folders.iter().filter(|name| is_byte(name)) {
            self.collect_in(name, &mut done, &mut due, event).await?;
            if due.len() >= TURN_MAX {
                self.delete_due(std::mem::take(&mut due), &mut done, event).await?;
            }
        }
        self.delete_due(due, &mut done, event).await?;
        let figures = &self.collector;
        figures.marked.store(done.marked, Ordering::Relaxed);
        figures.last_round_ms.store(Tick::now().since(began) / 1_000_000, Ordering::Relaxed);
        Ok(done)
    }

    /// The blobs whose digests begin with the byte `outer`, in hexadecimal.
    async fn collect_in(
        &self,
        outer: &str,
        done: &mut Collection,
        due: &mut Due,
        event: &mut Event,
    ) -> Result<(), Error> {
        let Some((from, through)) = range(outer) else { return Ok(()) };
        let mut marks =
            self.cached(Op::CacheRead, event, move |cache| cache.marks(&from, &through)).await.unwrap_or_default();
        let (mut add, mut empty, now) = (Vec::new(), Vec::new(), self.now());
        let folder = self.layout.blobs_by_digest().join(outer);
        let inner: Vec<String> = self.names(&folder, event).await?.into_iter().filter(|name| is_byte(name)).collect();
        for some in inner.chunks(FOLDERS_MAX) {
            let Found { unneeded, blobs, empty: now_empty } = self.look(outer, some.to_vec(), now, event).await?;
            done.blobs += blobs;
            empty.extend(now_empty.iter().map(|inner| folder.join(inner)));
            for (digest, purged) in unneeded {
                match marks.remove(&digest) {
                    Some(at) if at.plus(self.blob_life.collect_after) > now && !purged => done.marked += 1,
                    None if !self.blob_life.collect_after.is_zero() && !purged => add.push(digest),
                    // The mark stays until the blob is gone: this may be cut short.
                    marked => due.push((digest, marked)),
                }
            }
        }
        self.remove_folders(empty, event).await?;
        done.marked += add.len() as u64;
        // What is left belongs to blobs that are needed again, or gone.
        self.change_marks(add, now, marks.into_keys().collect(), event).await
    }

    /// Deletes the blobs of several folders. One folder has few, and a turn of the writer is for many: each with rows syncs the disk.
    async fn delete_due(&self, due: Due, done: &mut Collection, event: &mut Event) -> Result<(), Error> {
        let (now, mut gone) = (self.now(), Vec::new());
        for some in due.chunks(TURN_MAX) {
            let digests = some.iter().map(|(digest, _)| *digest).collect();
            if self.delete(digests, now, done, event).await? {
                gone.extend(some.iter().filter(|(_, marked)| marked.is_some()).map(|(digest, _)| *digest));
            }
        }
        self.change_marks(Vec::new(), now, gone, event).await
    }

    async fn change_marks(
        &self,
        add: Vec<Digest>,
        at: Millis,
        remove: Vec<Digest>,
        event: &mut Event,
    ) -> Result<(), Error> {
        if add.is_empty() && remove.is_empty() {
            return Ok(());
        }
        let change = move |cache: &mut crate::cache::Cache| cache.change_marks(&add, at, &remove);
        match self.cached(Op::CacheWrite, event, change).await {
            // They are made by a later round.
            Err(error) if error.is_disk_full() => Ok(()),
            changed => changed,
        }
    }

    /// Deletes blobs in turns of the writer. `false`: they have to stay for now.
    async fn delete(
        &self,
        mut blobs: Vec<Digest>,
        now: Millis,
        done: &mut Collection,
        event: &mut Event,
    ) -> Result<bool, Error> {
        while !blobs.is_empty() {
            let deleted = self.writer.delete(blobs, now, event).await?;
            done.collected += deleted.blobs;
            done.freed_bytes += deleted.size_bytes;
            self.collector.collected.fetch_add(deleted.blobs, Ordering::Relaxed);
            self.collector.freed_bytes.fetch_add(deleted.size_bytes, Ordering::Relaxed);
            if deleted.paused {
                done.paused = true;
                return Ok(false);
            }
            blobs = deleted.rest;
        }
        Ok(true)
    }

    async fn names(&self, folder: &Path, event: &mut Event) -> Result<Vec<String>, Error> {
        let (disk, folder) = (self.disk.clone(), folder.to_owned());
        self.read(Lane::Index, event, move |_| names(&*disk, &folder)).await
    }

    /// Removes folders that were emptied in an earlier round. Each is a block of the disk, and work for every round.
    async fn remove_folders(&self, empty: Vec<PathBuf>, event: &mut Event) -> Result<(), Error> {
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

    /// The blobs in some folders of `outer`, and those of them that nothing needs at `now`.
    async fn look(&self, outer: &str, inner: Vec<String>, now: Millis, event: &mut Event) -> Result<Found, Error> {
        let (disk, layout, life, outer) = (self.disk.clone(), self.layout.clone(), self.blob_life, outer.to_owned());
        let look_into = move |truth: &mut dyn Catalog| {
            let mut found = Found::default();
            for inner in inner {
                look(truth, &*disk, &layout, [&outer, &inner], &life, now, &mut found)?;
            }
            Ok(found)
        };
        self.read(Lane::Index, event, look_into).await
    }
}

/// Adds what is in the folder of these two bytes.
fn look(
    truth: &mut dyn Catalog,
    disk: &dyn Disk,
    layout: &Layout,
    [outer, inner]: [&str; 2],
    life: &BlobLife,
    now: Millis,
    found: &mut Found,
) -> Result<(), Error> {
    let Some((from, through)) = range(&format!("{outer}{inner}")) else { return Ok(()) };
    give_way();
    let names = names(disk, &layout.blobs_by_digest().join(outer).join(inner))?;
    if names.is_empty() {
        found.empty.push(inner.to_owned());
        return Ok(());
    }
    let digests = names.iter().filter_map(|name| name.parse::<Digest>().ok());
    let mut unneeded: Unneeded = digests.map(|digest| (digest, false)).collect();
    found.blobs += unneeded.len() as u64;
    for (digest, one) in truth.blob_uses(&from, &through)? {
        if one.keeps(life, now) {
            unneeded.remove(&digest);
        } else if let Some(purged) = unneeded.get_mut(&digest) {
            *purged |= one.purged();
        }
    }
    found.unneeded.append(&mut unneeded);
    Ok(())
}

/// Whether a name is two hexadecimal digits.
fn is_byte(name: &str) -> bool {
    name.len() == 2 && u8::from_str_radix(name, 16).is_ok()
}

/// The first and the last digest that begin with some bytes, in hexadecimal.
fn range(prefix: &str) -> Option<(Digest, Digest)> {
    let end = |fill: &str| format!("{prefix}{}", fill.repeat(64_usize.saturating_sub(prefix.len()))).parse().ok();
    Some((end("0")?, end("f")?))
}
