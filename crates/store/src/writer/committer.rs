//! Commits batches for the writer's thread: one transaction, then the revisions, then the log of recent rows. Before it decides them,
//! it takes in what other processes have written to the same database.
//!
//! The order ensures durability: blobs were synced before the batch arrived, then COMMIT, then the revisions, then the log, then
//! the reply. Readers see the rows at a moment during COMMIT, which may go on for long after it (a checkpoint writes and syncs), so
//! no stamp of what changes holds from before COMMIT until the revisions are raised.

use crate::blobs::digest::Digest;
use crate::blobs::life::BlobUse;
use crate::disk::Failpoint;
use crate::disk::space::Space;
use crate::error::{Error, Result};
use crate::journal::change::Change;
use crate::journal::clock::JournalClock;
use crate::journal::entry::State;
use crate::journal::recent_rows::RecentRows;
use crate::journal::record::Seq;
use crate::store::holdings::Holdings;
use crate::truth::catalog::{Batch, Catalog, Committed, Conflict, JournalRow};
use crate::writer::effects::{Effects, Numbered};
use crate::writer::first_seen_budget::FirstSeenBudget;
use crate::writer::followed::Followed;
use crate::writer::group_membership::GroupMembership;
use crate::writer::revision::{Changing, Revisions};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use telemetry::BoundName;

/// How often batches are decided again because other processes were quicker. Then they are refused.
const ATTEMPTS: usize = 64;
/// The most rows that are put back at a time.
const PUT_BACK_ROWS: usize = 256;

/// The only code that writes to the truth database.
pub(crate) struct Committer {
    truth: Box<dyn Catalog>,
    effects: Effects,
    recent: Arc<RecentRows>,
    followed: Arc<Followed>,
}

/// The results of one transaction.
struct Written {
    /// For each batch the number of its last change, or why it was refused.
    answers: Vec<Result<Seq, Conflict>>,
    /// The new rows, as they are stored.
    rows: Vec<(Seq, String)>,
    /// Dropped once the revisions are raised.
    changing: Changing,
}

impl Committer {
    pub(crate) fn new(
        mut truth: Box<dyn Catalog>,
        space: Arc<Space>,
        first_seen: Arc<FirstSeenBudget>,
        revisions: Arc<Revisions>,
        recent: Arc<RecentRows>,
        last: Arc<AtomicU64>,
        clock: Arc<JournalClock>,
    ) -> Result<Self> {
        let membership = Arc::new(Mutex::new(GroupMembership::new(truth.repositories()?)));
        let holdings = Arc::default();
        let effects = Effects { membership, space, first_seen, holdings, revisions, last, clock };
        effects.update_first_seen_budget(&mut *truth)?;
        Ok(Self { truth, effects, recent, followed: Arc::default() })
    }

    /// The groups that contain a repository. This committer keeps the map up to date.
    pub(crate) fn membership(&self) -> Arc<Mutex<GroupMembership>> {
        self.effects.membership.clone()
    }

    /// Is told of rows of other processes, after all their effects in the store.
    pub(crate) fn followed(&self) -> Arc<Followed> {
        self.followed.clone()
    }

    /// Keeps these figures up to date, too.
    pub(crate) fn count_in(&mut self, holdings: Arc<Holdings>) -> Result<()> {
        holdings.set_published(self.truth.holdings()?);
        self.effects.holdings = holdings;
        Ok(())
    }

    /// Returns the catalog.
    pub(crate) fn into_catalog(self) -> Box<dyn Catalog> {
        self.truth
    }

    /// An error while the clock cannot be believed.
    pub(crate) fn check_clock(&self) -> Result<()> {
        self.effects.clock.check()
    }

    /// The number of the last change that this process knows.
    pub(crate) fn last(&self) -> Seq {
        Seq(self.effects.last.load(Ordering::Acquire))
    }

    /// The uses of a blob, with every change so far.
    pub(crate) fn blob_uses(&mut self, digest: &Digest) -> Result<Vec<BlobUse>> {
        Ok(self.truth.blob_uses(digest, digest)?.into_iter().map(|(_, one)| one).collect())
    }

    /// The generations of these blobs, with every change so far.
    pub(crate) fn generations(&mut self, of: impl Iterator<Item = Digest>) -> Result<Vec<(Digest, Seq)>> {
        of.map(|digest| Ok((digest, self.truth.generation(&digest)?))).collect()
    }

    /// Measures the disk, and returns a check of whether a batch may be written. Settings and tokens may be changed on a
    /// nearly full disk, because such a change may be what frees space.
    pub(crate) fn admission(&self) -> impl Fn(&Batch) -> Result<()> + use<> {
        let (space, clock) = (self.effects.space.check(), self.effects.clock.check());
        move |batch| match &space {
            _ if clock.is_err() && !decides_about_clock(batch) => clock.clone(),
            Err(Error::DiskNearlyFull { .. }) if !writes_content(batch) => Ok(()),
            space => space.clone(),
        }
    }

