//! Commits batches for the writer's thread: one transaction, then the revisions, then the log of recent rows.
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
use crate::journal::record::{RepositoryId, Seq};
use crate::store::holdings::Holdings;
use crate::truth::catalog::{Batch, Catalog, Conflict};
use crate::writer::first_seen_budget::FirstSeenBudget;
use crate::writer::group_membership::GroupMembership;
use crate::writer::revision::{Changing, Revisions, Unit};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use telemetry::lock;

/// The only code that writes to the truth database.
pub(crate) struct Committer {
    truth: Box<dyn Catalog>,
    membership: Arc<Mutex<GroupMembership>>,
    space: Arc<Space>,
    first_seen: Arc<FirstSeenBudget>,
    holdings: Arc<Holdings>,
    revisions: Arc<Revisions>,
    recent: Arc<RecentRows>,
    /// The number of the last committed change.
    last: Arc<AtomicU64>,
    clock: Arc<JournalClock>,
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
        let mut committer = Self { truth, membership, space, first_seen, holdings, revisions, recent, last, clock };
        committer.update_first_seen_budget()?;
        Ok(committer)
    }

    /// Sets the used bytes of each repository in its budget.
    fn update_first_seen_budget(&mut self) -> Result<()> {
        let bytes = self.truth.first_seen_bytes()?;
        self.first_seen.update(bytes, &lock(&self.membership).repositories());
        Ok(())
    }

    /// The groups that contain a repository. This committer keeps the map up to date.
    pub(crate) fn membership(&self) -> Arc<Mutex<GroupMembership>> {
        self.membership.clone()
    }

    /// Keeps these figures up to date, too.
    pub(crate) fn count_in(&mut self, holdings: Arc<Holdings>) -> Result<()> {
        holdings.set_published(self.truth.holdings()?);
        self.holdings = holdings;
        Ok(())
    }

    /// Returns the catalog.
    pub(crate) fn into_catalog(self) -> Box<dyn Catalog> {
        self.truth
    }

    /// An error while the clock cannot be believed.
    pub(crate) fn check_clock(&self) -> Result<()> {
        self.clock.check()
    }

    /// The uses of a blob, with every change so far.
    pub(crate) fn blob_uses(&mut self, digest: &Digest) -> Result<Vec<BlobUse>> {
        Ok(self.truth.blob_uses(digest, digest)?.into_iter().map(|(_, one)| one).collect())
    }

    /// Measures the disk, and returns a check of whether a batch may be written. Settings and tokens may be changed on a
    /// nearly full disk, because such a change may be what frees space.
    pub(crate) fn admission(&self) -> impl Fn(&Batch) -> Result<()> + use<> {
        let (space, clock) = (self.space.check(), self.clock.check());
        move |batch| match &space {
            _ if clock.is_err() && !decides_about_clock(batch) => clock.clone(),
            Err(Error::DiskNearlyFull { .. }) if !writes_content(batch) => Ok(()),
            space => space.clone(),
        }
    }

    /// Applies or refuses each batch, all in one transaction, and invalidates the stamps that the changes affect.
    pub(crate) fn commit(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>> {
        let before = Seq(self.last.load(Ordering::Acquire));
        let mut written = self.transact(batches, before);
        let full = written.as_ref().is_err_and(Error::is_disk_full);
        if full && !batches.iter().any(writes_content) && self.space.use_reserve() {
            written = self.transact(batches, before);
        }
        let Written { answers, rows, changing } = self.space.wrote(written)?;
        self.failpoint(Failpoint::AfterCommit)?;
        let made = || batches.iter().zip(&answers).filter_map(|(batch, answer)| Some((batch, answer.as_ref().ok()?)));
        for (batch, last) in made() {
            if !batch.changes.is_empty() {
                match redates(batch) {
                    true => self.clock.believe_clock(batch.at),
                    false => self.clock.advance(batch.at),
                }
            }
            self.last.fetch_max(last.0, Ordering::AcqRel);
            self.raise(batch, *last);
        }
        if made().any(|(batch, _)| batch.changes.iter().any(|change| matches!(change, Change::Repository { .. }))) {
            // The members of groups may have changed, so the revisions are raised for the groups before the change and after it.
            // If the repositories cannot be read, later changes could not raise the right groups: writing stops.
            *lock(&self.membership) = GroupMembership::new(self.space.synced(self.truth.repositories())?);
            made().for_each(|(batch, last)| self.raise(batch, *last));
        }
        drop(changing);
        let counts = |change: &Change| matches!(change, Change::FirstSeen { .. } | Change::Repository { .. });
        if made().any(|(batch, _)| batch.changes.iter().any(counts)) {
            // If this read fails, the next change repeats it.
            let _ = self.update_first_seen_budget();
        }
        let entries = made().flat_map(|(batch, _)| &batch.changes).filter_map(|change| match change {
            Change::Entry { repository, .. } => Some(*repository),
            _ => None,
        });
        for id in entries.collect::<BTreeSet<_>>() {
            // If this read fails, the next change of the repository repeats it.
            let holding = self.truth.holding(id);
            self.holdings.set_published(holding.ok().map(|holding| (id, holding)));
        }
        self.recent.append(&rows)?;
        self.failpoint(Failpoint::BeforeAcknowledgement)?;
        Ok(answers)
    }

    /// Commits the changes, or returns an error. If the disk is full, nothing is changed. `before`: the last change before them.
    fn transact(&mut self, batches: &[Batch], before: Seq) -> Result<Written> {
        let answers = self.truth.begin(batches)?;
        // Read before COMMIT: if the rows cannot be read, the transaction is rolled back.
        let rows = self.truth.journal_text(before, usize::MAX, usize::MAX);
        let rows = match self.failpoint(Failpoint::BeforeCommit).and(rows) {
            Ok(rows) => rows,
            Err(error) => {
                self.truth.rollback();
                return Err(error);
            }
        };
        let mut changing = self.revisions.changing();
        for batch in batches {
            // Only indexes of lines are compared with their units; in a tree, answers about all of it would be computed for nothing.
            let lined = |change: &Change| matches!(change, Change::Entry { entry, .. } if entry.line.is_some());
            let lined = batch.changes.iter().any(lined);
            self.each_unit(batch, |unit| {
                if lined || !matches!(unit, Unit::All(_)) {
                    changing.add(unit);
                }
            });
        }
        // After a failed COMMIT it is unknown whether the changes are durable. As after a failed sync, only a restart shows which
        // are.
        match self.truth.commit() {
            Err(error) if error.is_disk_full() => Err(error),
            committed => self.space.synced(committed).map(|()| Written { answers, rows, changing }),
        }
    }

    /// Raises the revisions that the changes of a batch affect.
    fn raise(&self, batch: &Batch, last: Seq) {
        self.each_unit(batch, |unit| self.revisions.raise(unit));
        let first = last.0 + 1 - batch.changes.len() as u64;
        for (number, change) in (first..).zip(&batch.changes) {
            match change {
                Change::Repository { id, .. } => {
                    let id = if id.0 == 0 { RepositoryId(number) } else { *id };
                    let membership = lock(&self.membership);
                    membership.with_groups(id).into_iter().for_each(|id| self.revisions.raise(Unit::All(id)));
                    self.raise_settings(membership.connected(id));
                }
                Change::Token { .. } => self.revisions.raise(Unit::Tokens),
                Change::Setting { .. } => self.raise_settings(lock(&self.membership).repositories()),
                // The rows that follow raise what changes. Dates of upstreams' versions in memory change with the next start.
                Change::Redate { .. } => {}
                Change::Entry { .. } | Change::Unit { .. } | Change::FirstSeen { .. } => {}
                // No answer changes: no path leads to these bytes.
                Change::Collected { .. } => {}
            }
        }
    }

    /// Raises the settings of these repositories. First those of all: a reader that sees one of them raised sees that, too, and does
    /// not take the table of repositories for a present one.
    fn raise_settings(&self, of: impl IntoIterator<Item = RepositoryId>) {
        self.revisions.raise(Unit::Settings);
        of.into_iter().for_each(|id| self.revisions.raise(Unit::SettingsOf(id)));
    }

    /// Calls `each` with the units of repositories and groups whose content a batch changes.
    fn each_unit(&self, batch: &Batch, mut each: impl FnMut(Unit<'_>)) {
        let membership = lock(&self.membership);
        for change in &batch.changes {
            match change {
                Change::Entry { repository, entry } => {
                    for id in membership.with_groups(*repository) {
                        each(Unit::Of(id, &entry.unit));
                        each(Unit::All(id));
                    }
                }
                Change::Unit { repository, unit, .. } | Change::FirstSeen { repository, unit, .. } => {
                    for id in membership.with_groups(*repository) {
                        each(Unit::Of(id, unit));
                    }
                }
                Change::Repository { .. }
                | Change::Token { .. }
                | Change::Setting { .. }
                | Change::Redate { .. }
                | Change::Collected { .. } => {}
            }
        }
    }

    fn failpoint(&self, point: Failpoint) -> Result<()> {
        self.space.point(point).map_err(Error::io("commit to", Path::new("truth.sqlite")))
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
