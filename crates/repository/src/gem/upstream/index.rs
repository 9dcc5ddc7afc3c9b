//! What is known of an upstream's `/versions`: our log of its lines, and what they come to.

use crate::error::Error;
use crate::gem::upstream::ahead::Ahead;
use crate::gem::upstream::arrivals::Arrivals;
use crate::gem::upstream::asking::Asking;
use crate::gem::upstream::doubts::Doubts;
use crate::gem::upstream::listing::{Dates, Lines, Listed, Listing};
use crate::index::document::Index;
use crate::index::rope::log::Log;
use crate::upstream::failure::Failure;
use bytes::Bytes;
use format::gem::upstream::{Kept, Refusal};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use store::{Origin, Seq};
use telemetry::{Bound, Millis, Reason};
use tokio::sync::Mutex as Turn;

/// The latest rows whose names are remembered. An index that is older is made from all names.
const CHANGES_MAX: usize = 10_000;

/// The whole file is fetched at most so often within an hour.
const WHOLES_MAX: usize = 6;
const HOUR_MS: i64 = 3_600_000;

/// A file that would take away many names is believed once the upstream has had it for so many milliseconds.
const HELD_BACK_MS: i64 = 3_600_000;

/// The index of one remote repository. It is the same while the repository lives.
#[derive(Debug, Default)]
pub(crate) struct FollowedIndex {
    /// Held by the job that asks the upstream.
    pub(crate) looking: Arc<Turn<()>>,
    known: RwLock<Option<Known>>,
    /// The dates that were known of an upstream before all else was forgotten.
    dates: Mutex<Option<(Origin, HashMap<String, Dates>)>>,
    /// Its first body, while it arrives.
    pub(crate) arrivals: Arrivals,
    /// When a client asked the repository for anything that needs the index; 0: not since the start.
    asked: AtomicI64,
    /// When it was last looked at, or was to be, though nobody asks; 0: not since the start.
    idle: AtomicI64,
    /// When the whole file was last sent, at most as often as it may be in an hour.
    wholes: Mutex<VecDeque<Millis>>,
    /// How many looks failed, and how the last one did.
    failed: RwLock<(u64, Option<Failure>)>,
    /// Held by the job that writes down what a start need not make again, with how many pieces of the log it wrote last.
    pub(crate) saving: Arc<Turn<usize>>,
    /// Whether the upstream's file is not written as it is, and the journal does not tell it either.
    pub(crate) unsaved: AtomicBool,
    /// What its files of `/info` have instead of what it says.
    pub(crate) doubts: Doubts,
    /// Who asks for one of them again.
    pub(crate) asking: Asking,
    /// Those that are fetched before a client asks.
    pub(crate) ahead: Ahead,
}

/// What is known.
#[derive(Debug)]
pub(crate) struct Known {
    /// The upstream that it is of. Another URL is another upstream.
    pub(crate) origin: Origin,
    pub(crate) listing: Listing,
    pub(crate) log: Log,
    /// The log as it is answered with.
    pub(crate) index: Index,
    /// The last row of the journal that is in it.
    pub(crate) last: Seq,
    pub(crate) file: UpstreamFile,
    /// When the upstream was last asked, and when it last proved it.
    pub(crate) tried: Millis,
    pub(crate) checked: Millis,
    /// Why it could not be proven again since.
    pub(crate) failed: Option<Reason>,
    /// A file without many of the names, and since when the upstream has it.
    pub(crate) held_back: Option<HeldBack>,
    /// MD5s that the upstream's file says of gems, and that are not those of their `/info`.
    wrong: HashMap<String, String>,
    /// The names in the rows after `changes_after`, for indexes that are made of this one.
    changes: VecDeque<(Seq, Vec<String>)>,
    changes_after: Seq,
    /// The memory that it takes of what all may.
    room: Room,
}

/// Memory of a bound. It is given back at the end.
#[derive(Debug)]
struct Room {
    bound: Arc<Bound>,
    taken: u64,
}

impl Room {
    /// Takes so much in all. What does not fit is counted as turned away: lines are not taken where there is none ([`Follow::append`]).
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
        self.bound.give(self.taken);
    }
}

/// What is known of the upstream's own file, of which our log has the lines.
#[derive(Debug, Clone, Default)]
pub(crate) struct UpstreamFile {
    /// What a continuation of it is verified with; `None`: only the whole file can be.
    pub(crate) kept: Option<Kept>,
    pub(crate) etag: Option<String>,
    /// Whether its ETags look like an MD5 and are none.
    pub(crate) opaque_etags: bool,
    /// Whether it sends the whole file where only its continuation is asked for.
    pub(crate) ignores_range: bool,
    /// Whether another file than this one is known to be there, which could not be told from its last lines.
    pub(crate) diverged: bool,
    /// The names whose last line has no MD5 yet, and is not in our log.
    pub(crate) held: BTreeSet<String>,
}

