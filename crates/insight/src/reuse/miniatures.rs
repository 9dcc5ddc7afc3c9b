//! Miniatures of one cache, with the sizes that it may have instead: what share of the lookups each would answer.

use super::curve::Curve;
use super::miniature::{Cached, Miniature, Use};
use super::pace::Pace;
use super::policy::Policy;
use super::recent::Recent;
use telemetry::{EventId, Tick};

/// The sizes that are simulated, as shares of the present one: from an eighth to 32 times as much.
const SIZES: [(u64, u64); STEPS] = [(1, 8), (1, 4), (1, 2), (1, 1), (2, 1), (4, 1), (8, 1), (16, 1), (32, 1)];
/// Their number.
pub(crate) const STEPS: usize = 9;
/// The place of the present size among them.
const NOW: usize = 3;
/// If this many uses of sampled keys come within a second, half of the keys are enough.
const USES_A_SECOND: u32 = 8192;
/// With so few entries of the present size they cost less, and half of them would tell too little.
const FEW: usize = 256;
/// What an entry takes in the real cache, as a multiple of what requests tell, is within these.
const SCALE: (f64, f64) = (0.25, 1e6);
/// Fewer entries do not tell what one takes.
const ENTRIES_MIN: u64 = 8;

/// The state of the real cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Real {
    /// The most that its entries may take, in the unit of its bound.
    pub(crate) capacity: u64,
    /// What they take.
    pub(crate) used: u64,
    /// Their number.
    pub(crate) entries: u64,
}

/// The miniatures of one cache.
#[derive(Debug)]
pub(crate) struct Miniatures {
    policy: Policy,
    most: usize,
    /// What an entry takes before the real cache tells, as a multiple of what requests tell.
    usual: f64,
    capacity: u64,
    /// In ascending order. There are none while the size of the cache is unknown, or it is off.
    all: Vec<Miniature>,
    /// How fast sampled keys are used.
    pace: Pace,
    /// The mean weight of the answers.
    mean: f64,
    /// Of a cache that refuses a page at its first request.
    recent: Option<Recent>,
}

impl Miniatures {
    /// Miniatures of at most `most` entries each. `usual`: what an entry takes before the real cache tells, as a multiple of what requests tell.
    pub(crate) fn new(policy: Policy, most: usize, usual: f64) -> Self {
        let recent = matches!(policy, Policy::Pages | Policy::MissingPages).then(Recent::new);
        Self { policy, most, usual, capacity: 0, all: Vec::new(), pace: Pace::new(USES_A_SECOND), mean: 4096.0, recent }
    }

    /// Takes the size of the real cache, and what its entries take. After a change of the size the copies begin empty.
    pub(crate) fn set(&mut self, real: &Real) {
        if real.capacity != self.capacity {
            self.capacity = real.capacity;
            let sizes = SIZES.iter().map(|(times, part)| real.capacity.saturating_mul(*times) / part);
            let policy = self.policy;
            self.all.clear();
            // A cache that is off has no sizes.
            if real.capacity >= SIZES[0].1 {
                self.all.extend(sizes.map(|size| Miniature::new(policy.shape(size), self.most)));
            }
            self.all.iter_mut().for_each(|miniature| miniature.scale(self.usual));
        }
        let mean = self.all.get(NOW).and_then(Miniature::mean);
        if let Some(mean) = mean.filter(|_| real.entries >= ENTRIES_MIN && self.policy != Policy::Entries) {
            let scale = (real.used as f64 / real.entries as f64 / mean).clamp(SCALE.0, SCALE.1);
            self.all.iter_mut().for_each(|miniature| miniature.scale(scale));
        }
    }

    /// Counts a lookup in the curve. `nanos`: until the first byte. Returns whether the event is worth storing.
    pub(crate) fn see(&mut self, one: &Use, now: Tick, nanos: u64, event: EventId, curve: &mut Curve) -> bool {
        if self.all.is_empty() {
            return false;
        }
        if let Some(weight) = one.weight {
            self.mean += (f64::from(weight) - self.mean) / 64.0;
        }
        let usual = self.usual(one);
        let since = self.recent.as_mut().and_then(|recent| recent.look(one.key, usual.weight()));
        let one = &Use { soon: since.is_some_and(|since| since < self.capacity / 2), ..*one };
        let mut missed = [(0, None); STEPS];
        let mut sampled = false;
        for (miniature, missed) in self.all.iter_mut().zip(&mut missed) {
            missed.0 = miniature.shape.size;
            if let Some(uses) = miniature.stands_for(one.key) {
                sampled = true;
                missed.1 = Some(if miniature.refer(one, usual) { 0.0 } else { uses });
            }
        }
        if sampled && self.pace.is_busy(now) && self.all[NOW].len() > FEW {
            self.all.iter_mut().for_each(Miniature::sample_fewer);
        }
        curve.simulated(&missed, one, nanos, event)
    }

    /// What the entry takes if it is stored.
    fn usual(&self, one: &Use) -> Cached {
        // The largest knows most. A copy that does not sample the key need not be looked at.
        let mut sampling = self.all.iter().rev().filter(|miniature| miniature.stands_for(one.key).is_some());
        let known = sampling.find_map(|miniature| miniature.peek(one.key));
        match (known, one.weight) {
            // It was made again.
            (_, Some(plain)) if one.missed => Cached { plain, coded: 0 },
            (Some(known), Some(other)) if known.coded == 0 && u64::from(other) * 8 < u64::from(known.plain) * 7 => {
                Cached { coded: other, ..known }
            }
            (Some(known), _) => known,
            (None, weight) => Cached { plain: weight.unwrap_or(self.mean as u32).max(1), coded: 0 },
        }
    }

    /// Bytes of memory.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.all.iter().map(Miniature::bytes).sum::<usize>() + self.recent.as_ref().map_or(0, Recent::bytes)
    }
}
