//! A hub in memory, and the map of it that looks make.

use crate::maven::koji::change::{Change, Gone, MappedBuild, Tagging};
use crate::maven::koji::look::memory::Memory;
use crate::maven::koji::look::tests::hub_model::Hub;
use crate::maven::koji::look::{Look, Step};
use crate::maven::koji::map::{KojiMap, KojiView};
use crate::record::KojiRecord;
use format::koji::answer::{Answer, Fault};
use format::koji::model::{BuildId, EventId, TagId};
use format::koji::question::Question;
use std::collections::{BTreeMap, BTreeSet};
use store::Seq;
use telemetry::Millis;

/// A map that keeps what the changes say.
#[derive(Debug, Default)]
pub(super) struct PlainMap {
    pub(super) builds: BTreeMap<BuildId, MappedBuild>,
    pub(super) taggings: BTreeMap<(BuildId, TagId), Tagging>,
    pub(super) past: BTreeSet<(BuildId, TagId, EventId)>,
    pub(super) tags: BTreeMap<TagId, String>,
    pub(super) settled: Option<EventId>,
}

impl PlainMap {
    pub(super) fn apply(&mut self, changes: &[Change]) {
        for change in changes {
            match change.clone() {
                Change::Build(build) => drop(self.builds.insert(build.id, build)),
                Change::Facts { build, volume, deleted } => {
                    let build = self.builds.get_mut(&build).unwrap();
                    (build.volume, build.deleted) = (volume, deleted);
                }
                Change::Tagged(tagging) => {
                    assert!(self.builds.contains_key(&tagging.build), "{tagging:?}");
                    let before = self.taggings.insert((tagging.build, tagging.tag), tagging);
                    assert_eq!(before, None);
                }
                Change::Gone { build, tag, why, .. } => {
                    let before = self.taggings.remove(&(build, tag)).unwrap();
                    self.past.insert((build, tag, before.tagged.id));
                    self.builds.get_mut(&build).unwrap().deleted |= why == Gone::Deleted;
                }
                Change::Past { tagging, .. } => {
                    assert!(self.builds.contains_key(&tagging.build), "{tagging:?}");
                    assert!(self.past.insert((tagging.build, tagging.tag, tagging.tagged.id)));
                }
                Change::Tag { tag, name } => drop(self.tags.insert(tag, name)),
                Change::Settled { event, .. } => self.settled = Some(event),
                Change::Rule { .. } => {}
            }
        }
    }
}

/// A hub, the map of it, and the state of the looks.
#[derive(Debug)]
pub(super) struct World {
    pub(super) hub: Hub,
    pub(super) map: PlainMap,
    pub(super) koji: KojiMap,
    pub(super) commits: u64,
    pub(super) memory: Memory,
    pub(super) record: KojiRecord,
    /// The most builds that a list of archives may have.
    pub(super) most: usize,
    /// The most builds whose files may be asked for at once.
    pub(super) most_asked: usize,
}

/// What a look did.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) rounds: usize,
    pub(super) changes: Vec<Change>,
    pub(super) trouble: Vec<String>,
}

impl World {
    pub(super) fn new(inherit: bool) -> Self {
        let record = KojiRecord {
            hub: "http://koji.example.org/kojihub".into(),
            files: "http://koji.example.org/kojifiles".into(),
            tags: vec!["rel-*".into(), "extra".into()],
            inherit,
            duplicates: None,
        };
        let mut hub = Hub::default();
        hub.now = 86_400_000;
        Self {
            hub,
            map: PlainMap::default(),
            koji: KojiMap::default(),
            commits: 0,
            memory: Memory::default(),
            record,
            most: usize::MAX,
            most_asked: usize::MAX,
        }
    }

