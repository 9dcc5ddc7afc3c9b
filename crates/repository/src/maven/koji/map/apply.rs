//! Makes the next map from changes.

use crate::maven::koji::change::{Change, Gone, MappedBuild, Tagging};
use crate::maven::koji::map::builds::{Builds, End, Index, Listing, NONE, Set, State, at, next_of};
use crate::maven::koji::map::folders::Posting;
use crate::maven::koji::map::packed::pack;
use crate::maven::koji::map::{Duplicates, KojiMap};
use format::koji::model::{BuildId, EventId, KojiEvent, TagId};
use std::collections::VecDeque;
use std::sync::Arc;
use store::Seq;
use telemetry::Millis;

/// The moment of the first change of the unrecorded ones, and of all others of them: no moment of the journal has them.
pub(crate) const UNRECORDED: Seq = Seq(u64::MAX);

/// Changes as they were committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Committed {
    pub(crate) at: Millis,
    /// The last row of the commit.
    pub(crate) seq: Seq,
    /// Where the files of each build are, in the order of the changes that have files.
    pub(crate) builds: VecDeque<BuildRows>,
}

/// The consecutive rows with the files of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BuildRows {
    pub(crate) first: Seq,
    /// The first folder that begins in each further row; `None`: all files of the row continue a folder.
    pub(crate) further: Vec<Option<String>>,
}

impl Committed {
    /// Changes of which the journal has no rows, so that memory keeps whole digests.
    pub(crate) fn in_memory(at: Millis, seq: Seq) -> Self {
        Self { at, seq, builds: VecDeque::new() }
    }
}

/// The next map while it is made.
#[derive(Debug)]
pub(crate) struct NextMap {
    map: KojiMap,
    more: Vec<(String, Posting)>,
}

impl KojiMap {
    /// The map after these changes, which were committed at `at` as the row `seq`.
    #[cfg(test)]
    pub(crate) fn apply(&mut self, changes: &[Change], at: Millis, seq: Seq) {
        let mut next = NextMap::of(self);
        next.add(changes, Committed::in_memory(at, seq));
        *self = next.finish();
    }
}

impl NextMap {
    /// The map that follows this one.
    pub(crate) fn of(map: &KojiMap) -> Self {
        Self { map: map.clone(), more: Vec::new() }
    }

    /// Adds the changes of one commit.
    pub(crate) fn add(&mut self, changes: &[Change], mut committed: Committed) {
        let (at, seq) = (committed.at, committed.seq);
        if seq == UNRECORDED {
            self.map.unrecorded = true;
        }
        (self.map.last, self.map.changed) = (seq, at);
        self.map.first.get_or_insert((seq, at));
        for change in changes {
            match change {
                Change::Build(build) => self.build(build, seq, committed.builds.pop_front()),
                Change::Facts { build, volume, deleted } => self.facts(*build, volume, *deleted, seq),
                Change::Tagged(tagging) => self.tagged(tagging, at, seq),
                Change::Gone { build, tag, why, event, by } => {
                    self.gone(*build, *tag, (*why, *event, by.as_deref()), seq);
                    if *why == Gone::Deleted {
                        self.delete(*build, seq);
                    }
                }
                Change::Past { tagging, ended, by } => self.past(tagging, *ended, by.as_deref(), (at, seq)),
                Change::Tag { tag, name } => {
                    let name = Arc::make_mut(&mut self.map.names).number(name);
                    self.map.tags.insert(*tag, name);
                }
                Change::Settled { event, seen, full } => {
                    self.map.settled = Some(*event);
                    self.map.read_whole = if *full { Some(at) } else { self.map.read_whole };
                    self.map.seen = self.map.seen.max(*seen);
                    self.saw(*event);
                }
                Change::Rule { oldest } => self.map.rules.push((seq, Duplicates::of_name(*oldest))),
            }
        }
    }

