//! The known state of an upstream's `/versions`: our log of its lines, and the versions that follow from them.

use crate::error::{Error, Result};
use crate::gem::upstream::ahead::Ahead;
use crate::gem::upstream::arrivals::Arrivals;
use crate::gem::upstream::asking::Asking;
use crate::gem::upstream::doubts::Doubts;
use crate::gem::upstream::listing::{Dates, Lines, Listed, Listing};
use crate::index::document::Index;
use crate::index::rope::log::Log;
use crate::upstream::failure::Failure;
use crate::upstream::first_seen::followed_rows::FollowedRows;
use crate::upstream::flight_use::FlightUse;
use bytes::Bytes;
use format::gem::upstream::{Kept, Refusal};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use store::{Origin, Seq};
use telemetry::{Bound, Millis, Reason, lock};
use tokio::sync::Mutex as Turn;

/// Number of recent rows whose names are remembered. An index that is older is made from all names.
const CHANGES_MAX: usize = 10_000;

/// Maximum number of transfers of the whole file within an hour.
const WHOLES_MAX: usize = 6;
const HOUR_MS: i64 = 3_600_000;

/// A file that would remove many names is accepted after the upstream has served it for this number of milliseconds.
const HELD_BACK_MS: i64 = 3_600_000;

/// The index of one remote repository. It survives changes of the settings.
#[derive(Debug, Default)]
pub(crate) struct FollowedIndex {
    /// Held by the job that calls the upstream.
    pub(crate) looking: Arc<Turn<()>>,
    known: RwLock<Option<Known>>,
    /// The dates of an upstream, kept while its other state is discarded and read again.
    dates: Mutex<Option<(Origin, HashMap<String, Dates>)>>,
    /// The first file while it arrives.
    pub(crate) arrivals: Arrivals,
    /// When a client last requested anything that needs the index; 0: not since the start.
    asked: AtomicI64,
    /// When the last look without a client was due; 0: not since the start.
    idle: AtomicI64,
    /// When the whole file was transferred, for the transfers of the last hour.
    wholes: Mutex<VecDeque<Millis>>,
    /// The calls of the look in progress, or of the last one.
    look: Mutex<Option<FlightUse>>,
    /// The number of failed looks, and the last failure.
    failed: RwLock<(u64, Option<Failure>)>,
    /// Held by the job that saves the encoded log, with the number of pieces that it saved last.
    pub(crate) saving: Arc<Turn<usize>>,
    /// Whether the state of the upstream's file has to be saved, because the journal does not contain it.
    pub(crate) unsaved: AtomicBool,
    /// The `/info` files that do not match the index.
    pub(crate) doubts: Doubts,
    /// The turns to request one of them again.
    pub(crate) asking: Asking,
    /// The `/info` files that are fetched before a client requests them.
    pub(crate) ahead: Ahead,
    /// The lines that other nodes saw and that are not added yet.
    pub(crate) followed_rows: FollowedRows,
}

/// The known state.
#[derive(Debug)]
pub(crate) struct Known {
    /// The upstream. A change of the URL changes it.
    pub(crate) origin: Origin,
    pub(crate) listing: Listing,
    pub(crate) log: Log,
    /// The log as clients get it.
    pub(crate) index: Index,
    /// The last row of the journal that it includes.
    pub(crate) last: Seq,
    pub(crate) file: UpstreamFile,
    /// When the upstream was last called, and when it last confirmed the index.
    pub(crate) tried: Millis,
    pub(crate) checked: Millis,
    /// When it was read back from the journal, which does not have the checks that found no change.
    pub(crate) read_back: Millis,
    /// Why later calls failed.
    pub(crate) failed: Option<Reason>,
    /// A file that lacks many names, and since when the upstream has served it.
    pub(crate) held_back: Option<HeldBack>,
    /// By gem: the MD5 in the upstream's file that is not that of the gem's `/info`.
    wrong: HashMap<String, String>,
    /// The names in the rows after `changes_after`, for indexes that are made from this one.
    changes: VecDeque<(Seq, Vec<String>)>,
    changes_after: Seq,
    /// Its share of the memory bound.
    room: Room,
}

/// A share of a memory bound. Dropping it returns the share.
#[derive(Debug)]
struct Room {
    bound: Arc<Bound>,
    taken: u64,
}

impl Room {
    fn new(bound: &Arc<Bound>) -> Self {
        bound.cache().enter();
        Self { bound: bound.clone(), taken: 0 }
    }

    /// Sets the size of the share. A part that does not fit is counted as turned away: lines are refused if there is no
    /// memory ([`Follow::append`]).
    ///
    /// [`Follow::append`]: crate::gem::upstream::follow::Follow::append
    fn take(&mut self, bytes: u64) {
        if bytes <= self.taken {
            self.bound.give(self.taken - bytes);
        } else if self.bound.take(bytes - self.taken).is_err() {
            return;
        }
        self.taken = bytes;
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.bound.cache().leave();
        self.bound.give(self.taken);
    }
}