/// A file of the upstream that is not believed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeldBack {
    pub(crate) since: Millis,
    /// How many names it would take away, and how many it would have then.
    pub(crate) names: usize,
    pub(crate) names_then: usize,
    /// Whether an operator believes it.
    pub(crate) accepted: bool,
}

impl HeldBack {
    /// One without so many names, which follows another that was held back, if any. Where it lacks far more, its time begins anew: few
    /// names that were lacking for an hour must not have all others go at once.
    pub(crate) fn again(held: Option<Self>, names: usize, now: Millis) -> Self {
        let same = held.filter(|held| names <= held.names_then.saturating_mul(2));
        let (since, names_then) = same.map_or((now, names), |held| (held.since, held.names_then));
        Self { since, names, names_then, accepted: false }
    }

    /// Whether it may be believed now, so that the whole of it is asked for.
    pub(crate) fn is_due(&self, now: Millis) -> bool {
        self.accepted || now.0 - self.since.0 >= HELD_BACK_MS
    }

    /// Whether a file without so many names is believed now. An operator accepted one that lacks as many as this, or fewer.
    pub(crate) fn covers(&self, names: usize, now: Millis) -> bool {
        let waited = now.0 - self.since.0 >= HELD_BACK_MS && names <= self.names_then.saturating_mul(2);
        waited || self.accepted && names <= self.names
    }
}

impl Known {
    /// Nothing but the rows of the journal, which are added next.
    pub(crate) fn new(origin: Origin, bound: &Arc<Bound>) -> Result<Self, Error> {
        let mut log = Log::default();
        let index = log.index()?;
        let (listing, never, file) = (Listing::default(), Millis(i64::MIN), UpstreamFile::default());
        let last = Seq(0);
        let (tried, checked, failed, held_back, wrong) = (never, never, None, None, HashMap::new());
        let (changes, changes_after) = (VecDeque::new(), Seq(0));
        Ok(Self {
            origin,
            listing,
            log,
            index,
            last,
            file,
            tried,
            checked,
            failed,
            held_back,
            wrong,
            changes,
            changes_after,
            room: Room { bound: bound.clone(), taken: 0 },
        })
    }

    /// The lines as they are answered with. A clone shares the pieces.
    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    /// Adds lines that were first seen at `at`; `first`: they are of the first body. [`Known::settle`] must follow.
    pub(crate) fn add(&mut self, lines: Bytes, at: Millis, of: Lines, first: bool) -> Result<(), Error> {
        self.log.share(lines.clone())?;
        self.listing.add(lines, at, of, first).map_err(|refusal: Refusal| Error::Unsupported(refusal.to_string()))
    }

    /// Notes that what is said now of these gems is wrong, because lines that correct it follow; or right after all, where they say it again.
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

    /// Notes that the upstream says something else of these gems now: nobody knows whether that is wrong.
    pub(crate) fn forgives(&mut self, lines: &str) {
        if !self.wrong.is_empty() {
            lines.lines().filter_map(|line| line.split(' ').next()).for_each(|name| drop(self.wrong.remove(name)));
        }
    }

    /// Whether the MD5 that is said of a gem is ours, and the upstream says another.
    pub(crate) fn is_corrected(&self, name: &str) -> bool {
        self.wrong.contains_key(name)
    }

    /// Whether this MD5 of a gem, from the upstream's file, is known not to be that of its `/info`.
    pub(crate) fn is_wrong(&self, name: &str, md5: &str) -> bool {
        self.wrong.get(name).is_some_and(|wrong| wrong == md5)
    }

    /// Makes the index of what was added, up to this row. `changed`: the names in it; `None`: they are not known.
    pub(crate) fn settle(&mut self, last: Seq, changed: Option<Vec<String>>) -> Result<(), Error> {
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

    /// The names that changed after this row; `None`: it is too long ago to tell.
    pub(crate) fn changed_since(&self, through: Seq) -> Option<BTreeSet<String>> {
        let later = self.changes.iter().filter(|(seq, _)| *seq > through);
        (through >= self.changes_after).then(|| later.flat_map(|(_, names)| names.clone()).collect())
    }
}

impl FollowedIndex {
    /// Notes that a client asked.
    pub(crate) fn ask(&self, now: Millis) {
        self.asked.fetch_max(now.0, Ordering::Relaxed);
    }

    /// Whether a client asked since.
    pub(crate) fn was_asked_since(&self, since: Millis) -> bool {
        let asked = self.asked.load(Ordering::Relaxed);
        asked > 0 && asked >= since.0
    }

