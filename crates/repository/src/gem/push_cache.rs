//! The state of a gem's other versions that a push needs, so that a push costs the same whatever their number.
//!
//! A state belongs to a change, and a push expects that this is the last change of the gem, inside the transaction. So
//! an outdated state only costs another attempt. Pushes by other processes move the states on, too.

#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::gem::info_lines::{facts, info_line, info_lines, versions_line};
use crate::index::bounded_cache::BoundedCache;
use crate::index::name_key::{NameKey, NameKeyRef};
use crate::repository::Repository;
use crate::visible;
use format::gem::Package;
use format::gem::info::{self, FormatVersion};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use store::{Change, Entry, JournalRow, RepositoryId, Seq, State, UnitRows};
use telemetry::{Bound, BoundName, Millis};

/// Expected number of gems.
const GEMS: usize = 8 << 10;

/// The states of gems that were pushed recently.
#[derive(Debug)]
pub(crate) struct PushCache(BoundedCache<GemKey, GemState>);

/// The state of a gem as of a change.
#[derive(Debug, Clone)]
pub(crate) struct GemState {
    /// The number of the change.
    pub(crate) seq: Seq,
    /// The format of the `/info` lines.
    pub(crate) format: FormatVersion,
    /// The running MD5 of its `/info`.
    sum: info::Sum,
    /// The sort key of the last line.
    last: Option<(i64, String, String)>,
    /// Hashes of its versions with their platforms, including withdrawn ones, sorted. Two versions can have the same
    /// hash; then the push reads the rows.
    held: Vec<u64>,
}

type GemKey = NameKey<RepositoryId>;

fn weigh(key: &GemKey, state: &GemState) -> u64 {
    (size_of::<GemState>() + 128 + key.name.len() + state.held.len() * size_of::<u64>()) as u64
}

impl PushCache {
    /// An empty cache of at most this number of bytes. The gems that are pushed least are evicted first.
    pub(crate) fn new(bytes: u64) -> Self {
        Self(BoundedCache::new(Bound::new(BoundName::Heads, "", bytes), GEMS, weigh))
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        self.0.bound()
    }

    /// The state of a gem, if it proves that the version of `package` does not exist.
    pub(crate) fn for_push(&self, repository: &Repository, package: &Package) -> Option<Arc<GemState>> {
        let key = NameKeyRef { within: repository.id, name: &package.name };
        let state = self.0.lookup(&key, |state| state.format == repository.info_format())?;
        let is_new = state.held.binary_search(&hash(package)).is_err();
        is_new.then_some(state)
    }

    /// Stores the state of a gem, unless a newer one is stored.
    pub(crate) fn put(&self, id: RepositoryId, name: &str, state: GemState) {
        let known = self.0.peek(&NameKeyRef { within: id, name });
        if known.is_none_or(|known| known.seq < state.seq) {
            self.0.insert(NameKey::new(id, name), Arc::new(state));
        }
    }

    /// Removes a state that is outdated.
    pub(crate) fn forget(&self, id: RepositoryId, name: &str) {
        self.0.remove(&NameKeyRef { within: id, name });
    }

    /// Removes the state, unless it is newer than the change `seq`, which is not the last one.
    pub(crate) fn forget_through(&self, id: RepositoryId, name: &str, seq: Seq) {
        self.0.remove_if(&NameKeyRef { within: id, name }, |state| state.seq <= seq);
    }

    /// Moves the states on over changes of other processes. A change that is no plain push leaves no state: the next push reads the
    /// rows.
    pub(crate) fn follow(&self, rows: &[JournalRow]) {
        for row in rows {
            let (id, name) = match &row.change {
                Change::Entry { repository, entry } => (*repository, &entry.unit),
                Change::Unit { repository, unit, .. } => (*repository, unit),
                _ => continue,
            };
            let Some(state) = self.0.peek(&NameKeyRef { within: id, name }).filter(|state| state.seq < row.seq) else {
                continue;
            };
            let next = match &row.change {
                Change::Entry { entry, .. } => state.pushed(entry),
                // The owners of a new gem, in the batch of its push. A change of this process may be missing before any other.
                _ => (state.seq.0 + 1 == row.seq.0).then(|| (*state).clone()),
            };
            match next {
                Some(next) => self.put(id, name, next.made_by(row.seq)),
                None => self.forget(id, name),
            }
        }
    }
}

impl GemState {
    /// The state of a gem from its rows.
    pub(crate) fn of(unit: &UnitRows, repository: &Repository, now: Millis) -> Result<Self> {
        let format = repository.info_format();
        let (lines, last) = info_lines(visible(&unit.entries, repository.whole(now)), format)?;
        let mut sum = info::Sum::default();
        lines.iter().for_each(|line| sum.add(line));
        let mut held = Vec::with_capacity(unit.entries.len());
        for entry in &unit.entries {
            held.push(hash(&facts(entry)?));
        }
        held.sort_unstable();
        Ok(Self { seq: unit.seq, format, sum, last, held })
    }

    /// The first date, from `now` on, with which the line of a version comes last. Two versions of one millisecond are
    /// sorted by number, so the second one may need the next millisecond. `None`: a row of an earlier program has a
    /// later date than the journal has now.
    pub(crate) fn moment_of_next(&self, package: &Package, now: Millis) -> Option<Millis> {
        [now, Millis(now.0.saturating_add(1))].into_iter().find(|at| self.ends_before(package, *at))
    }

    /// Whether the line of a version with the date `at` comes last.
    fn ends_before(&self, package: &Package, at: Millis) -> bool {
        let order = info::order(package, at.0);
        self.last.as_ref().is_none_or(|(at, number, platform)| (*at, number.as_str(), platform.as_str()) < order)
    }

    /// The state after the push of `package`, without the number of that change. `line` is the new last line.
    pub(crate) fn after(&self, package: &Package, at: Millis, line: &str) -> Self {
        let mut after = self.clone();
        after.sum.add(line);
        let (at, number, platform) = info::order(package, at.0);
        after.last = Some((at, number.to_owned(), platform.to_owned()));
        let hash = hash(package);
        if let Err(place) = after.held.binary_search(&hash) {
            after.held.insert(place, hash);
        }
        after
    }

    /// The state after another process has pushed this entry. `None`: it is no push of a new last version, or this is not the state
    /// before it, as the MD5 in its line tells.
    fn pushed(&self, entry: &Entry) -> Option<Self> {
        let package = facts(entry)
            .ok()
            .filter(|package| entry.state == State::Live && self.ends_before(package, entry.published))?;
        let line = info_line(&package, &entry.hashes, entry.first_published(), self.format);
        let after = self.after(&package, entry.published, &line);
        (entry.line == Some(versions_line(&package, &after.md5()))).then_some(after)
    }

    /// The same, with the number of the change.
    pub(crate) fn made_by(self, seq: Seq) -> Self {
        Self { seq, ..self }
    }

    /// The MD5 of `/info`, hexadecimal.
    pub(crate) fn md5(&self) -> String {
        self.sum.hex()
    }
}

/// `1.0` and `1.0.0` are the same version.
fn hash(package: &Package) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&package.number, &package.platform).hash(&mut hasher);
    hasher.finish()
}