    /// The map with all of them.
    pub(crate) fn finish(mut self) -> KojiMap {
        if !self.more.is_empty() {
            // Stable, so that the places of a folder stay in the order of their arrival.
            self.more.sort_by(|one, other| one.0.cmp(&other.0));
            self.map.folders = Arc::new(self.map.folders.with(&self.more));
        }
        Arc::make_mut(&mut self.map.builds).shrink();
        self.map
    }

    fn builds(&mut self) -> &mut Builds {
        Arc::make_mut(&mut self.map.builds)
    }

    fn saw(&mut self, event: EventId) {
        self.map.newest = self.map.newest.max(event);
    }

    fn build(&mut self, build: &MappedBuild, seq: Seq, rows: Option<BuildRows>) {
        let packed = pack(&build.files, rows.is_none());
        let builds = Arc::make_mut(&mut self.map.builds);
        let index = builds.index_or_new(build.id);
        let last = builds.states(index).next().map(|state| state.set);
        let forgotten = build.deleted && build.files.is_empty();
        let same = last.filter(|set| forgotten || at(&builds.sets, *set).is_some_and(|set| set.hash == packed.hash));
        let set = same.unwrap_or_else(|| {
            let number = next_of(&builds.sets);
            let further = rows.as_ref().map(|rows| offsets(rows, &packed.folders)).unwrap_or_default();
            builds.sets.push(Set {
                build: index,
                files: packed.files,
                folders: u32::try_from(packed.folders.len()).unwrap_or(u32::MAX),
                packed: packed.bytes.into(),
                hash: packed.hash,
                row: rows.map_or(Seq(0), |rows| rows.first),
                further,
            });
            let posting = |(folder, offset)| (folder, Posting { set: number, offset });
            self.more.extend(packed.folders.into_iter().map(posting));
            number
        });
        let state = State::new(seq, &build.nvr, NONE);
        self.state(index, State { set, deleted: build.deleted, ..state }, &build.volume);
    }

    fn facts(&mut self, build: BuildId, volume: &str, deleted: bool, seq: Seq) {
        let builds = &self.map.builds;
        let index = builds.index(build);
        if let Some((index, last)) = index.and_then(|index| Some((index, builds.states(index).next()?.clone()))) {
            self.state(index, State { seq, deleted, ..last }, volume);
        }
    }

    fn delete(&mut self, build: BuildId, seq: Seq) {
        if let Some(facts) = self.map.build(build) {
            self.facts(build, &facts.volume, true, seq);
        }
    }

    /// Adds a state of a build, unless it is the last one.
    fn state(&mut self, index: Index, state: State, volume: &str) {
        let volume = Arc::make_mut(&mut self.map.names).number(volume);
        let builds = self.builds();
        let last = builds.states(index).next();
        let facts = |state: &State| (state.nvr(), state.set, state.deleted);
        if last.is_some_and(|last| facts(last) == facts(&state) && last.volume == volume) {
            return;
        }
        let number = next_of(&builds.states);
        let Some(build) = builds.builds.get_mut(index as usize) else { return };
        builds.states.push(State { before: build.state, volume, ..state });
        build.state = number;
    }

    /// The listing by which a build is in a tag.
    fn open(&self, build: Index, tag: TagId) -> Option<(Index, &Listing)> {
        let builds = &self.map.builds;
        let mut number = at(&builds.builds, build)?.listing;
        while let Some(listing) = at(&builds.listings, number) {
            if listing.tag == tag && listing.end == NONE && !listing.past {
                return Some((number, listing));
            }
            number = listing.before;
        }
        None
    }

