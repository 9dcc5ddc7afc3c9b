//! Large indexes, made once for everybody who asks while nothing changes.
//!
//! An index above the size of a page is not a page, and a hundred clients asking for it at once would have it made a
//! hundred times. Here one of them makes it, the others wait, and all of them send the same bytes.

use crate::{Error, Index};
use std::sync::Arc;
use store::Stamp;
use telemetry::Bound;
use tokio::sync::Mutex;

/// The indexes of one repository that grow with the number of its gems.
#[derive(Debug)]
pub struct Shared {
    /// `/versions`.
    pub(crate) versions: Once,
    /// `/names`.
    pub(crate) names: Once,
}

impl Shared {
    /// Holds none yet. What it will hold is counted in `room`.
    pub(crate) fn new(room: &Arc<Bound>) -> Self {
        let once = || Once { kept: Mutex::new(None), room: room.clone() };
        Self { versions: once(), names: once() }
    }
}

/// One index, made by one at a time and kept while its stamp holds.
#[derive(Debug)]
pub(crate) struct Once {
    kept: Mutex<Option<Kept>>,
    room: Arc<Bound>,
}

impl Once {
    /// The index if `holds` says so of its stamp, else the one that `make` makes from what `stamp`, taken before, stands
    /// for. When the maker is given up half-way the next in line makes it.
    pub(crate) async fn get(
        &self,
        holds: impl Fn(&Stamp) -> bool,
        stamp: impl FnOnce() -> Option<Stamp>,
        make: impl Future<Output = Result<Index, Error>>,
    ) -> Result<Index, Error> {
        let mut kept = self.kept.lock().await;
        if let Some(kept) = kept.as_ref().filter(|kept| holds(&kept.stamp)) {
            return Ok(kept.index.clone());
        }
        *kept = None;
        let stamp = stamp().ok_or(Error::GivenUp)?;
        let index = make.await?;
        // Where there is no room it is made for each who asks.
        *kept = Kept::new(stamp, &index, &self.room);
        Ok(index)
    }
}

/// An index in memory, and the room it takes.
#[derive(Debug)]
struct Kept {
    stamp: Stamp,
    index: Index,
    room: Arc<Bound>,
}

impl Kept {
    fn new(stamp: Stamp, index: &Index, room: &Arc<Bound>) -> Option<Self> {
        room.take(index.bytes.len() as u64).ok()?;
        Some(Self { stamp, index: index.clone(), room: room.clone() })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.room.give(self.index.bytes.len() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use store::{RepositoryId, Revisions, Seq, Unit};
    use telemetry::{BoundName, Millis};

    #[tokio::test]
    async fn it_is_made_once_while_nothing_changes_and_takes_no_more_room_than_there_is() {
        let revisions = Revisions::new(Seq(0));
        let room = Bound::new(BoundName::Indexes, "", 4);
        let shared = Shared::new(&room);
        let (made, unit) = (Cell::new(0), Unit::All(RepositoryId(1)));
        let ask = async |text: &str| {
            let make = async {
                made.set(made.get() + 1);
                Ok(Index::of(text.as_bytes().to_vec()))
            };
            let holds = |stamp: &Stamp| revisions.holds(stamp, Millis(0));
            let stamp = || revisions.stamp(&[unit], Millis(1));
            shared.versions.get(holds, stamp, make).await.unwrap().bytes
        };
        assert_eq!((ask("one").await, ask("two").await, made.get(), room.used()), ("one".into(), "one".into(), 1, 3));
        revisions.raise(unit, Seq(1));
        assert_eq!((ask("three").await, ask("four").await, made.get()), ("three".into(), "four".into(), 3));
        assert_eq!(room.used(), 4);
        drop(shared);
        assert_eq!(room.used(), 0);
    }
}
