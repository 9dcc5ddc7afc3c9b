//! What looks and figures need of a map.

use crate::maven::koji::change::{MappedBuild, MappedFile, Tagging};
use crate::maven::koji::map::builds::{Index, State, at};
use crate::maven::koji::map::packed::pack;
use crate::maven::koji::map::{KojiMap, KojiView, builds};
use format::koji::model::{BuildId, EventId, KojiEvent, Nvr, TagId};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, HashSet};
use store::Seq;
use telemetry::Millis;

/// A build without its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BuildFacts {
    pub(crate) nvr: Nvr,
    pub(crate) volume: String,
    pub(crate) deleted: bool,
    pub(crate) files: u32,
}

/// How much is in the tags.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Totals {
    /// The tags that have builds.
    pub(crate) tags: Vec<(TagId, String)>,
    pub(crate) builds: u64,
    pub(crate) files: u64,
    pub(crate) folders: u64,
}

impl KojiMap {
    /// Whether no look was ever applied.
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// The last row of the first look, and when that was.
    pub(crate) fn first_look(&self) -> Option<(Seq, Millis)> {
        self.first
    }

    /// The last row of the journal that it includes.
    pub(crate) fn last(&self) -> Seq {
        self.last
    }

    /// When it last changed.
    pub(crate) fn changed(&self) -> Millis {
        self.changed
    }

    /// Whether the journal has all of it.
    pub(crate) fn is_recorded(&self) -> bool {
        !self.unrecorded
    }

    /// The event from which the next look asks.
    pub(crate) fn settled(&self) -> Option<EventId> {
        self.settled
    }

    /// When a look last read all of it, as far as the journal knows.
    pub(crate) fn read_whole(&self) -> Option<Millis> {
        self.read_whole
    }

    /// The newest event in it.
    pub(crate) fn newest(&self) -> EventId {
        self.newest
    }

    /// The newest event that a look saw, as far as the journal knows.
    pub(crate) fn seen(&self) -> EventId {
        self.seen.max(self.newest)
    }

    /// The newest known event that is this one or comes before it.
    pub(crate) fn event_at(&self, event: EventId) -> Option<KojiEvent> {
        let (tagged, ended) = (self.builds.listings.iter().map(|listing| listing.tagged), self.builds.ends.iter());
        let known = tagged.chain(ended.filter_map(|end| end.event));
        known.filter(|known| known.id <= event).max_by_key(|known| known.id)
    }

    /// All tags that a look named, with their last names.
    pub(crate) fn tags(&self) -> Vec<(TagId, String)> {
        self.tags.iter().map(|(tag, name)| (*tag, self.names.owned(*name))).collect()
    }

    /// A build without its files.
    pub(crate) fn build(&self, id: BuildId) -> Option<BuildFacts> {
        let state = self.last_state(id)?;
        let files = at(&self.builds.sets, state.set).map_or(0, |set| set.files);
        let volume = self.names.owned(state.volume);
        Some(BuildFacts { nvr: state.nvr(), volume, deleted: state.deleted, files })
    }

    fn last_state(&self, id: BuildId) -> Option<&State> {
        self.builds.states(self.builds.index(id)?).next()
    }

    /// Whether a build is known with exactly these facts and files.
    pub(crate) fn same_build(&self, build: &MappedBuild) -> bool {
        let facts = self.build(build.id);
        let same = |facts: BuildFacts| {
            (&facts.nvr, &facts.volume, facts.deleted) == (&build.nvr, &build.volume, build.deleted)
        };
        facts.is_some_and(same) && self.same_files(build.id, &build.files)
    }

    /// Whether a build has exactly these files, in any order.
    pub(crate) fn same_files(&self, id: BuildId, files: &[MappedFile]) -> bool {
        let set = self.last_state(id).and_then(|state| at(&self.builds.sets, state.set));
        set.is_some_and(|set| set.hash == pack(files, false).hash)
    }

