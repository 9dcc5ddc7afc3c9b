//! Random histories of publishing, withdrawing, collecting and crashes: no needed blob is ever deleted, and after two rounds of
//! the collector no unneeded blob is left. `DAYLIGHT_HISTORIES` sets their number; the default is 12.

use super::{job, options};
use crate::disk::Disk;
use crate::disk::fault::{Loss, SimDisk};
use crate::truth::suite::{batch, entry, repository};
use crate::{
    Batch, BlobLife, Change, CommitError, Digest, Entry, Error, JournalReads as _, JournalRow, Layout, RepositoryId,
    Seq, Sqlite, State, Store, StoreOptions, Withdrawal,
};
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Clock, Millis};

/// In milliseconds, so that a history of some steps passes all of these periods.
const LIFE: BlobLife = BlobLife {
    horizon: Duration::from_millis(400),
    undo: Duration::from_millis(70),
    collect_after: Duration::from_millis(10),
};
const REPOSITORIES: u64 = 2;

struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

struct History {
    folder: tempfile::TempDir,
    disk: SimDisk,
    clock: Clock,
    dice: Dice,
    store: Option<Arc<Store>>,
    /// Every step, for the message of a failure.
    steps: Vec<String>,
}

impl History {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = SimDisk::new(folder.path());
        Self { folder, disk, clock: Clock::at(Millis(1_000)), dice: Dice(seed), store: None, steps: Vec::new() }
    }

    fn open(&mut self) -> Result<(), Error> {
        let disk = Arc::new(self.disk.clone());
        let threads = StoreOptions { readers: 1, blob_threads: 1, ..options(self.folder.path()) };
        let ship_every = Duration::from_secs(3600);
        let options = StoreOptions { disk, clock: self.clock.clone(), blob_life: LIFE, ship_every, ..threads };
        self.store = Some(Store::open(options)?);
        Ok(())
    }

    fn restart(&mut self) {
        if let Some(store) = self.store.take() {
            store.close();
        }
        let loss = if self.dice.below(2) == 0 { Loss::Process } else { Loss::Machine(self.dice.below(1 << 30)) };
        self.steps.push(format!("{loss:?}"));
        self.disk.restart(loss);
        self.open().unwrap();
    }

    /// One step. An error comes from the crash, or from a change that was too late.
    async fn step(&mut self) -> Result<(), CommitError> {
        let store = self.store.clone().ok_or(Error::Closed)?;
        let id = RepositoryId(1 + self.dice.below(REPOSITORIES));
        let number = self.dice.below(3) as u32;
        let now = self.clock.now();
        let step = self.dice.below(16);
        self.steps.push(format!("at {}: step {step} of {id:?} {number}", now.0));
        let commit = |changes, holds| Batch { at: now, holds, ..batch(vec![], changes) };
        match step {
            0..5 => {
                let bytes = format!("bytes {}", self.dice.below(5));
                let mut staged = store.stage(&mut job()).await?;
                staged.write(Bytes::from(bytes), &mut job()).await?;
                let kept = staged.keep(&mut job()).await?;
                // Some uploads are refused, and some clients disconnect before they are committed.
                if self.dice.below(5) > 0 {
                    let entry = Entry { changed: now, hashes: kept.hashes, ..entry("rack", number, State::Live) };
                    let batch = commit(vec![Change::Entry { repository: id, entry }], vec![kept.hold]);
                    store.commit(batch, &mut job()).await?;
                }
            }
            5..9 => {
                if let Some(entry) = store.entry(id, &format!("rack-{number}"), &mut job()).await? {
                    let reasons = [
                        Withdrawal::Retracted,
                        Withdrawal::Deleted,
                        Withdrawal::Pruned,
                        Withdrawal::Purged { why: "a secret".into() },
                    ];
                    let why = reasons[self.dice.below(4) as usize].clone();
                    if entry.state == State::Live || matches!(why, Withdrawal::Purged { .. }) {
                        let entry = entry.withdrawn(why, now);
                        let batch = commit(vec![Change::Entry { repository: id, entry }], vec![]);
                        store.commit(batch, &mut job()).await?;
                    }
                }
            }
            9 => {
                // A deletion is undone, possibly too late.
                let found = store.entry(id, &format!("rack-{number}"), &mut job()).await?;
                if let Some(entry) = found.filter(|entry| entry.state == State::Withdrawn) {
                    let change = Change::Entry { repository: id, entry: entry.restored(now) };
                    drop(store.commit(commit(vec![change], vec![]), &mut job()).await);
                }
            }
            10 => {
                let removed = self.dice.below(2) == 0;
                let Change::Repository { record, .. } = repository(id.0, "any", &[], false) else { unreachable!() };
                let record = crate::RepositoryRecord {
                    removed: removed.then_some(now),
                    name: format!("any-{}", id.0),
                    ..record
                };
                drop(store.commit(commit(vec![Change::Repository { id, record }], vec![]), &mut job()).await);
            }
            11..14 => drop(store.collect(&mut job()).await?),
            14 => drop(store.ship_now(&mut job()).await?),
            _ => {}
        }
        let passes = [0, 1, 5, 11, 30, 75, 420][self.dice.below(7) as usize];
        self.clock.set(Some(now.plus(Duration::from_millis(passes))));
        Ok(())
    }

    fn rows(&self) -> Vec<JournalRow> {
        let mut truth = Sqlite::reader(&Layout::new(self.folder.path()).truth()).unwrap();
        truth.journal(Seq(0), usize::MAX >> 1).unwrap()
    }

    fn blobs(&self) -> BTreeSet<Digest> {
        let mut found = BTreeSet::new();
        files(&self.disk, &Layout::new(self.folder.path()).blobs_by_digest(), &mut found);
        found
    }

    /// Every needed blob is on disk. With `exactly`, no other one is.
    fn assert_blobs(&self, exactly: bool) {
        let (needed, found) = (needed(&self.rows(), self.clock.now()), self.blobs());
        assert!(needed.is_subset(&found), "lost {:?}: {:#?}", needed.difference(&found), self.steps);
        assert!(!exactly || found.is_subset(&needed), "left {:?}: {:#?}", found.difference(&needed), self.steps);
    }
}