/// The known state of the upstream's own file, whose lines our log has.
#[derive(Debug, Clone, Default)]
pub(crate) struct UpstreamFile {
    /// The digest state that verifies a continuation; `None`: only the whole file can be verified.
    pub(crate) kept: Option<Kept>,
    pub(crate) etag: Option<String>,
    /// Whether its ETags look like MD5s and are not.
    pub(crate) opaque_etags: bool,
    /// Whether it ignores `Range`.
    pub(crate) ignores_range: bool,
    /// Whether the upstream has another file whose changes the overlap did not show.
    pub(crate) diverged: bool,
    /// The names whose last line has no MD5 yet and is missing from our log.
    pub(crate) held: BTreeSet<String>,
}

/// A file of the upstream that is not accepted yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeldBack {
    pub(crate) since: Millis,
    /// The number of names that it would remove, and the number that would remain.
    pub(crate) names: usize,
    pub(crate) names_then: usize,
    /// Whether an operator accepted it.
    pub(crate) accepted: bool,
}

impl HeldBack {
    /// A file without this number of names, which may follow another one that was held back. If it lacks far more
    /// names, the waiting time restarts.
    pub(crate) fn again(held: Option<Self>, names: usize, now: Millis) -> Self {
        let same = held.filter(|held| names <= held.names_then.saturating_mul(2));
        let (since, names_then) = same.map_or((now, names), |held| (held.since, held.names_then));
        Self { since, names, names_then, accepted: false }
    }

    /// Whether it may be accepted now, so that the whole file is requested.
    pub(crate) fn is_due(&self, now: Millis) -> bool {
        self.accepted || now.0 - self.since.0 >= HELD_BACK_MS
    }

    /// Whether a file without this number of names is accepted now. An operator's acceptance covers a file that lacks
    /// as many names or fewer.
    pub(crate) fn covers(&self, names: usize, now: Millis) -> bool {
        let waited = now.0 - self.since.0 >= HELD_BACK_MS && names <= self.names_then.saturating_mul(2);
        waited || self.accepted && names <= self.names
    }
}

impl Known {
    /// An empty state, to which the rows of the journal are added.
    pub(crate) fn new(origin: Origin, bound: &Arc<Bound>) -> Result<Self> {
        let mut log = Log::default();
        let index = log.index()?;
        let never = Millis(i64::MIN);
        Ok(Self {
            origin,
            listing: Listing::default(),
            log,
            index,
            last: Seq(0),
            file: UpstreamFile::default(),
            tried: never,
            checked: never,
            read_back: never,
            failed: None,
            held_back: None,
            wrong: HashMap::new(),
            changes: VecDeque::new(),
            changes_after: Seq(0),
            room: Room::new(bound),
        })
    }

    /// The lines as clients get them. A clone shares the pieces.
    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    /// Adds lines that were first seen at `at`; `first`: they belong to the first file. Call [`Known::settle`]
    /// afterwards.
    pub(crate) fn add(&mut self, lines: Bytes, at: Millis, of: Lines, first: bool) -> Result<()> {
        self.log.share(lines.clone())?;
        self.listing.add(lines, at, of, first).map_err(|refusal: Refusal| Error::Unsupported(refusal.to_string()))
    }

    /// Marks the present MD5s of these gems as wrong, because correcting lines follow; or as right, if the lines repeat
    /// them.
    pub(crate) fn corrects(&mut self, lines: &str) {
        for line in lines.lines() {
            let (name, md5) = (line.split(' ').next().unwrap_or_default(), line.rsplit(' ').next().unwrap_or_default());
            if self.is_wrong(name, md5) {
                self.wrong.remove(name);
            } else if let Some(said) = self.listing.log().said(name) {
                self.wrong.insert(name.to_owned(), said.md5);
            }
        }
    }

    /// Removes these marks, because the upstream changed the lines of these gems.
    pub(crate) fn forgives(&mut self, lines: &str) {
        if !self.wrong.is_empty() {
            lines.lines().filter_map(|line| line.split(' ').next()).for_each(|name| drop(self.wrong.remove(name)));
        }
    }

    /// Whether our log has a corrected MD5 for this gem.
    pub(crate) fn is_corrected(&self, name: &str) -> bool {
        self.wrong.contains_key(name)
    }

    /// Whether this MD5 of a gem in the upstream's file is known not to be that of its `/info`.
    pub(crate) fn is_wrong(&self, name: &str, md5: &str) -> bool {
        self.wrong.get(name).is_some_and(|wrong| wrong == md5)
    }