    /// The present listings: builds with the tags that they are in.
    pub(crate) fn taggings(&self) -> Vec<Tagging> {
        let builds = &self.builds;
        let present = builds.listings.iter().filter(|listing| builds.holds(listing, KojiView::Now));
        let tagging = |listing: &builds::Listing| {
            Some(Tagging {
                build: at(&builds.builds, listing.build)?.id,
                tag: listing.tag,
                tag_name: self.names.owned(listing.tag_name),
                tagged: listing.tagged,
                tagged_by: self.names.get(listing.by).map(str::to_owned),
            })
        };
        present.filter_map(tagging).collect()
    }

    /// Whether the listing that began with this event is known.
    pub(crate) fn has_past(&self, build: BuildId, tag: TagId, tagged: EventId) -> bool {
        let index = self.builds.index(build);
        index.is_some_and(|index| {
            self.builds.listings(index).any(|listing| listing.tag == tag && listing.tagged.id == tagged)
        })
    }

    /// The folders that any of these builds has or had.
    pub(crate) fn folders_of_all(&self, of: &HashSet<BuildId>) -> Vec<String> {
        let of: HashSet<Index> = of.iter().filter_map(|id| self.builds.index(*id)).collect();
        let is_of = |set: u32| at(&self.builds.sets, set).is_some_and(|set| of.contains(&set.build));
        let (mut folders, mut at) = (Vec::new(), self.folders.first());
        while let Some(here) = at {
            if here.postings().any(|posting| is_of(posting.set)) {
                folders.push(here.name.clone());
            }
            at = here.next();
        }
        folders
    }

    /// How much is in the tags now. Files that several builds have count once for each.
    pub(crate) fn totals(&self) -> Totals {
        let builds = &self.builds;
        let (mut tags, mut totals) = (BTreeMap::new(), Totals::default());
        for (index, _) in builds.all() {
            let mut present = builds.listings(index).filter(|listing| builds.holds(listing, KojiView::Now)).peekable();
            if present.peek().is_none() {
                continue;
            }
            for listing in present {
                tags.entry(listing.tag).or_insert(listing.tag_name);
            }
            let set = builds.states(index).next().and_then(|state| at(&builds.sets, state.set));
            let (files, folders) = set.map_or((0, 0), |set| (set.files, set.folders));
            totals.builds += 1;
            totals.files += u64::from(files);
            totals.folders += u64::from(folders);
        }
        let name = |(tag, listed)| (tag, self.names.owned(self.tags.get(&tag).copied().unwrap_or(listed)));
        Totals { tags: tags.into_iter().map(name).collect(), ..totals }
    }

    /// Bytes of memory.
    pub(crate) fn weight(&self) -> u64 {
        (size_of::<Self>() + self.names.weight() + self.builds.weight() + self.folders.weight()) as u64
    }

    /// A digest of all builds, their states, files and listings: two equal ones answer the same.
    pub(crate) fn digest(&self) -> [u8; 32] {
        let (builds, mut all) = (&self.builds, Sha256::new());
        let mut by_id: Vec<_> = builds.all().collect();
        by_id.sort_unstable_by_key(|(_, build)| build.id);
        for (index, build) in by_id {
            all.update(format!("{:?}", build.id));
            for state in builds.states(index) {
                let hash = at(&builds.sets, state.set).map(|set| set.hash);
                let volume = self.names.get(state.volume);
                all.update(format!("{:?}{:?}{volume:?}{}{hash:?}", state.seq, state.nvr(), state.deleted));
            }
            for listing in builds.listings(index) {
                let builds::Listing { tag, tagged, seq, seen, past, .. } = listing;
                let (name, by) = (self.names.get(listing.tag_name), self.names.get(listing.by));
                let end = builds
                    .end(listing)
                    .map(|end| (end.why, end.event, self.names.get(end.by), end.seq, end.from, end.replaced));
                all.update(format!("{tag:?}{name:?}{by:?}{tagged:?}{seq:?}{seen:?}{past}{end:?}"));
            }
        }
        let tags = self.tags();
        all.update(format!("{tags:?}{:?}{:?}{:?}", self.settled, self.newest, self.first));
        all.update(format!("{:?}{:?}{:?}", self.seen, self.read_whole, self.rules));
        all.finalize().into()
    }
}