    /// Applies or refuses each batch, all in one transaction, and invalidates the stamps that the changes affect.
    pub(crate) fn commit(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>> {
        let mut written = self.transact(batches);
        let full = written.as_ref().is_err_and(Error::is_disk_full);
        if full && !batches.iter().any(writes_content) && self.effects.space.use_reserve() {
            written = self.transact(batches);
        }
        let Written { answers, rows, changing } = self.effects.space.wrote(written)?;
        self.failpoint(Failpoint::AfterCommit)?;
        self.effects.apply(&mut *self.truth, &Numbered::of_batches(batches, &answers), changing)?;
        self.truth.took_effect(self.last());
        self.recent.append(&rows)?;
        self.failpoint(Failpoint::BeforeAcknowledgement)?;
        Ok(answers)
    }

    /// Commits the changes, or returns an error. If the disk is full, nothing is changed.
    fn transact(&mut self, batches: &[Batch]) -> Result<Written> {
        for _ in 0..ATTEMPTS {
            if let Some(written) = self.attempt(batches)? {
                return Ok(written);
            }
        }
        Err(Error::Busy(BoundName::TruthWriter))
    }

    /// Decides the batches and commits them. `None`: other processes were quicker. Their changes are taken in now, and the batches have
    /// to be decided again.
    fn attempt(&mut self, batches: &[Batch]) -> Result<Option<Written>> {
        let before = self.last();
        let answers = self.truth.begin(batches)?;
        let changes = Numbered::of_batches(batches, &answers);
        // Read before COMMIT: if the rows cannot be read, the transaction is rolled back. One more row is one of another process.
        let rows = self.truth.journal_text(before, changes.len() + 1, usize::MAX);
        let rows = match self.failpoint(Failpoint::BeforeCommit).and(rows) {
            Ok(rows) => rows,
            Err(error) => {
                self.truth.rollback();
                return Err(error);
            }
        };
        if rows.len() > changes.len() {
            self.truth.rollback();
            return self.follow().map(|()| None);
        }
        let changing = self.effects.changing(&changes);
        match self.truth.commit() {
            Ok(Committed::Made) => Ok(Some(Written { answers, rows, changing })),
            Ok(Committed::Behind(rows)) => self.follow_rows(&rows).map(|()| None),
            Ok(Committed::Failed(error)) => Err(error),
            // It is unknown whether the changes are durable. As after a failed sync, only a restart shows which are.
            Err(error) => self.effects.space.synced(Err(error)),
        }
    }

    /// Takes in all changes that other processes have made by now.
    pub(crate) fn follow(&mut self) -> Result<()> {
        let mut more = true;
        while more {
            let last = self.last();
            let others = self.truth.others(last)?;
            more = others.more;
            if !others.rows.is_empty() {
                self.follow_rows(&others.rows)?;
            }
        }
        Ok(())
    }

    /// Adds rows that were lost, as far as they follow the last one.
    pub(crate) fn put_back(&mut self, rows: &[JournalRow]) -> Result<()> {
        self.follow()?;
        for page in rows.chunks(PUT_BACK_ROWS) {
            if page.first().is_some_and(|first| first.seq.0 == self.last().0 + 1) {
                self.add(page, |truth| truth.put_back(page))?;
            }
        }
        Ok(())
    }

    /// Takes in changes of other processes, which follow the last known one.
    fn follow_rows(&mut self, rows: &[JournalRow]) -> Result<()> {
        self.add(rows, |truth| truth.take_in(rows).map(|()| true))
    }

    /// Adds rows of other processes: they become readable, with the same effects as changes of this process. `take`: whether the catalog took
    /// them.
    fn add(&mut self, rows: &[JournalRow], take: impl FnOnce(&mut dyn Catalog) -> Result<bool>) -> Result<()> {
        let before = self.last();
        let changes: Vec<_> = rows.iter().map(Numbered::of_row).collect();
        let changing = self.effects.changing(&changes);
        if !take(&mut *self.truth)? {
            return Ok(());
        }
        self.effects.apply(&mut *self.truth, &changes, changing)?;
        self.followed.tell(rows);
        self.truth.took_effect(self.last());
        self.recent.append(&self.truth.journal_text(before, rows.len(), usize::MAX)?)
    }

    /// Replaces a note ([`Transactions::change_note`](crate::Transactions::change_note)).
    pub(crate) fn change_note(
        &mut self,
        name: &str,
        change: &mut dyn FnMut(Option<&str>) -> Option<String>,
    ) -> Result<()> {
        let space = &self.effects.space;
        space.check_sound()?;
        let mut changed = self.truth.change_note(name, change);
        if changed.as_ref().is_err_and(Error::is_disk_full) && space.use_reserve() {
            changed = self.truth.change_note(name, change);
        }
        space.wrote(changed)
    }

    fn failpoint(&self, point: Failpoint) -> Result<()> {
        self.effects.space.point(point).map_err(Error::io("commit to", Path::new("truth.sqlite")))
    }
}

/// The setting that says by how many milliseconds the clock of the machine is corrected.
pub(crate) const CLOCK_CORRECTION: &str = "clock_correction_ms";

fn redates(batch: &Batch) -> bool {
    batch.changes.iter().any(|change| matches!(change, Change::Redate { .. }))
}

/// Whether a batch is the decision which of the clock and the journal is right.
fn decides_about_clock(batch: &Batch) -> bool {
    redates(batch)
        || batch.changes.iter().any(|change| matches!(change, Change::Setting { key, .. } if key == CLOCK_CORRECTION))
}

/// Whether a batch publishes something. The last free space is reserved for other changes, so that a token can always be revoked,
/// and so that withdrawals can free space.
fn writes_content(batch: &Batch) -> bool {
    let withdrawn = |change: &Change| matches!(change, Change::Entry { entry, .. } if entry.state == State::Withdrawn);
    let withdraws = batch.changes.iter().any(withdrawn);
    let small = |change: &Change| match change {
        Change::Repository { .. } | Change::Token { .. } | Change::Setting { .. } | Change::Collected { .. } => true,
        Change::Entry { entry, .. } => entry.state == State::Withdrawn,
        // A withdrawal also changes the facts of the folder that lists the entry.
        Change::Unit { .. } => withdraws,
        Change::Redate { .. } => true,
        Change::FirstSeen { .. } => false,
    };
    !batch.changes.iter().all(small)
}