    /// Finishes the additions up to this row. `changed`: the names in them; `None`: unknown.
    pub(crate) fn settle(&mut self, last: Seq, changed: Option<Vec<String>>) -> Result<()> {
        (self.index, self.last) = (self.log.index()?, last);
        self.room.take(self.log.weight() + self.listing.weight());
        match changed {
            Some(names) => self.changes.push_back((last, names)),
            None => (self.changes, self.changes_after) = (VecDeque::new(), last),
        }
        if self.changes.len() > CHANGES_MAX
            && let Some((seq, _)) = self.changes.pop_front()
        {
            self.changes_after = seq;
        }
        Ok(())
    }

    /// The names that changed after this row; `None`: the row is too old.
    pub(crate) fn changed_since(&self, through: Seq) -> Option<BTreeSet<String>> {
        let later = self.changes.iter().filter(|(seq, _)| *seq > through);
        (through >= self.changes_after).then(|| later.flat_map(|(_, names)| names.clone()).collect())
    }
}

impl FollowedIndex {
    /// A look begins.
    pub(crate) fn begin_look(&self, used: FlightUse) {
        *lock(&self.look) = Some(used);
    }

    /// The calls of the look in progress, or of the last one.
    pub(crate) fn last_look(&self) -> Option<FlightUse> {
        lock(&self.look).clone()
    }

    /// Records a request of a client.
    pub(crate) fn ask(&self, now: Millis) {
        self.asked.fetch_max(now.0, Ordering::Relaxed);
    }

    /// Whether a client made a request since then.
    pub(crate) fn was_asked_since(&self, since: Millis) -> bool {
        let asked = self.asked.load(Ordering::Relaxed);
        asked > 0 && asked >= since.0
    }

    /// Whether an index without clients has to be checked, because the last check is `every` milliseconds ago. At a
    /// start that time begins.
    pub(crate) fn is_idle_look_due(&self, now: Millis, every: i64) -> bool {
        let last = self.idle.load(Ordering::Relaxed);
        // After the clock was set back, the time begins again.
        let waits = last > 0 && last <= now.0 && now.0 - last < every;
        if waits {
            return false;
        }
        self.idle.store(now.0, Ordering::Relaxed);
        last > 0 && last <= now.0
    }

    /// Whether the whole file may be requested once more.
    pub(crate) fn may_take_whole(&self, now: Millis) -> bool {
        let mut wholes = lock(&self.wholes);
        wholes.retain(|at| now.0 - at.0 < HOUR_MS && *at <= now);
        wholes.len() < WHOLES_MAX
    }

    /// Records a transfer of the whole file.
    pub(crate) fn take_whole(&self, now: Millis) {
        lock(&self.wholes).push_back(now);
    }

    /// Whether the whole file was transferred since then.
    pub(crate) fn took_whole_since(&self, since: Millis) -> bool {
        lock(&self.wholes).iter().any(|at| *at > since)
    }

    /// The number of failed looks.
    pub(crate) fn failures(&self) -> u64 {
        self.failed.read().unwrap_or_else(PoisonError::into_inner).0
    }

    /// The last failure, if there were more failures than this number.
    pub(crate) fn failure_after(&self, failures: u64) -> Option<Failure> {
        let failed = self.failed.read().unwrap_or_else(PoisonError::into_inner);
        failed.1.clone().filter(|_| failed.0 > failures)
    }

    /// Records a failed look.
    pub(crate) fn fail(&self, failure: Failure) {
        let mut failed = self.failed.write().unwrap_or_else(PoisonError::into_inner);
        *failed = (failed.0 + 1, Some(failure));
    }

    /// What `read` returns for the state of this upstream; `None`: its index was never seen.
    pub(crate) fn read<T>(&self, origin: Origin, read: impl FnOnce(&Known) -> T) -> Option<T> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|known| known.origin == origin).map(read)
    }

    /// The listed versions of a gem; `None`: its name was never listed.
    pub(crate) fn gem(&self, origin: Origin, name: &str) -> Option<Listed> {
        self.read(origin, |known| known.listing.gem(name)).flatten()
    }

    /// Changes the state of this upstream.
    pub(crate) fn change<T>(&self, origin: Origin, change: impl FnOnce(&mut Known) -> T) -> Option<T> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.as_mut().filter(|known| known.origin == origin).map(change)
    }

    /// Discards the state, because the journal may have more. The next look reads it again. Dates that the journal does
    /// not have are kept.
    pub(crate) fn forget(&self) {
        let known = self.known.write().unwrap_or_else(PoisonError::into_inner).take();
        let dates = known.map(|known| (known.origin, known.listing.into_dates()));
        *lock(&self.dates) = dates;
    }

    /// Replaces the state.
    pub(crate) fn replace(&self, mut new: Known) {
        let dates = lock(&self.dates).take();
        if let Some((_, dates)) = dates.filter(|(origin, _)| *origin == new.origin) {
            new.listing.set_dates(dates);
        }
        new.room.bound.cache().insert();
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(new);
    }
}

#[cfg(test)]
mod tests;
