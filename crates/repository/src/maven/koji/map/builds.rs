//! The builds of a map, the states that each had, and the times that it was in tags.

use crate::maven::koji::change::Gone;
use crate::maven::koji::map::KojiView;
use crate::maven::koji::map::names::NameId;
use format::koji::model::{BuildId, EventId, KojiEvent, Nvr, TagId};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::Seq;
use telemetry::Millis;

/// The number of an element of a table; `NONE`: there is none.
pub(crate) type Index = u32;
pub(crate) const NONE: Index = Index::MAX;

/// The next index of a table.
pub(crate) fn next_of<T>(table: &[T]) -> Index {
    Index::try_from(table.len()).unwrap_or(NONE)
}

/// The element with this index.
pub(crate) fn at<T>(table: &[T], index: Index) -> Option<&T> {
    table.get(index as usize)
}

/// A build.
#[derive(Debug, Clone)]
pub(crate) struct Build {
    pub(crate) id: BuildId,
    /// Its last state; the earlier ones follow from there.
    pub(crate) state: Index,
    /// The last time that it was in a tag; the earlier ones follow from there.
    pub(crate) listing: Index,
}

/// A build from one change to the next.
#[derive(Debug, Clone)]
pub(crate) struct State {
    /// The row of the change.
    pub(crate) seq: Seq,
    /// `name/version/release`.
    pub(crate) nvr: Box<str>,
    pub(crate) before: Index,
    pub(crate) volume: NameId,
    pub(crate) set: Index,
    pub(crate) deleted: bool,
}

impl State {
    pub(crate) fn new(seq: Seq, nvr: &Nvr, before: Index) -> Self {
        let nvr = format!("{}/{}/{}", nvr.name, nvr.version, nvr.release).into();
        Self { seq, nvr, before, volume: NameId::default(), set: NONE, deleted: false }
    }

    /// Bytes of memory.
    fn weight(&self) -> usize {
        size_of::<Self>() + heap(self.nvr.len())
    }

    pub(crate) fn nvr(&self) -> Nvr {
        let mut parts = self.nvr.splitn(3, '/').map(str::to_owned);
        let mut part = || parts.next().unwrap_or_default();
        Nvr { name: part(), version: part(), release: part() }
    }
}

/// The files of a build.
#[derive(Debug, Clone)]
pub(crate) struct Set {
    pub(crate) build: Index,
    pub(crate) files: u32,
    pub(crate) folders: u32,
    pub(crate) packed: Arc<[u8]>,
    pub(crate) hash: [u8; 16],
    /// The first row of the journal that has the files; 0: no row has them.
    pub(crate) row: Seq,
    /// The offsets of the first folder of each further row.
    pub(crate) further: Box<[u32]>,
}

impl Set {
    fn weight(&self) -> usize {
        // An `Arc` has two counters.
        size_of::<Self>() + heap(self.packed.len() + 16) + heap(size_of_val(&*self.further))
    }
}

/// A time that a build is or was in a tag.
#[derive(Debug, Clone)]
pub(crate) struct Listing {
    pub(crate) build: Index,
    pub(crate) before: Index,
    pub(crate) tag: TagId,
    pub(crate) tag_name: NameId,
    pub(crate) by: NameId,
    /// How it ended.
    pub(crate) end: Index,
    pub(crate) tagged: KojiEvent,
    pub(crate) seq: Seq,
    /// The first sight.
    pub(crate) seen: Millis,
    /// Whether it was over before the first look.
    pub(crate) past: bool,
}

/// The end of a listing.
#[derive(Debug, Clone)]
pub(crate) struct End {
    pub(crate) why: Gone,
    pub(crate) event: Option<KojiEvent>,
    pub(crate) by: NameId,
    pub(crate) seq: Seq,
    /// The event from which it counts as ended in Koji's time.
    pub(crate) from: EventId,
    /// Whether another listing of the same event has its place, with other facts.
    pub(crate) replaced: bool,
}

/// All of these.
#[derive(Debug, Clone, Default)]
pub(crate) struct Builds {
    by_id: BTreeMap<BuildId, Index>,
    pub(crate) builds: Vec<Build>,
    pub(crate) states: Vec<State>,
    pub(crate) sets: Vec<Set>,
    pub(crate) listings: Vec<Listing>,
    pub(crate) ends: Vec<End>,
}

impl Builds {
    pub(crate) fn index(&self, id: BuildId) -> Option<Index> {
        self.by_id.get(&id).copied()
    }

    /// The index of a build, which may be new.
    pub(crate) fn index_or_new(&mut self, id: BuildId) -> Index {
        let new = next_of(&self.builds);
        let index = *self.by_id.entry(id).or_insert(new);
        if index == new {
            self.builds.push(Build { id, state: NONE, listing: NONE });
        }
        index
    }

    /// The builds with their indices.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Index, &Build)> {
        (0..).zip(&self.builds)
    }

    /// The states of a build, the last one first.
    pub(crate) fn states(&self, build: Index) -> impl Iterator<Item = &State> {
        let last = at(&self.builds, build).map_or(NONE, |build| build.state);
        std::iter::successors(at(&self.states, last), |state| at(&self.states, state.before))
    }

    /// The times that a build was in tags, the last one first.
    pub(crate) fn listings(&self, build: Index) -> impl Iterator<Item = &Listing> {
        let last = at(&self.builds, build).map_or(NONE, |build| build.listing);
        std::iter::successors(at(&self.listings, last), |listing| at(&self.listings, listing.before))
    }

    /// The state of a build. Koji's own moments have the files that it has today, or had last.
    pub(crate) fn state(&self, build: Index, view: KojiView) -> Option<&State> {
        match view {
            KojiView::Now | KojiView::Event(_) => self.states(build).next(),
            KojiView::Journal(seq) => self.states(build).find(|state| state.seq <= seq),
        }
    }

    pub(crate) fn end(&self, listing: &Listing) -> Option<&End> {
        at(&self.ends, listing.end)
    }

    /// Whether a build is in the tag by this listing.
    pub(crate) fn holds(&self, listing: &Listing, view: KojiView) -> bool {
        let end = self.end(listing);
        match view {
            KojiView::Now => !listing.past && end.is_none(),
            KojiView::Journal(seq) => !listing.past && listing.seq <= seq && end.is_none_or(|end| end.seq > seq),
            KojiView::Event(event) => {
                listing.tagged.id <= event && end.is_none_or(|end| !end.replaced && end.from > event)
            }
        }
    }

    /// The first sight of a build in any tag.
    pub(crate) fn first_listing(&self, build: Index) -> Option<&Listing> {
        self.listings(build).filter(|listing| !listing.past).last()
    }

    /// Bytes of memory.
    pub(crate) fn weight(&self) -> usize {
        // A node of the tree has eleven entries at most, and two thirds of these on average.
        let ids = self.by_id.len() * 16;
        let states: usize = self.states.iter().map(State::weight).sum();
        let sets: usize = self.sets.iter().map(Set::weight).sum();
        let others = size_of_val(&*self.builds) + size_of_val(&*self.listings) + size_of_val(&*self.ends);
        ids + states + sets + others
    }

    /// Returns memory that the tables do not use.
    pub(crate) fn shrink(&mut self) {
        self.builds.shrink_to_fit();
        self.states.shrink_to_fit();
        self.sets.shrink_to_fit();
        self.listings.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

/// Bytes that an allocation of this size takes.
pub(crate) fn heap(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { (bytes + 8).next_multiple_of(16).max(32) }
}