    /// Whether an index that nobody asks for is to be looked at, because that was last due so long ago. At a start that time begins.
    pub(crate) fn is_idle_look_due(&self, now: Millis, every: i64) -> bool {
        let last = self.idle.load(Ordering::Relaxed);
        // Where the clock was set back it begins anew.
        let waits = last > 0 && last <= now.0 && now.0 - last < every;
        if waits {
            return false;
        }
        self.idle.store(now.0, Ordering::Relaxed);
        last > 0 && last <= now.0
    }

    /// Whether the whole file may be sent once more.
    pub(crate) fn may_take_whole(&self, now: Millis) -> bool {
        let mut wholes = self.wholes.lock().unwrap_or_else(PoisonError::into_inner);
        wholes.retain(|at| now.0 - at.0 < HOUR_MS && *at <= now);
        wholes.len() < WHOLES_MAX
    }

    /// The whole file was sent.
    pub(crate) fn take_whole(&self, now: Millis) {
        self.wholes.lock().unwrap_or_else(PoisonError::into_inner).push_back(now);
    }

    /// Whether the whole file was sent since.
    pub(crate) fn took_whole_since(&self, since: Millis) -> bool {
        self.wholes.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|at| *at > since)
    }

    /// How many looks failed.
    pub(crate) fn failures(&self) -> u64 {
        self.failed.read().unwrap_or_else(PoisonError::into_inner).0
    }

    /// How the last look failed, if any did after so many failures.
    pub(crate) fn failure_after(&self, failures: u64) -> Option<Failure> {
        let failed = self.failed.read().unwrap_or_else(PoisonError::into_inner);
        failed.1.clone().filter(|_| failed.0 > failures)
    }

    /// Notes that a look failed.
    pub(crate) fn fail(&self, failure: Failure) {
        let mut failed = self.failed.write().unwrap_or_else(PoisonError::into_inner);
        *failed = (failed.0 + 1, Some(failure));
    }

    /// What `read` finds in what is known of this upstream; `None`: nothing is known of it yet.
    pub(crate) fn read<T>(&self, origin: Origin, read: impl FnOnce(&Known) -> T) -> Option<T> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|known| known.origin == origin).map(read)
    }

    /// What is listed of a gem; `None`: its name was never listed.
    pub(crate) fn gem(&self, origin: Origin, name: &str) -> Option<Listed> {
        self.read(origin, |known| known.listing.gem(name)).flatten()
    }

    /// Changes what is known of this upstream.
    pub(crate) fn change<T>(&self, origin: Origin, change: impl FnOnce(&mut Known) -> T) -> Option<T> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.as_mut().filter(|known| known.origin == origin).map(change)
    }

    /// Forgets what is known, where the journal may have more: the next look reads it. The dates that it does not have are kept.
    pub(crate) fn forget(&self) {
        let known = self.known.write().unwrap_or_else(PoisonError::into_inner).take();
        let dates = known.map(|known| (known.origin, known.listing.into_dates()));
        *self.dates.lock().unwrap_or_else(PoisonError::into_inner) = dates;
    }

    /// Puts this in place of what was known.
    pub(crate) fn replace(&self, mut new: Known) {
        let dates = self.dates.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((_, dates)) = dates.filter(|(origin, _)| *origin == new.origin) {
            new.listing.set_dates(dates);
        }
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_nobody_asks_for_is_due_so_long_after_the_start_and_after_each_time_that_it_was() {
        let (index, due) =
            (FollowedIndex::default(), |index: &FollowedIndex, at| index.is_idle_look_due(Millis(at), 30));
        assert!(!due(&index, 1_000) && !due(&index, 1_029) && due(&index, 1_030));
        assert!(!due(&index, 1_059) && due(&index, 1_060));
        assert!(!due(&index, 500), "the clock was set back");
        assert!(!due(&index, 529) && due(&index, 530));
    }

    #[test]
    fn few_names_that_lack_for_an_hour_do_not_have_far_more_go_at_once() {
        let (start, late, hour) = (Millis(0), Millis(HELD_BACK_MS - 1), Millis(HELD_BACK_MS));
        let held = HeldBack::again(None, 10, start);
        assert!(held.covers(10, hour) && held.covers(20, hour) && !held.covers(10, late) && !held.covers(21, hour));
        // A little more each time, which is what an upstream does that is used.
        let more = HeldBack::again(Some(HeldBack::again(Some(held), 15, late)), 20, late);
        assert_eq!((more.since, more.names, more.names_then), (start, 20, 10));
        let most = HeldBack::again(Some(more), 1_000, late);
        assert_eq!((most.since, most.names, most.names_then), (late, 1_000, 1_000));
        assert!(!most.covers(1_000, hour) && most.covers(1_000, Millis(late.0 + HELD_BACK_MS)));
        let accepted = HeldBack { accepted: true, ..most };
        assert!(accepted.covers(1_000, late) && !accepted.covers(1_001, late));
    }
}
