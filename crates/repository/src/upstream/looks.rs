//! Looks in the cache's database that are under way: requests for one thing at a time share a look. A client asks for a file, and
//! at once for its checksum, and for other files of the folder.

use crate::index::name_key::NameKey;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Mutex;
use store::Stamp;
use telemetry::{Event, Op, lock};
use tokio::sync::watch;

/// The looks under way, by scope and name, and what they find. Each belongs to a request that is in progress.
#[derive(Debug)]
pub(crate) struct Looks<W, V>(Mutex<HashMap<NameKey<W>, UnderWay<V>>>);

/// A look under way.
#[derive(Debug, Clone)]
struct UnderWay<V> {
    /// Taken before it began. Changes since then are not in what it finds.
    stamp: Stamp,
    found: watch::Receiver<Option<V>>,
}

/// The look of this task. Dropped without a result, waiting tasks look themselves.
#[derive(Debug)]
pub(crate) struct Look<'a, W: Copy + Eq + Hash, V> {
    looks: &'a Looks<W, V>,
    key: NameKey<W>,
    found: watch::Sender<Option<V>>,
}

impl<W, V> Default for Looks<W, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<W: Copy + Eq + Hash, V: Clone> Looks<W, V> {
    /// Begins a look. `stamp` was taken before.
    pub(crate) fn begin(&self, within: W, name: &str, stamp: Stamp) -> Look<'_, W, V> {
        let (tell, found) = watch::channel(None);
        let key = NameKey::new(within, name);
        lock(&self.0).insert(key.clone(), UnderWay { stamp, found });
        Look { looks: self, key, found: tell }
    }

    /// What the look under way finds, if there is one whose stamp `holds`. `None`: there is none, or it failed.
    pub(crate) async fn join(
        &self,
        within: W,
        name: &str,
        holds: impl FnOnce(&Stamp) -> bool,
        event: &mut Event,
    ) -> Option<V> {
        let UnderWay { stamp, mut found } = lock(&self.0).get(&NameKey::new(within, name)).cloned()?;
        if !holds(&stamp) {
            return None;
        }
        let found = event.waited(Op::TurnWait, found.wait_for(Option::is_some)).await;
        found.ok().and_then(|found| found.clone())
    }
}

impl<W: Copy + Eq + Hash, V> Look<'_, W, V> {
    /// Tells waiting tasks what was found.
    pub(crate) fn tell(&self, found: V) {
        self.found.send_replace(Some(found));
    }
}

impl<W: Copy + Eq + Hash, V> Drop for Look<'_, W, V> {
    fn drop(&mut self) {
        let mut looks = lock(&self.looks.0);
        // Another look for the same may have begun since, and has its place.
        if looks.get(&self.key).is_some_and(|under_way| self.found.subscribe().same_channel(&under_way.found)) {
            looks.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::{Revisions, Seq};
    use telemetry::Millis;

    fn stamp() -> Stamp {
        Revisions::new(Seq(0)).stamp([], Millis(i64::MAX))
    }

    #[tokio::test]
    async fn who_asks_while_a_look_is_under_way_is_told_what_it_finds() {
        let looks = Looks::<u8, &str>::default();
        let look = looks.begin(1, "a", stamp());
        let [mut one, mut other, mut late] = [(); 3].map(|()| Event::job("test", Millis(1)));
        let joined = looks.join(1, "a", |_| true, &mut one);
        let told = async {
            tokio::task::yield_now().await;
            look.tell("file");
        };
        assert_eq!(tokio::join!(joined, told).0, Some("file"));
        assert_eq!(one.tally(Op::TurnWait).count, 1);
        assert_eq!(looks.join(1, "b", |_| true, &mut other).await, None);
        assert_eq!(looks.join(1, "a", |_| false, &mut other).await, None, "something has changed since it began");
        drop(look);
        assert_eq!(looks.join(1, "a", |_| true, &mut late).await, None);
    }

    #[tokio::test]
    async fn a_look_that_ends_without_a_result_lets_others_look_and_leaves_a_later_one_alone() {
        let looks = Looks::<u8, &str>::default();
        let (first, mut event) = (looks.begin(1, "a", stamp()), Event::job("test", Millis(1)));
        let waiting = looks.join(1, "a", |_| true, &mut event);
        let dropped = async {
            tokio::task::yield_now().await;
            drop(first);
        };
        assert_eq!(tokio::join!(waiting, dropped).0, None);
        let first = looks.begin(1, "a", stamp());
        let second = looks.begin(1, "a", stamp());
        drop(first);
        second.tell("file");
        assert_eq!(looks.join(1, "a", |_| true, &mut event).await, Some("file"));
    }
}
