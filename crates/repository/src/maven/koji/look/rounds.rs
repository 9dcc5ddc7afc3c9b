//! The questions of each round of a look.

use crate::maven::koji::look::memory::{Memory, Root};
use crate::maven::koji::look::{ARCHIVES_MAX, HALVED_MAX, LISTS_MAX, Look, Stage, Step, TAGS_MAX};
use crate::maven::koji::map::KojiMap;
use format::koji::answer::{Answer, Fault};
use format::koji::model::{BuildId, EventId, TagId};
use format::koji::question::Question;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;

impl Look {
    /// The next step. The first call passes no answers.
    pub(crate) fn next(&mut self, map: &KojiMap, answers: Vec<Result<Answer, Fault>>) -> Step {
        let asked = mem::take(&mut self.asked);
        if asked.len() != answers.len() {
            return Step::Failed(format!("{} questions got {} answers", asked.len(), answers.len()));
        }
        for (question, answer) in asked.into_iter().zip(answers) {
            if let Err(fault) = self.take(question, answer) {
                return Step::Failed(fault);
            }
        }
        loop {
            let questions = match self.stage {
                Stage::Begin => self.first_questions(map),
                Stage::Changed => match self.decide(map) {
                    Ok(questions) => questions,
                    Err(text) => return Step::Failed(text),
                },
                Stage::Lists => self.list_questions(),
                Stage::Builds => self.build_questions(map),
                Stage::Over => {
                    return match self.lacks_a_first_list(map) {
                        Some(text) => Step::Failed(text),
                        None => Step::Done(self.finish(map)),
                    };
                }
            };
            if !questions.is_empty() {
                self.rounds += 1;
                self.asked.clone_from(&questions);
                return Step::Ask(questions);
            }
        }
    }

    /// The same after a round that was too large or too slow for the hub or for this server: the tag is listed, and
    /// the files of its builds are asked for in parts. `None`: the round has no such part.
    pub(crate) fn too_much(&mut self, map: &KojiMap) -> Option<Step> {
        let whole = self.asked.iter().find_map(|question| match question {
            Question::TaggedArchives { tag, .. } => Some(*tag),
            _ => None,
        });
        let is_of_builds = self.asked.iter().any(|question| matches!(question, Question::Archives { .. }));
        match whole {
            Some(whole) => self.listed.push_back(whole),
            // Nothing but the past waits for these builds.
            None if is_of_builds && self.is_idle() => self.memory.read_less_past(),
            None if is_of_builds && self.halved < HALVED_MAX => self.halved += 1,
            None => return None,
        }
        self.asked.clear();
        Some(self.next(map, Vec::new()))
    }

    /// The first round: the last event, the tags, and what changed in each.
    fn first_questions(&mut self, map: &KojiMap) -> Vec<Question> {
        self.stage = Stage::Changed;
        if self.memory.record.is_none() && !map.is_empty() {
            self.memory = Memory::restored(map, &self.record, self.now);
            self.memory.record = Some(self.record.clone());
            self.is_restored = true;
        }
        if self.memory.record.as_ref() != Some(&self.record) {
            self.memory.roots.values_mut().for_each(|root| root.is_due = true);
            self.memory.record = Some(self.record.clone());
        }
        let mut questions = vec![Question::LastEvent];
        questions.extend(self.record.asked_patterns().into_iter().map(|pattern| Question::Tags { pattern }));
        let gone = self.memory.roots.iter().filter(|(_, root)| root.is_gone);
        questions.extend(gone.map(|(tag, _)| Question::Tag { tag: *tag }));
        let Some(settled) = self.memory.settled else { return questions };
        let tags = self.memory.all_tags();
        // The whole history of many tags would be too large for one answer.
        let after = if self.is_full && tags.len() <= LISTS_MAX { None } else { Some(settled) };
        for tag in tags {
            if !self.memory.tags.contains_key(&tag) {
                continue;
            }
            // A change that is committed between these answers is in the later one.
            let events = BTreeSet::from([settled, self.memory.last]);
            questions.extend(events.into_iter().map(|event| Question::ChangedSince { event, tags: vec![tag] }));
            questions.push(Question::History { tag, after });
        }
        questions
    }

