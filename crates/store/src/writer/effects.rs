//! What committed changes affect in this process: stamps, the journal's clock, and figures in memory. The same for changes of this
//! process and of others.

use crate::disk::space::Space;
use crate::error::Result;
use crate::journal::change::Change;
use crate::journal::clock::JournalClock;
use crate::journal::record::{RepositoryId, Seq};
use crate::store::holdings::Holdings;
use crate::truth::catalog::{Batch, Catalog, Conflict, JournalRow};
use crate::writer::first_seen_budget::FirstSeenBudget;
use crate::writer::group_membership::GroupMembership;
use crate::writer::revision::{Changing, Revisions, Unit};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use telemetry::{Millis, lock};

/// A change as it is in the journal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbered<'a> {
    seq: Seq,
    at: Millis,
    change: &'a Change,
}

impl<'a> Numbered<'a> {
    /// The changes of the batches that were not refused.
    pub(crate) fn of_batches(batches: &'a [Batch], answers: &[Result<Seq, Conflict>]) -> Vec<Self> {
        let made = batches.iter().zip(answers).filter_map(|(batch, answer)| Some((batch, answer.as_ref().ok()?)));
        let changes = made.flat_map(|(batch, last)| {
            let first = last.0 + 1 - batch.changes.len() as u64;
            (first..).zip(&batch.changes).map(move |(seq, change)| Self { seq: Seq(seq), at: batch.at, change })
        });
        changes.collect()
    }

    pub(crate) fn of_row(row: &'a JournalRow) -> Self {
        Self { seq: row.seq, at: row.at, change: &row.change }
    }
}

/// All that follows the journal in this process, except for its log.
pub(crate) struct Effects {
    pub(crate) membership: Arc<Mutex<GroupMembership>>,
    pub(crate) space: Arc<Space>,
    pub(crate) first_seen: Arc<FirstSeenBudget>,
    pub(crate) holdings: Arc<Holdings>,
    pub(crate) revisions: Arc<Revisions>,
    /// The number of the last change whose effects are done.
    pub(crate) last: Arc<AtomicU64>,
    pub(crate) clock: Arc<JournalClock>,
}

impl Effects {
    /// Sets the used bytes of each repository in its budget.
    pub(crate) fn update_first_seen_budget(&self, truth: &mut dyn Catalog) -> Result<()> {
        let bytes = truth.first_seen_bytes()?;
        self.first_seen.update(bytes, &lock(&self.membership).repositories());
        Ok(())
    }

    /// Lets no stamp of the changed units hold until the returned value is dropped.
    pub(crate) fn changing(&self, changes: &[Numbered<'_>]) -> Changing {
        let mut changing = self.revisions.changing();
        for Numbered { change, .. } in changes {
            // Only indexes of lines are compared with their units; in a tree, answers about all of it would be computed for nothing.
            let lined = matches!(change, Change::Entry { entry, .. } if entry.line.is_some());
            self.each_unit(change, |unit| {
                if lined || !matches!(unit, Unit::All(_)) {
                    changing.add(unit);
                }
            });
        }
        changing
    }

    /// The changes are committed and readable in `truth`. Raises the revisions that they affect, and brings the figures up to date.
    pub(crate) fn apply(&self, truth: &mut dyn Catalog, changes: &[Numbered<'_>], changing: Changing) -> Result<()> {
        let mut moment = None;
        for Numbered { seq, at, change } in changes {
            match change {
                Change::Redate { .. } => self.clock.believe_clock(*at),
                _ if moment == Some(*at) => {}
                _ => self.clock.advance(*at),
            }
            moment = Some(*at);
            self.last.fetch_max(seq.0, Ordering::AcqRel);
            self.raise(*seq, change);
        }
        let any = |is: fn(&Change) -> bool| changes.iter().any(|one| is(one.change));
        if any(|change| matches!(change, Change::Repository { .. })) {
            // The members of groups may have changed, so the revisions are raised for the groups before the change and after it.
            // If the repositories cannot be read, later changes could not raise the right groups: writing stops.
            *lock(&self.membership) = GroupMembership::new(self.space.synced(truth.repositories())?);
            changes.iter().for_each(|one| self.raise(one.seq, one.change));
        }
        drop(changing);
        if any(|change| matches!(change, Change::FirstSeen { .. } | Change::Repository { .. })) {
            // If this read fails, the next change repeats it.
            let _ = self.update_first_seen_budget(truth);
        }
        let entries = changes.iter().filter_map(|one| match one.change {
            Change::Entry { repository, .. } => Some(*repository),
            _ => None,
        });
        for id in entries.collect::<BTreeSet<_>>() {
            // If this read fails, the next change of the repository repeats it.
            let holding = truth.holding(id);
            self.holdings.set_published(holding.ok().map(|holding| (id, holding)));
        }
        Ok(())
    }

    /// Raises the revisions that a change affects.
    fn raise(&self, seq: Seq, change: &Change) {
        self.each_unit(change, |unit| self.revisions.raise(unit));
        match change {
            Change::Repository { id, .. } => {
                let id = if id.0 == 0 { RepositoryId(seq.0) } else { *id };
                let membership = lock(&self.membership);
                membership.with_groups(id).into_iter().for_each(|id| self.revisions.raise(Unit::All(id)));
                self.revisions.raise_settings(membership.connected(id));
            }
            Change::Token { .. } => self.revisions.raise(Unit::Tokens),
            Change::Setting { .. } => self.revisions.raise_settings(lock(&self.membership).repositories()),
            // The rows that follow raise what changes. Dates of upstreams' versions in memory change with the next start.
            Change::Redate { .. } => {}
            Change::Entry { .. } | Change::Unit { .. } | Change::FirstSeen { .. } => {}
            // No answer changes: no path leads to these bytes.
            Change::Collected { .. } => {}
        }
    }

    /// Calls `each` with the units of repositories and groups whose content a change alters.
    fn each_unit(&self, change: &Change, mut each: impl FnMut(Unit<'_>)) {
        match change {
            Change::Entry { repository, entry } => {
                for id in lock(&self.membership).with_groups(*repository) {
                    each(Unit::Of(id, &entry.unit));
                    each(Unit::All(id));
                }
            }
            Change::Unit { repository, unit, .. } | Change::FirstSeen { repository, unit, .. } => {
                for id in lock(&self.membership).with_groups(*repository) {
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