    /// A look, with something that happens before each answer. `None`: it failed.
    pub(super) fn look_while(&mut self, mut meanwhile: impl FnMut(&mut Hub) -> bool) -> Option<Looked> {
        let now = Millis(self.hub.now - self.hub.slow_by);
        let mut look = Look::new(self.record.clone(), self.memory.clone(), now);
        let (mut step, mut rounds) = (look.next(&self.koji, Vec::new()), 0);
        loop {
            match step {
                Step::Ask(questions) => {
                    rounds += 1;
                    assert!(rounds < 100, "{questions:?}");
                    let mut answers: Vec<Result<Answer, Fault>> = Vec::new();
                    let archives = |question: &&Question| matches!(question, Question::Archives { .. });
                    let mut is_too_much = questions.iter().filter(archives).count() > self.most_asked;
                    for question in &questions {
                        if !meanwhile(&mut self.hub) {
                            return None;
                        }
                        let answer = self.hub.answer(question);
                        if let Ok(Answer::TaggedArchives { builds, .. }) = &answer {
                            is_too_much |= builds.len() > self.most;
                        }
                        answers.push(answer);
                    }
                    step = match is_too_much {
                        true => look.too_much(&self.koji).unwrap(),
                        false => look.next(&self.koji, answers),
                    };
                }
                Step::Done(changes) => {
                    self.map.apply(&changes);
                    if !changes.is_empty() {
                        self.commits += 1;
                        self.koji.apply(&changes, now, Seq(self.commits));
                    }
                    self.memory = look.memory;
                    return Some(Looked { rounds, changes, trouble: look.taken.trouble });
                }
                Step::Failed(text) => panic!("{text}"),
            }
        }
    }

    pub(super) fn look(&mut self) -> Looked {
        self.look_while(|_| true).unwrap()
    }

    pub(super) fn minutes(&mut self, minutes: i64) {
        self.hub.now += minutes * 60_000;
    }

    /// Fails unless the map has what the hub lists.
    pub(super) fn compare(&self, of: &str) {
        let (mut builds, mut listed) = (BTreeMap::new(), BTreeMap::new());
        for (tag, _) in self.hub.tags.iter().filter(|(_, name)| self.record.matches(name)) {
            let question =
                Question::TaggedArchives { tag: TagId(*tag), event: None, inherit: self.record.inherit, plain: true };
            let Ok(Answer::TaggedArchives { builds: found, archives }) = self.hub.answer(&question) else { panic!() };
            for build in found {
                listed.insert((build.id, build.tag), build.tagged);
                let files = archives.iter().filter(|file| file.build == build.id).map(|file| file.filename.clone());
                builds.insert(build.id, (build.volume.clone(), files.collect::<BTreeSet<_>>()));
            }
        }
        let present: BTreeMap<_, _> = self.map.taggings.iter().map(|(key, one)| (*key, one.tagged.id)).collect();
        assert_eq!(present, listed, "{of}");
        let mapped = self.koji.taggings().into_iter().map(|one| ((one.build, one.tag), one.tagged.id));
        assert_eq!(mapped.collect::<BTreeMap<_, _>>(), listed, "{of}");
        for tagging in self.map.taggings.values() {
            assert_eq!(tagging.tagged_by.as_deref(), Some("ann"), "{of}: {tagging:?}");
        }
        let mut owners = BTreeMap::new();
        for ((build, _), tagged) in &listed {
            for file in &self.hub.builds[&build.0].files {
                let owner = owners
                    .entry(format!("org/example/{}/{}", file.artifact, file.version))
                    .or_insert((*tagged, *build));
                *owner = (*owner).max((*tagged, *build));
            }
        }
        for (folder, (_, build)) in &owners {
            let place = self.koji.place(folder, KojiView::Now).unwrap();
            assert_eq!((place.build, &place.volume), (*build, &builds[build].0), "{of}: {folder}");
            for file in self.hub.builds[&build.0]
                .files
                .iter()
                .filter(|file| folder.ends_with(&format!("{}/{}", file.artifact, file.version)))
            {
                assert!(self.koji.file(folder, &file.filename, KojiView::Now).is_some(), "{of}: {file:?}");
            }
        }
        for (id, (volume, files)) in builds {
            let mapped = &self.map.builds[&id];
            let names: BTreeSet<_> = mapped.files.iter().map(|file| file.name.clone()).collect();
            assert_eq!((&mapped.volume, &names, mapped.deleted), (&volume, &files, false), "{of}: {id:?}");
        }
    }
}