    /// Decides which tags are read or listed, and asks about tags that are no longer named.
    fn decide(&mut self, map: &KojiMap) -> Result<Vec<Question>, String> {
        self.stage = Stage::Lists;
        let record = &self.record;
        self.taken.tags.retain(|_, name| record.matches(name));
        if self.taken.tags.len() > TAGS_MAX {
            return Err(format!("{} tags match the patterns, and {TAGS_MAX} are the most", self.taken.tags.len()));
        }
        let present: BTreeSet<_> = map.taggings().iter().map(|one| (one.tag, one.build, one.tagged.id)).collect();
        self.begin_again_after_a_restore();
        for tag in self.memory.all_tags() {
            let is_explained = self.is_restored && self.is_explained(tag, &present);
            let known = self.memory.tags.entry(tag).or_default();
            let rows = self.taken.rows.get(&tag).into_iter().flatten();
            let mut changed = false;
            for (event, hash) in rows.filter(|(event, _)| *event <= self.taken.event.id) {
                changed |= known.rows.insert(*hash, *event).is_none()
                    && self.memory.settled.is_none_or(|settled| *event > settled);
            }
            if let Some(now) = self.taken.changed.get(&tag) {
                changed |= *now && !known.has_changed;
                known.has_changed = *now;
            }
            changed &= !is_explained;
            if changed || self.taken.moved.contains(&tag) {
                let has = |(root, facts): &(&TagId, &mut Root)| **root == tag || facts.parents.contains(&tag);
                self.memory.roots.iter_mut().filter(has).for_each(|(_, root)| root.is_due = true);
            }
        }
        for (tag, name) in &self.taken.tags {
            let known = present.range((*tag, BuildId(0), EventId(0))..).next().is_some_and(|(of, ..)| of == tag);
            let root = self.memory.roots.entry(*tag).or_default();
            (root.name, root.is_gone) = (name.clone(), false);
            let is_new = root.listed.is_none() && !known;
            if is_new || self.is_full {
                self.whole.push_back(*tag);
            } else if root.is_due || root.listed.is_none() {
                self.listed.push_back(*tag);
            }
        }
        let gone = self.memory.roots.iter().filter(|(tag, root)| {
            !root.is_gone && !self.taken.tags.contains_key(tag) && !self.taken.names.contains_key(tag)
        });
        Ok(gone.map(|(tag, _)| Question::Tag { tag: *tag }).collect())
    }

    /// Reads all if the last event is older than one that was seen ten minutes ago: the database of the hub was restored,
    /// or the number was wrong then. No question from that event would ever find a change.
    fn begin_again_after_a_restore(&mut self) {
        if self.memory.settled.is_none_or(|settled| settled <= self.taken.event.id) {
            return;
        }
        self.memory.forget_events();
        (self.is_full, self.is_restored) = (true, false);
        self.taken.forget_changes();
    }

    /// Whether a map from before the start has all that changed in a tag since the settled event.
    fn is_explained(&self, tag: TagId, present: &BTreeSet<(TagId, BuildId, EventId)>) -> bool {
        let settled = self.memory.settled.unwrap_or_default();
        let is_since = |event: EventId| event > settled && event <= self.taken.event.id;
        let rows =
            self.taken.rows.get(&tag).map_or(0, |rows| rows.iter().filter(|(event, _)| is_since(*event)).count());
        let mut listings = self.taken.listings.values().filter(|listing| {
            let ended = listing.revoked.as_ref().map_or(EventId(0), |(event, _)| event.id);
            listing.tag == tag && is_since(listing.created.id.max(ended))
        });
        let mut known = 0;
        let all = listings.all(|listing| {
            known += 1;
            present.contains(&(tag, listing.build, listing.created.id)) == listing.revoked.is_none()
        });
        // Blocks and inheritance are in other rows, and a volume is in none.
        all && known == rows && (rows > 0 || self.taken.changed.get(&tag) != Some(&true))
    }

