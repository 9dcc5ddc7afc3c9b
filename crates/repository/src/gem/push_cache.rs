//! What a push needs to know of a gem's other versions, so that it costs the same however many there are.
//!
//! A state says what the gem is as of a change; a push expects that to be its last, inside the transaction. So a state
//! that is out of date costs another try, and can do no harm.

#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::gem::info_lines::info_lines;
use crate::index::bounded_cache::BoundedCache;
use crate::index::name_key::{NameKey, NameKeyRef};
use crate::repository::Repository;
use crate::visible;
use format::gem::Package;
use format::gem::info::{self, FormatVersion};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use store::{RepositoryId, Seq, UnitRows};
use telemetry::{Bound, BoundName, Millis};

/// Bytes of the cache. The gems that are pushed least are evicted first.
const ROOM: u64 = 4 << 20;
/// Gems that are expected, roughly.
const GEMS: usize = 8 << 10;

/// The state of gems that were pushed of late.
#[derive(Debug)]
pub(crate) struct PushCache(BoundedCache<GemKey, GemState>);

/// A gem as of a change.
#[derive(Debug, Clone)]
pub(crate) struct GemState {
    /// The change.
    pub(crate) seq: Seq,
    /// What the lines of `/info` told.
    pub(crate) format: FormatVersion,
    /// Of its `/info`.
    sum: info::Sum,
    /// What its last line is ordered by.
    last: Option<(i64, String, String)>,
    /// Hashes of its versions with their platforms, withdrawn ones too, in order. Equal ones need not be the same version,
    /// and then somebody looks.
    held: Vec<u64>,
}

type GemKey = NameKey<RepositoryId>;

fn weigh(key: &GemKey, state: &GemState) -> u64 {
    (size_of::<GemState>() + 128 + key.name.len() + state.held.len() * size_of::<u64>()) as u64
}

impl PushCache {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self(BoundedCache::new(Bound::new(BoundName::Heads, "", ROOM), GEMS, weigh))
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        self.0.bound()
    }

    /// The state of a gem, if it says all that pushing `package` needs: that there is no such version.
    pub(crate) fn for_push(&self, repository: &Repository, package: &Package) -> Option<Arc<GemState>> {
        let state = self.0.get(&NameKeyRef { within: repository.id, name: &package.name })?;
        let is_new = state.held.binary_search(&hash(package)).is_err();
        (is_new && state.format == repository.info_format()).then_some(state)
    }

    /// Keeps what a gem is now, unless more is known.
    pub(crate) fn put(&self, id: RepositoryId, name: &str, state: GemState) {
        let known = self.0.get(&NameKeyRef { within: id, name });
        if known.is_none_or(|known| known.seq < state.seq) {
            self.0.insert(NameKey::new(id, name), Arc::new(state));
        }
    }

    /// Forgets what turned out to be out of date.
    pub(crate) fn forget(&self, id: RepositoryId, name: &str) {
        self.0.remove(&NameKeyRef { within: id, name });
    }
}

impl GemState {
    /// Of a gem as it was read.
    pub(crate) fn of(unit: &UnitRows, repository: &Repository, now: Millis) -> Result<Self, Error> {
        let format = repository.info_format();
        let (lines, last) = info_lines(visible(&unit.entries, repository.whole(now)), format)?;
        let mut sum = info::Sum::default();
        lines.iter().for_each(|line| sum.add(line));
        let mut held = Vec::with_capacity(unit.entries.len());
        for entry in &unit.entries {
            held.push(hash(&crate::gem::info_lines::facts(entry)?));
        }
        held.sort_unstable();
        Ok(Self { seq: unit.seq, format, sum, last, held })
    }

    /// The moment, from `now` on, at which the line of a version comes after all others. Two versions of one millisecond are ordered by
    /// their numbers, so the second one may have to be published in the next. `None`: a row of an earlier program has a later moment
    /// than the journal by now.
    pub(crate) fn moment_of_next(&self, package: &Package, now: Millis) -> Option<Millis> {
        [now, Millis(now.0.saturating_add(1))].into_iter().find(|at| self.ends_before(package, *at))
    }

    /// Whether the line of a version that is published at `at` comes after all others.
    fn ends_before(&self, package: &Package, at: Millis) -> bool {
        let order = info::order(package, at.0);
        self.last.as_ref().is_none_or(|(at, number, platform)| (*at, number.as_str(), platform.as_str()) < order)
    }

    /// The state after `package` was published, but for the number of that change. Its line is `line`, and comes last.
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

    /// The same, as of this change.
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
