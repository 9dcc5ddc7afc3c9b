//! Takes the answers of a look.

use crate::maven::koji::look::{Look, TAGS_MAX};
use format::koji::answer::{Answer, Fault};
use format::koji::question::Question;
use std::collections::BTreeSet;

/// The code of the fault for an argument that the hub does not know.
const WRONG_ARGUMENTS: i64 = 1019;

impl Look {
    /// Takes an answer. Fails with a text if nothing can be decided without it.
    pub(super) fn take(&mut self, question: Question, answer: Result<Answer, Fault>) -> Result<(), String> {
        let answer = match answer {
            Ok(answer) => answer,
            Err(fault) => return self.take_fault(&question, &fault),
        };
        let taken = &mut self.taken;
        taken.hold(&answer)?;
        match (question, answer) {
            (Question::LastEvent, Answer::LastEvent(event)) => taken.event = event,
            (Question::Tags { .. }, Answer::Tags(tags)) => {
                taken.tags.extend(tags.into_iter().map(|tag| (tag.id, tag.name)));
            }
            (Question::Tag { tag }, Answer::Tag(found)) => {
                taken.names.insert(tag, found.map(|found| found.name));
            }
            (Question::ChangedSince { event, tags }, Answer::ChangedSince(changed)) => {
                if Some(event) == self.memory.settled {
                    taken.changed.extend(tags.iter().map(|tag| (*tag, changed)));
                }
                if event == self.memory.last && changed {
                    taken.moved.extend(tags);
                }
            }
            (Question::History { tag, after }, Answer::History(history)) => taken.take_history(tag, after, history),
            (Question::Inheritance { tag, .. }, Answer::Inheritance(parents)) => {
                let all: BTreeSet<_> = taken.parents.values().flatten().chain(&parents).collect();
                if all.len() > TAGS_MAX {
                    return Err(format!("the tags inherit from more than {TAGS_MAX} others, which are the most"));
                }
                taken.parents.insert(tag, parents);
            }
            (Question::TaggedArchives { tag, .. }, Answer::TaggedArchives { archives, builds }) => {
                taken.take_archives(archives);
                let builds = taken.complete(builds);
                for build in &builds {
                    taken.asked_files.insert(build.id);
                    taken.files.entry(build.id).or_default();
                }
                taken.lists.insert(tag, builds);
            }
            (Question::Tagged { tag, .. }, Answer::Tagged(builds)) => {
                let counted = taken.left_out.clone();
                let builds = taken.complete(builds);
                if !self.is_full && self.memory.full.is_some() {
                    // The last full look counted them.
                    taken.left_out = counted;
                }
                taken.lists.insert(tag, builds);
            }
            (Question::Archives { build }, Answer::Archives(archives)) => {
                taken.asked_files.insert(build);
                taken.files.insert(build, Vec::new());
                taken.take_archives(archives.into_iter().filter(|archive| archive.build == build).collect());
            }
            (Question::Build { build }, Answer::Build(found)) => {
                taken.builds.insert(build, found);
            }
            (question, _) => return Err(format!("the hub answered another question than {question:?}")),
        }
        Ok(())
    }

    fn take_fault(&mut self, question: &Question, fault: &Fault) -> Result<(), String> {
        let text = format!("{question:?}: fault {}: {}", fault.code, fault.text);
        let taken = &mut self.taken;
        match question {
            Question::LastEvent | Question::Tags { .. } | Question::Tag { .. } => return Err(text),
            Question::TaggedArchives { tag, plain: false, .. } if fault.code == WRONG_ARGUMENTS => {
                self.memory.is_plain = true;
                self.whole.push_front(*tag);
                return Ok(());
            }
            // The hub may be able to list the tag, and the files of its builds in parts.
            Question::TaggedArchives { tag, .. } => {
                self.listed.push_back(*tag);
                return Ok(());
            }
            Question::Archives { build } => {
                taken.asked_files.insert(*build);
            }
            Question::Build { build } => {
                taken.builds.insert(*build, None);
            }
            Question::History { tag, after } => {
                if after.is_none() {
                    taken.whole_histories.insert(*tag);
                }
                // Without its history nobody knows whether it changed.
                taken.moved.insert(*tag);
            }
            Question::ChangedSince { tags, .. } => taken.moved.extend(tags.iter().copied()),
            Question::Event { .. } | Question::Inheritance { .. } | Question::Tagged { .. } => {}
        }
        taken.trouble.push(text);
        Ok(())
    }
}
