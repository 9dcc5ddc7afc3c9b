//! A cache of values with stamps. Nothing invalidates them: a stamp is checked at each use.

use crate::index::bounded_cache::{BoundedCache, Turn};
use quick_cache::Equivalent;
use std::hash::Hash;
use std::sync::Arc;
use store::Stamp;

/// A cache of stamped values.
pub(crate) type StampedCache<K, V> = BoundedCache<K, Stamped<V>>;

/// A value with its stamp.
#[derive(Debug)]
pub(crate) struct Stamped<V> {
    /// Taken before the value was made.
    pub(crate) stamp: Stamp,
    pub(crate) value: V,
}

impl<K: Eq + Hash, V> StampedCache<K, V> {
    /// The approximate size of an entry without the data behind its pointers, in bytes.
    pub(crate) const ENTRY: usize = size_of::<K>() + size_of::<Stamped<V>>() + 64;

    /// The value of this key, if its stamp `holds`.
    pub(crate) fn find<Q: Hash + Equivalent<K> + ?Sized>(
        &self,
        key: &Q,
        holds: impl FnOnce(&Stamp) -> bool,
    ) -> Option<Arc<Stamped<V>>> {
        self.lookup(key, |found| holds(&found.stamp))
    }

    /// The same. A value whose stamp does not hold is removed.
    pub(crate) fn find_or_remove<Q: Hash + Equivalent<K> + ?Sized>(
        &self,
        key: &Q,
        holds: impl FnOnce(&Stamp) -> bool,
    ) -> Option<Arc<Stamped<V>>> {
        let mut stale = None;
        let found = self.lookup(key, |found| {
            let holds = holds(&found.stamp);
            stale = (!holds).then_some(found.stamp);
            holds
        });
        if let Some(stale) = stale {
            self.remove_if(key, |there| there.stamp == stale);
        }
        found
    }

    /// Removes the values whose stamps do not hold.
    pub(crate) fn retain_valid(&self, holds: impl Fn(&Stamp) -> bool) {
        self.retain(|kept| holds(&kept.stamp));
    }

    /// Returns the value of this key if its stamp `holds`, otherwise the turn to make it. While another task has the
    /// turn, this waits.
    pub(crate) async fn find_or_turn<'a>(
        &'a self,
        key: &K,
        holds: impl Fn(&Stamp) -> bool,
    ) -> Result<Arc<Stamped<V>>, Turn<'a, K, Stamped<V>>>
    where
        K: Clone,
    {
        let mut stale = false;
        loop {
            match self.get_or_turn(key, stale).await {
                Ok(found) if !holds(&found.stamp) => {
                    self.remove_same(key, &found);
                    stale = true;
                }
                Ok(found) => {
                    self.bound().cache().hit();
                    return Ok(found);
                }
                turn => return turn,
            }
        }
    }

    /// Stores a value and replaces a value with the same key.
    pub(crate) fn keep(&self, key: K, value: V, stamp: Stamp) -> Arc<Stamped<V>> {
        let stamped = Arc::new(Stamped { stamp, value });
        self.insert(key, stamped.clone());
        stamped
    }
}