    /// The next lists: a tag that is read whole, or some that are listed.
    fn list_questions(&mut self) -> Vec<Question> {
        self.part_with_tags();
        let (event, inherit) = (Some(self.taken.event.id), self.record.inherit);
        if let Some(tag) = self.whole.pop_front() {
            let plain = self.memory.is_plain;
            let mut questions = self.history_questions(tag);
            questions.push(Question::TaggedArchives { tag, event, inherit, plain });
            return questions;
        }
        let some: Vec<TagId> = self.listed.drain(..self.listed.len().min(LISTS_MAX)).collect();
        let mut questions = Vec::new();
        for tag in some {
            questions.extend(self.history_questions(tag));
            questions.push(Question::Tagged { tag, event, inherit });
        }
        if questions.is_empty() {
            self.stage = Stage::Builds;
        }
        questions
    }

    /// The questions about a tag before it is listed: the tags that it inherits from, and its whole history, unless that
    /// is known. A change that is committed between these answers and the list is found by the next look.
    fn history_questions(&self, tag: TagId) -> Vec<Question> {
        let inheritance = Question::Inheritance { tag, event: Some(self.taken.event.id) };
        let is_known = self.taken.rows.contains_key(&tag);
        let history = Question::History { tag, after: None };
        let questions = [(self.record.inherit, inheritance), (!is_known, history)];
        questions.into_iter().filter_map(|(is, question)| is.then_some(question)).collect()
    }

    /// Parts with tags that have another name now, and keeps tags that are gone: nothing says what became of their
    /// builds.
    fn part_with_tags(&mut self) {
        let names: BTreeMap<TagId, Option<String>> = mem::take(&mut self.taken.names);
        for (tag, name) in names {
            if self.taken.tags.contains_key(&tag) {
                continue;
            }
            match name {
                Some(name) if !self.record.matches(&name) => drop(self.memory.roots.remove(&tag)),
                // It got its name between the two answers.
                Some(_) => {}
                None => {
                    let Some(root) = self.memory.roots.get_mut(&tag) else { continue };
                    let is_empty = root.listed.as_ref().map_or(!self.record.inherit, BTreeSet::is_empty);
                    if is_empty || !self.record.matches(&root.name) {
                        self.memory.roots.remove(&tag);
                        continue;
                    }
                    self.taken.trouble.push(format!("the hub has no tag {} ({}) any more", tag.0, root.name));
                    // If the hub has it again, it is listed.
                    (root.is_gone, root.is_due) = (true, true);
                }
            }
        }
    }

    /// Why a first look has no list of a tag, or not the files of a listed build. Without all of them a map would prove
    /// that files are missing which there are.
    fn lacks_a_first_list(&self, map: &KojiMap) -> Option<String> {
        let (tags, mut builds) = (&self.taken.tags, self.taken.lists.values().flatten());
        let is_lacking = map.is_empty()
            && (tags.keys().any(|tag| !self.taken.lists.contains_key(tag))
                || builds.any(|build| !self.taken.files.contains_key(&build.id)));
        is_lacking.then(|| self.taken.trouble.join("; "))
    }

    /// The files of builds that are new, at most some in a round, and what explains the rest.
    fn build_questions(&mut self, map: &KojiMap) -> Vec<Question> {
        let wants = self.wants(map);
        let mut questions: Vec<Question> = Vec::new();
        questions.extend(wants.histories.iter().map(|tag| Question::History { tag: *tag, after: None }));
        let most = if self.is_idle() { self.memory.past_part() } else { (ARCHIVES_MAX >> self.halved).max(1) };
        questions.extend(wants.states.iter().take(most).map(|build| Question::Build { build: *build }));
        questions.extend(wants.files.iter().take(most).map(|build| Question::Archives { build: *build }));
        if questions.is_empty() {
            self.stage = Stage::Over;
        }
        questions
    }

    /// Whether no tag has to be listed.
    pub(super) fn is_idle(&self) -> bool {
        self.taken.lists.is_empty() && !self.memory.roots.values().any(|root| root.is_due && !root.is_gone)
    }

    /// The event that this look saw.
    pub(crate) fn event(&self) -> EventId {
        self.taken.event.id
    }
}