fn files(disk: &SimDisk, folder: &Path, found: &mut BTreeSet<Digest>) {
    for name in disk.list(folder).unwrap_or_default() {
        match name.parse() {
            Ok(digest) => drop(found.insert(digest)),
            Err(_) => files(disk, &folder.join(name), found),
        }
    }
}

/// The blobs that must exist at `now`, by the simplest reading of the rows: the blobs that an entry names, and the blobs that an entry named not long ago. A blob whose deletion is a row is needed again only after its next publication.
fn needed(rows: &[JournalRow], now: Millis) -> BTreeSet<Digest> {
    let removed: BTreeMap<RepositoryId, Option<Millis>> = rows
        .iter()
        .filter_map(|row| match &row.change {
            Change::Repository { id, record } => {
                Some((if id.0 == 0 { RepositoryId(row.seq.0) } else { *id }, record.removed))
            }
            _ => None,
        })
        .collect();
    let mut needed = BTreeSet::new();
    for (at, row) in rows.iter().enumerate() {
        let Change::Entry { repository: id, entry } = &row.change else { continue };
        let digest = entry.hashes.sha256;
        let later = || rows[at + 1..].iter();
        let collected =
            later().any(|row| matches!(&row.change, Change::Collected { blobs } if blobs.contains(&digest)));
        if entry.state == State::Withdrawn || collected {
            continue;
        }
        let ends = later().filter_map(|row| match &row.change {
            Change::Entry { repository, entry } if repository == id && entry.key == key_of(rows, at) => {
                Some((row.at, entry))
            }
            _ => None,
        });
        let mut ends = ends.collect::<Vec<_>>().into_iter();
        let purged = ends.clone().find(|(_, entry)| matches!(entry.withdrawal, Some(Withdrawal::Purged { .. })));
        let own = ends.next().map(|(at, after)| match &after.withdrawal {
            _ if after.state == State::Live && after.hashes.sha256 == digest => Millis(i64::MIN),
            Some(Withdrawal::Deleted) => at.plus(LIFE.undo),
            Some(Withdrawal::Pruned | Withdrawal::Purged { .. }) => at,
            _ => at.plus(LIFE.horizon),
        });
        let until = [own, purged.map(|(at, _)| at), removed.get(id).copied().flatten().map(|at| at.plus(LIFE.undo))];
        if until.into_iter().flatten().all(|until| until > now) {
            needed.insert(digest);
        }
    }
    needed
}

fn key_of(rows: &[JournalRow], at: usize) -> &str {
    match &rows[at].change {
        Change::Entry { entry, .. } => &entry.key,
        _ => "",
    }
}

async fn history(seed: u64) {
    let mut history = History::new(seed);
    history.open().unwrap();
    let store = history.store.clone().unwrap();
    for id in 1..=REPOSITORIES {
        let made = repository(0, &format!("any-{id}"), &[], false);
        store.commit(batch(vec![], vec![made]), &mut job()).await.unwrap();
    }
    drop(store);
    for _ in 0..4 {
        let until_crash = history.dice.below(60) as usize;
        history.disk.crash_at(until_crash);
        for _ in 0..12 {
            let done = history.step().await;
            if history.disk.crashed() {
                history.restart();
                break;
            }
            done.unwrap();
            history.assert_blobs(false);
        }
        history.disk.restart(Loss::Process);
        history.assert_blobs(false);
        if history.store.is_none() {
            history.open().unwrap();
        }
    }
    history.restart();
    let store = history.store.clone().unwrap();
    store.collect(&mut job()).await.unwrap();
    // Uses that end while the second round waits would be left for a third one, so the horizon passes before the first.
    history.clock.set(Some(history.clock.now().plus(LIFE.horizon)));
    store.collect(&mut job()).await.unwrap();
    history.clock.set(Some(history.clock.now().plus(LIFE.collect_after)));
    store.collect(&mut job()).await.unwrap();
    history.assert_blobs(true);
    let report = store.check(true, &mut |_| ()).unwrap();
    let strays = |problem: &crate::Problem| !matches!(problem, crate::Problem::Stray(_));
    assert_eq!(report.problems.into_iter().find(strays), None, "{:#?}", history.steps);
    store.close();
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a test that increases the number for `make torture`")]
async fn no_blob_that_is_needed_is_ever_gone_and_after_two_rounds_no_other_is_left() {
    let count = std::env::var("DAYLIGHT_HISTORIES").map_or(12, |count| count.parse().unwrap());
    for seed in 0..count {
        history(seed).await;
    }
}
