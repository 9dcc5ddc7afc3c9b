//! Compares what the tags list with the map: the changes that lead from the one to the other.

use crate::maven::koji::change::{Change, Gone, MappedBuild, Tagging};
use crate::maven::koji::look::memory::SETTLED_MS;
use crate::maven::koji::look::{Look, ROWS_MAX};
use crate::maven::koji::map::KojiMap;
use format::koji::answer::{Build, Listing};
use format::koji::left_out;
use format::koji::model::{BuildId, BuildState, EventId, KojiEvent, TagId, TaggedBuild};
use std::collections::{BTreeMap, BTreeSet};

/// The questions that remain before the changes are known.
#[derive(Debug, Default)]
pub(super) struct Wants {
    /// The files of these builds.
    pub(super) files: BTreeSet<BuildId>,
    /// What became of these builds.
    pub(super) states: BTreeSet<BuildId>,
    /// The whole history of these tags, because it has the time of a listing.
    pub(super) histories: BTreeSet<TagId>,
}

impl Look {
    /// What the tags list, with the event of tagging. `None`: the listing of the map, as the tag was not asked.
    fn listed(&self, taggings: &[Tagging]) -> BTreeMap<(BuildId, TagId), Option<EventId>> {
        let mut listed = BTreeMap::new();
        for (tag, root) in &self.memory.roots {
            match (self.taken.lists.get(tag), &root.listed) {
                (Some(builds), _) => {
                    listed.extend(builds.iter().map(|build| ((build.id, build.tag), Some(build.tagged))));
                }
                (None, Some(before)) => {
                    for key in before {
                        listed.entry(*key).or_insert(None);
                    }
                }
                // After a start only the map knows what it listed.
                (None, None) => {
                    for tagging in taggings.iter().filter(|one| self.record.inherit || one.tag == *tag) {
                        listed.entry((tagging.build, tagging.tag)).or_insert(None);
                    }
                }
            }
        }
        listed
    }

    /// The builds of the lists, each once for each tag that has it.
    fn builds(&self) -> BTreeMap<(BuildId, TagId), &TaggedBuild> {
        self.taken.lists.values().flatten().map(|build| ((build.id, build.tag), build)).collect()
    }

    /// The questions that remain.
    pub(super) fn wants(&self, map: &KojiMap) -> Wants {
        let (mut wants, taken) = (Wants::default(), &self.taken);
        if self.is_idle() {
            self.want_past(map, &mut wants);
            return wants;
        }
        let taggings = map.taggings();
        let present: BTreeMap<_, _> = taggings.iter().map(|one| ((one.build, one.tag), one.tagged.id)).collect();
        let followed: BTreeSet<BuildId> = present.keys().map(|(build, _)| *build).collect();
        for (key, build) in self.builds() {
            // Files may have been added to a build while no tag had it.
            let is_known = !self.is_full
                && followed.contains(&build.id)
                && map.build(build.id).is_some_and(|known| known.nvr == build.nvr && !known.deleted);
            if !is_known && !taken.asked_files.contains(&build.id) {
                wants.files.insert(build.id);
            }
            let is_dated = present.get(&key) == Some(&build.tagged)
                || taken.listings.contains_key(&(build.id, build.tag, build.tagged));
            if !is_dated && !taken.whole_histories.contains(&build.tag) {
                wants.histories.insert(build.tag);
            }
        }
        let (listed, tags) = (self.listed(&taggings), self.memory.all_tags());
        for (key, tagged) in present {
            let (build, tag) = key;
            let ended = taken.listings.get(&(build, tag, tagged)).is_some_and(|listing| listing.revoked.is_some());
            if !listed.contains_key(&key) && !ended && tags.contains(&tag) && !taken.builds.contains_key(&build) {
                wants.states.insert(build);
            }
        }
        wants
    }

    /// The builds of listings that ended before the first look, if there is nothing else to do.
    fn want_past(&self, map: &KojiMap, wants: &mut Wants) {
        if self.rounds > 1 {
            return;
        }
        let unknown = |listing: &&Listing| map.build(listing.build).is_none();
        for listing in self.memory.past.iter().filter(unknown).take(self.memory.past_part()) {
            wants.files.insert(listing.build);
            wants.states.insert(listing.build);
        }
    }

