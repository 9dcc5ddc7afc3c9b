//! What the writer does in its turn: one transaction, then the revisions.
//!
//! Order is everything here: blobs were synced before a batch came; COMMIT; revisions; only then is anyone told.

use crate::disk::{Disk, Failpoint};
use crate::first_seen::Budget;
use crate::holders::Holders;
use crate::pool::lock;
use crate::space::Space;
use crate::{Batch, Catalog, Change, Conflict, Error, RepositoryId, Revisions, Seq, Sqlite, Unit};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The one place that writes the truth.
pub(crate) struct Desk {
    truth: Sqlite,
    holders: Arc<Mutex<Holders>>,
    disk: Arc<dyn Disk>,
    space: Arc<Space>,
    first_seen: Arc<Budget>,
    revisions: Arc<Revisions>,
    /// The number of the last change that is committed.
    last: Arc<AtomicU64>,
}

impl Desk {
    pub(crate) fn new(
        mut truth: Sqlite,
        disk: Arc<dyn Disk>,
        space: Arc<Space>,
        first_seen: Arc<Budget>,
        revisions: Arc<Revisions>,
        last: Arc<AtomicU64>,
    ) -> Result<Self, Error> {
        let holders = Arc::new(Mutex::new(Holders::new(truth.repositories()?)));
        let mut desk = Self { truth, holders, disk, space, first_seen, revisions, last };
        desk.count_first_seen()?;
        Ok(desk)
    }

    /// Tells the budgets what repositories use of them.
    fn count_first_seen(&mut self) -> Result<(), Error> {
        let bytes = self.truth.first_seen_bytes()?;
        self.first_seen.update(bytes, &lock(&self.holders).living());
        Ok(())
    }

    /// Which groups hold a repository, kept up to date here.
    pub(crate) fn holders(&self) -> Arc<Mutex<Holders>> {
        self.holders.clone()
    }

    /// Gives the connection back.
    pub(crate) fn leave(self) -> Sqlite {
        self.truth
    }

    /// Measures the disk, and says of a batch whether it may be written. Settings and tokens may be changed on a nearly
    /// full disk: perhaps that is what makes room.
    pub(crate) fn admission(&self) -> impl Fn(&Batch) -> Result<(), Error> + use<> {
        let enough = self.space.check();
        move |batch| match &enough {
            Err(Error::DiskNearlyFull { .. }) if !writes_content(batch) => Ok(()),
            enough => enough.clone(),
        }
    }

    /// Makes each batch or refuses it, in one transaction, and voids the stamps that the changes touch.
    pub(crate) fn commit(&mut self, batches: &[Batch]) -> Result<Vec<Result<Seq, Conflict>>, Error> {
        let answers = self.truth.begin(batches)?;
        if let Err(error) = self.point(Failpoint::BeforeCommit) {
            self.truth.undo();
            return Err(error);
        }
        // A failed COMMIT leaves it open whether the changes last: like after a failed sync, a restart must look.
        match self.truth.finish() {
            Err(error) if error.is_disk_full() => return self.space.wrote(Err(error)),
            finished => self.space.wrote(self.space.synced(finished))?,
        }
        self.point(Failpoint::AfterCommit)?;
        let made = || batches.iter().zip(&answers).filter_map(|(batch, answer)| Some((batch, answer.as_ref().ok()?)));
        for (batch, last) in made() {
            self.last.fetch_max(last.0, Ordering::AcqRel);
            self.raise(batch, *last);
        }
        if made().any(|(batch, _)| batch.changes.iter().any(|change| matches!(change, Change::Repository { .. }))) {
            // Groups may hold others from now on: what changed is raised for the old holders and for the new ones.
            // Who cannot read them knows no longer whose pages a change makes old.
            *lock(&self.holders) = Holders::new(self.space.synced(self.truth.repositories())?);
            made().for_each(|(batch, last)| self.raise(batch, *last));
        }
        let counts = |change: &Change| matches!(change, Change::FirstSeen { .. } | Change::Repository { .. });
        if made().any(|(batch, _)| batch.changes.iter().any(counts)) {
            // What could not be read is counted with the next change.
            let _ = self.count_first_seen();
        }
        self.point(Failpoint::BeforeAcknowledgement)?;
        Ok(answers)
    }

    fn raise(&self, batch: &Batch, last: Seq) {
        let first = last.0 + 1 - batch.changes.len() as u64;
        let holders = lock(&self.holders);
        for (number, change) in (first..).zip(&batch.changes) {
            match change {
                Change::Entry { repository, entry } => {
                    for holder in holders.of(*repository) {
                        self.revisions.raise(Unit::Of(holder, &entry.unit));
                        self.revisions.raise(Unit::All(holder));
                    }
                }
                Change::Unit { repository, unit, .. } | Change::FirstSeen { repository, unit, .. } => {
                    for holder in holders.of(*repository) {
                        self.revisions.raise(Unit::Of(holder, unit));
                    }
                }
                Change::Repository { id, .. } => {
                    let id = if id.0 == 0 { RepositoryId(number) } else { *id };
                    holders.of(id).into_iter().for_each(|holder| self.revisions.raise(Unit::All(holder)));
                    self.revisions.raise(Unit::Settings);
                }
                Change::Token { .. } => self.revisions.raise(Unit::Tokens),
                Change::Setting { .. } => self.revisions.raise(Unit::Settings),
            }
        }
    }

    fn point(&self, point: Failpoint) -> Result<(), Error> {
        self.disk.point(point).map_err(Error::io("commit to", Path::new("truth.sqlite")))
    }
}

/// Whether a batch writes more than settings and tokens: the last room on the disk is for those, so that a token can always be revoked.
fn writes_content(batch: &Batch) -> bool {
    let small =
        |change: &Change| matches!(change, Change::Repository { .. } | Change::Token { .. } | Change::Setting { .. });
    !batch.changes.iter().all(small)
}