    fn tagged(&mut self, tagging: &Tagging, moment: Millis, seq: Seq) {
        let (tag_name, by) = self.names_of(tagging);
        let build = self.builds().index_or_new(tagging.build);
        let mut seen = moment;
        if let Some((number, open)) = self.open(build, tagging.tag) {
            let (event, same) = (open.tagged, open.tag_name == tag_name && open.by == by);
            if event.id == tagging.tagged.id {
                if same {
                    return;
                }
                seen = open.seen;
            }
            let replaced = event.id == tagging.tagged.id;
            let end = End {
                why: Gone::Untagged,
                event: None,
                by: Default::default(),
                seq,
                from: tagging.tagged.id,
                replaced,
            };
            self.end(number, end);
        }
        self.saw(tagging.tagged.id);
        let (tag, tagged) = (tagging.tag, tagging.tagged);
        self.list(Listing { build, before: NONE, tag, tag_name, by, end: NONE, tagged, seq, seen, past: false });
    }

    fn names_of(&mut self, tagging: &Tagging) -> (super::NameId, super::NameId) {
        let names = Arc::make_mut(&mut self.map.names);
        (names.number(&tagging.tag_name), names.number_of(tagging.tagged_by.as_deref()))
    }

    /// Adds a listing. Returns its number.
    fn list(&mut self, listing: Listing) -> Index {
        let builds = self.builds();
        let number = next_of(&builds.listings);
        if let Some(build) = builds.builds.get_mut(listing.build as usize) {
            builds.listings.push(Listing { before: build.listing, ..listing });
            build.listing = number;
        }
        number
    }

    fn end(&mut self, listing: Index, end: End) {
        let builds = self.builds();
        let number = next_of(&builds.ends);
        if let Some(listing) = builds.listings.get_mut(listing as usize) {
            listing.end = number;
            builds.ends.push(end);
        }
    }

    fn gone(
        &mut self,
        build: BuildId,
        tag: TagId,
        (why, event, by): (Gone, Option<KojiEvent>, Option<&str>),
        seq: Seq,
    ) {
        let by = Arc::make_mut(&mut self.map.names).number_of(by);
        if let Some(event) = event {
            self.saw(event.id);
        }
        let index = self.map.builds.index(build);
        let Some((number, open)) = index.and_then(|index| self.open(index, tag)) else { return };
        // Where no event tells, it counts from the newest one that was known.
        let noticed = self.map.newest.max(EventId(open.tagged.id.0.saturating_add(1)));
        let from = event.map_or(noticed, |event| event.id);
        self.end(number, End { why, event, by, seq, from, replaced: false });
    }

    fn past(&mut self, tagging: &Tagging, ended: KojiEvent, by: Option<&str>, (moment, seq): (Millis, Seq)) {
        if self.map.has_past(tagging.build, tagging.tag, tagging.tagged.id) {
            return;
        }
        let (tag_name, tagger) = self.names_of(tagging);
        let by = Arc::make_mut(&mut self.map.names).number_of(by);
        let build = self.builds().index_or_new(tagging.build);
        [tagging.tagged.id, ended.id].into_iter().for_each(|event| self.saw(event));
        let (tag, tagged) = (tagging.tag, tagging.tagged);
        let listing = Listing {
            build,
            before: NONE,
            tag,
            tag_name,
            by: tagger,
            end: NONE,
            tagged,
            seq,
            seen: moment,
            past: true,
        };
        let number = self.list(listing);
        let end = End { why: Gone::Untagged, event: Some(ended), by, seq, from: ended.id, replaced: false };
        self.end(number, end);
    }
}

/// The offsets of the first folders of further rows.
fn offsets(rows: &BuildRows, folders: &[(String, u32)]) -> Box<[u32]> {
    let mut next = u32::MAX;
    let mut offsets: Vec<u32> = Vec::with_capacity(rows.further.len());
    for folder in rows.further.iter().rev() {
        let offset = folder.as_ref().and_then(|folder| {
            let at = folders.binary_search_by(|(known, _)| known.cmp(folder)).ok()?;
            folders.get(at).map(|(_, offset)| *offset)
        });
        next = offset.unwrap_or(next);
        offsets.push(next);
    }
    offsets.reverse();
    offsets.into()
}