    /// The changes, and what the next look has to know.
    pub(super) fn finish(&mut self, map: &KojiMap) -> Vec<Change> {
        let taggings = map.taggings();
        let (mut builds, mut past, mut gone, mut tagged) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        self.learn_parents();
        let mut seen = BTreeSet::new();
        let mut unread = BTreeSet::new();
        for build in self.taken.lists.values().flatten() {
            if seen.insert(build.id) {
                match self.build_change(build, map) {
                    Ok(change) => builds.extend(change),
                    Err(()) => drop(unread.insert(build.id)),
                }
            }
        }
        let listed = self.listed(&taggings);
        let present: BTreeMap<_, _> = taggings.iter().map(|one| ((one.build, one.tag), one)).collect();
        for (key, tagging) in &present {
            let is = listed.get(key).is_some_and(|event| event.is_none_or(|event| event == tagging.tagged.id));
            if !is {
                gone.push(self.gone(tagging, listed.contains_key(key)));
            }
        }
        for (key, build) in self.builds() {
            let is_present = present.get(&key).is_some_and(|one| one.tagged.id == build.tagged);
            if !is_present && !unread.contains(&build.id) {
                tagged.push(Change::Tagged(self.tagging(build)));
            }
        }
        self.find_past(map, &mut builds, &mut past, &seen);
        let known: BTreeMap<TagId, String> = map.tags().into_iter().collect();
        let named = self.taken.tags.iter().filter(|(tag, name)| known.get(tag) != Some(*name));
        let mut changes: Vec<Change> = named.map(|(tag, name)| Change::Tag { tag: *tag, name: name.clone() }).collect();
        for part in [builds, past, gone, tagged] {
            changes.extend(part);
        }
        self.remember(&unread);
        // A hub without any build is known, too.
        let is_first = known.is_empty() && map.settled().is_none();
        let full = is_first || self.is_full;
        let seen = self.taken.event.id;
        if let Some(settled) = self.memory.settled
            && (full
                || !changes.is_empty()
                    && (map.settled() != Some(settled) || map.seen() < seen && newest(&changes) < seen))
        {
            changes.push(Change::Settled { event: settled, seen, full });
        }
        changes
    }

    fn learn_parents(&mut self) {
        for (tag, parents) in &self.taken.parents {
            if let Some(root) = self.memory.roots.get_mut(tag) {
                root.parents.clone_from(parents);
            }
        }
    }

    /// The change of a listed build, if it is another one than the map has. Fails if its files could not be read.
    fn build_change(&self, build: &TaggedBuild, map: &KojiMap) -> Result<Option<Change>, ()> {
        if let Some(files) = self.taken.files.get(&build.id) {
            let (id, nvr, volume, files) = (build.id, build.nvr.clone(), build.volume.clone(), files.clone());
            let mapped = MappedBuild { id, nvr, volume, files, deleted: false };
            return Ok((!map.same_build(&mapped)).then_some(Change::Build(mapped)));
        }
        match map.build(build.id) {
            Some(known) if known.nvr == build.nvr && known.volume == build.volume && !known.deleted => Ok(None),
            Some(known) if known.nvr == build.nvr && !known.deleted => {
                Ok(Some(Change::Facts { build: build.id, volume: build.volume.clone(), deleted: false }))
            }
            _ => Err(()),
        }
    }

    /// The end of a listing, with its reason.
    fn gone(&self, tagging: &Tagging, is_listed_again: bool) -> Change {
        let &Tagging { build, tag, .. } = tagging;
        let listing = self.taken.listings.get(&(build, tag, tagging.tagged.id));
        let revoked = listing.and_then(|listing| listing.revoked.clone());
        let is_deleted = listing.is_some_and(|listing| listing.state == BuildState::Deleted)
            || self
                .taken
                .builds
                .get(&build)
                .is_some_and(|found| found.as_ref().is_some_and(|found| found.state == BuildState::Deleted));
        let why = match () {
            () if is_listed_again => Gone::Untagged,
            () if is_deleted => Gone::Deleted,
            () if revoked.is_some() => Gone::Untagged,
            () if !self.memory.all_tags().contains(&tag) && !self.taken.tags.contains_key(&tag) => Gone::TagLeft,
            () => Gone::Hidden,
        };
        let (event, by) = revoked.map_or((None, None), |(event, by)| (Some(event), by));
        Change::Gone { build, tag, why, event, by }
    }

    fn tagging(&self, build: &TaggedBuild) -> Tagging {
        let listing = self.taken.listings.get(&(build.id, build.tag, build.tagged));
        let (tagged, tagged_by) = match listing {
            Some(listing) => (listing.created, listing.creator.clone()),
            // The hub did not tell, so it is at most as old as this look.
            None => (KojiEvent { id: build.tagged, at_ms: self.taken.event.at_ms }, None),
        };
        Tagging { build: build.id, tag: build.tag, tag_name: build.tag_name.clone(), tagged, tagged_by }
    }

