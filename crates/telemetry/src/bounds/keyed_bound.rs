//! A bound for each of many keys, such as clients or repositories, so that no single key takes everything.

use crate::lock;
use crate::{Bound, BoundName, Full};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

/// Counts by key. The capacity holds for each key, and the figures are those of the key that uses most.
#[derive(Debug)]
pub struct KeyedBound<K> {
    bound: Arc<Bound>,
    counts: Mutex<Counts<K>>,
}

#[derive(Debug)]
struct Counts<K> {
    by_key: HashMap<K, usize, ahash::RandomState>,
    /// At index n: the number of keys that hold n units. The last entry is never 0, so the length gives the maximum.
    having: Vec<usize>,
}

impl<K: Clone + Eq + Hash> KeyedBound<K> {
    /// Each key may hold `each`, in the unit of the name. Register [`KeyedBound::bound`].
    pub fn new(name: BoundName, each: u64) -> Arc<Self> {
        Self::of(name, "", each)
    }

    /// Like [`KeyedBound::new`], for one of several bounds of a name, which `which` distinguishes.
    pub fn of(name: BoundName, which: &str, each: u64) -> Arc<Self> {
        let counts = Counts { by_key: HashMap::default(), having: Vec::new() };
        Arc::new(Self { bound: Bound::new(name, which, each), counts: Mutex::new(counts) })
    }

    /// The bound, with the figures of the key that uses most.
    pub fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// Takes one unit of `key`, or counts a rejection. Dropping the slot gives it back.
    pub fn enter(self: &Arc<Self>, key: K) -> Result<KeyedSlot<K>, Full> {
        let mut counts = lock(&self.counts);
        let before = counts.by_key.get(&key).copied().unwrap_or(0);
        if before as u64 >= self.bound.capacity() {
            self.bound.reject();
            return Err(Full(self.bound.name()));
        }
        counts.change(key.clone(), before, before + 1);
        self.bound.observe(counts.most());
        Ok(KeyedSlot { of: self.clone(), key })
    }
}

impl<K: Eq + Hash> Counts<K> {
    fn change(&mut self, key: K, before: usize, after: usize) {
        match self.by_key.entry(key) {
            Entry::Occupied(entry) if after == 0 => drop(entry.remove()),
            entry => drop(entry.insert_entry(after)),
        }
        self.having.resize(self.having.len().max(after + 1), 0);
        self.having[after] += 1;
        // Keys that hold nothing are not counted.
        self.having[0] = 0;
        if before > 0 {
            self.having[before] -= 1;
        }
        while self.having.last() == Some(&0) {
            self.having.pop();
        }
    }

    fn most(&self) -> u64 {
        self.having.len().saturating_sub(1) as u64
    }
}

/// One unit of a key. Dropping it gives the unit back.
#[derive(Debug)]
pub struct KeyedSlot<K: Clone + Eq + Hash> {
    of: Arc<KeyedBound<K>>,
    key: K,
}

impl<K: Clone + Eq + Hash> Drop for KeyedSlot<K> {
    fn drop(&mut self) {
        let mut counts = lock(&self.of.counts);
        if let Some(before) = counts.by_key.get(&self.key).copied() {
            counts.change(self.key.clone(), before, before - 1);
            self.of.bound.observe(counts.most());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_has_at_most_its_own_and_the_bound_shows_the_most(steps in prop::collection::vec((0u8..4, any::<bool>()), 0..200)) {
            let keyed = KeyedBound::new(BoundName::ClientConnections, 3);
            let mut held: HashMap<u8, Vec<KeyedSlot<u8>>> = HashMap::new();
            for (key, comes) in steps {
                let mine = held.entry(key).or_default();
                if comes {
                    let slot = keyed.enter(key);
                    prop_assert_eq!(slot.is_ok(), mine.len() < 3);
                    mine.extend(slot);
                } else {
                    mine.pop();
                }
                let most = held.values().map(Vec::len).max().unwrap_or(0);
                prop_assert_eq!(keyed.bound().used(), most as u64);
            }
            drop(held);
            prop_assert!(lock(&keyed.counts).by_key.is_empty());
        }
    }
}
