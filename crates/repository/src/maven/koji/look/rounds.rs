//! The questions of each round of a look.

use crate::maven::koji::look::memory::Root;
use crate::maven::koji::look::{ARCHIVES_MAX, LISTS_MAX, Look, Stage, Step, TAGS_MAX};
use crate::maven::koji::map::KojiMap;
use format::koji::answer::{Answer, Fault};
use format::koji::model::{EventId, TagId};
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
                Stage::Over => return Step::Done(self.finish(map)),
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
        })?;
        self.asked.clear();
        self.listed.push_back(whole);
        Some(self.next(map, Vec::new()))
    }

    /// The first round: the last event, the tags, and what changed in each.
    fn first_questions(&mut self, map: &KojiMap) -> Vec<Question> {
        self.stage = Stage::Changed;
        if self.memory.record.as_ref() != Some(&self.record) {
            self.memory.roots.values_mut().for_each(|root| root.is_due = true);
            self.memory.record = Some(self.record.clone());
        }
        if self.memory.settled.is_none() {
            self.memory.settled = map.settled();
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
        self.restore_roots(map);
        for tag in self.memory.all_tags() {
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
            if changed || self.taken.moved.contains(&tag) {
                let has = |(root, facts): &(&TagId, &mut Root)| **root == tag || facts.parents.contains(&tag);
                self.memory.roots.iter_mut().filter(has).for_each(|(_, root)| root.is_due = true);
            }
        }
        for (tag, name) in &self.taken.tags {
            let known = map.taggings().iter().any(|tagging| tagging.tag == *tag);
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

    /// The tags that the map has from before the start.
    fn restore_roots(&mut self, map: &KojiMap) {
        if !self.memory.roots.is_empty() {
            return;
        }
        let taggings = map.taggings();
        for (tag, name) in map.tags() {
            if taggings.iter().any(|tagging| tagging.tag == tag) {
                self.memory.roots.insert(tag, Root { name, is_due: true, ..Root::default() });
            }
        }
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

    /// What is asked of a tag before it is listed: the tags that it inherits from, and its whole history, unless that
    /// is known. What is committed between these answers and the list is found by the next look.
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
                    self.taken.trouble.push(format!("the hub has no tag {} ({}) any more", tag.0, root.name));
                    root.is_gone = true;
                }
            }
        }
    }

    /// The files of builds that are new, at most some in a round, and what explains the rest.
    fn build_questions(&mut self, map: &KojiMap) -> Vec<Question> {
        let wants = self.wants(map);
        let mut questions: Vec<Question> = Vec::new();
        questions.extend(wants.histories.iter().map(|tag| Question::History { tag: *tag, after: None }));
        questions.extend(wants.states.iter().take(ARCHIVES_MAX).map(|build| Question::Build { build: *build }));
        questions.extend(wants.files.iter().take(ARCHIVES_MAX).map(|build| Question::Archives { build: *build }));
        if questions.is_empty() {
            self.stage = Stage::Over;
        }
        questions
    }

    /// The event that this look saw.
    pub(crate) fn event(&self) -> EventId {
        self.taken.event.id
    }
}