    /// Listings that ended before the map had them. Those of unknown builds wait until a look reads their files.
    fn find_past(
        &mut self,
        map: &KojiMap,
        builds: &mut Vec<Change>,
        past: &mut Vec<Change>,
        listed: &BTreeSet<BuildId>,
    ) {
        let names: BTreeMap<TagId, String> = map.tags().into_iter().chain(self.taken.tags.clone()).collect();
        let present: BTreeSet<_> = map.taggings().iter().map(|one| (one.build, one.tag, one.tagged.id)).collect();
        let mut found = Vec::new();
        if !self.taken.whole_histories.is_empty() {
            self.memory.past.retain(|listing| !self.taken.whole_histories.contains(&listing.tag));
            let is = |(key, listing): &(&(BuildId, TagId, EventId), &Listing)| {
                listing.revoked.is_some()
                    && self.taken.whole_histories.contains(&listing.tag)
                    && !present.contains(*key)
                    && !map.has_past(key.0, key.1, key.2)
            };
            found.extend(self.taken.listings.iter().filter(is).map(|(_, listing)| listing.clone()));
            found.sort_by_key(|listing| (listing.created.id, listing.build));
        }
        let mut read = BTreeSet::new();
        for listing in self.memory.past.drain(..).chain(found).collect::<Vec<_>>() {
            let build = listing.build;
            let plain = |of: &&Option<Build>| {
                of.as_ref().is_none_or(|found| left_out::has_plain_names(&found.nvr, &found.volume))
            };
            let asked = self.taken.files.get(&build).zip(self.taken.builds.get(&build).filter(plain));
            let is_known = map.build(build).is_some() || listed.contains(&build) || read.contains(&build);
            match (is_known, asked) {
                (false, Some((files, Some(found)))) => {
                    let (nvr, volume, deleted) =
                        (found.nvr.clone(), found.volume.clone(), found.state == BuildState::Deleted);
                    read.insert(build);
                    builds.push(Change::Build(MappedBuild { id: build, nvr, volume, files: files.clone(), deleted }));
                }
                // The hub has no such build, or does not tell its files.
                (false, _) if self.taken.builds.contains_key(&build) => continue,
                (false, _) => {
                    self.memory.remember_past(listing);
                    continue;
                }
                (true, _) => {}
            }
            let Some((ended, by)) = listing.revoked else { continue };
            let tag_name = names.get(&listing.tag).cloned().unwrap_or_default();
            let (tag, tagged, tagged_by) = (listing.tag, listing.created, listing.creator);
            let tagging = Tagging { build, tag, tag_name, tagged, tagged_by };
            past.push(Change::Past { tagging, ended, by });
        }
    }

    /// Leaves for the next look what this one knows.
    fn remember(&mut self, unread: &BTreeSet<BuildId>) {
        let (memory, taken) = (&mut self.memory, &self.taken);
        for (tag, builds) in &taken.lists {
            if let Some(root) = memory.roots.get_mut(tag) {
                // Without its parents nobody would follow them.
                let lacks_parents = self.record.inherit && !taken.parents.contains_key(tag);
                root.is_due = lacks_parents || builds.iter().any(|build| unread.contains(&build.id));
                root.listed = Some(builds.iter().map(|build| (build.id, build.tag)).collect());
            }
        }
        let event = taken.event;
        if memory.settled.is_none() {
            memory.settled = Some(settled_before(taken.listings.values(), event));
        }
        let tags = memory.all_tags();
        memory.tags.retain(|tag, _| tags.contains(tag));
        for tag in tags {
            let is_new = !taken.changed.contains_key(&tag);
            let known = memory.tags.entry(tag).or_default();
            let rows = taken.rows.get(&tag).into_iter().flatten();
            known.rows.extend(rows.filter(|(at, _)| *at <= event.id).map(|(at, hash)| (*hash, *at)));
            let settled = memory.settled;
            known.rows.retain(|_, at| settled.is_none_or(|settled| *at > settled));
            if known.rows.len() > ROWS_MAX {
                known.rows.clear();
            }
            if is_new {
                known.has_changed = !known.rows.is_empty();
            }
        }
        if self.is_full || memory.full.is_none() {
            (memory.full, memory.left_out) = (Some(self.now), taken.left_out.clone());
        } else if !taken.asked_files.is_empty() {
            taken.left_out.iter().for_each(|(why, count)| *memory.left_out.entry(why).or_default() += count);
        }
        // What was open when such an event was seen has been committed before this look, and this look found it.
        memory.settle(self.now);
        memory.see(event.id, self.now);
    }
}

/// The newest event of these changes.
fn newest(changes: &[Change]) -> EventId {
    let event = |change: &Change| match change {
        Change::Tagged(tagging) => Some(tagging.tagged.id),
        Change::Gone { event, .. } => event.map(|event| event.id),
        _ => None,
    };
    changes.iter().filter_map(event).max().unwrap_or_default()
}

/// The newest event in the history that is ten minutes older than the last event, by the hub's clock.
fn settled_before<'a>(listings: impl Iterator<Item = &'a Listing>, last: KojiEvent) -> EventId {
    let ended = |listing: &'a Listing| listing.revoked.as_ref().map(|(event, _)| *event);
    let events = listings.flat_map(|listing| [Some(listing.created), ended(listing)]).flatten();
    let old = events.filter(|event| event.at_ms <= last.at_ms - SETTLED_MS);
    old.map(|event| event.id).max().unwrap_or_default()
}
