//! A hub in memory: it answers as Koji does, also of changes whose number was given long before their commit.

use format::koji::answer::{Answer, Build, Fault, History, Listing};
use format::koji::model::{Archive, BuildId, BuildState, EventId, FileDigest, KojiEvent, Nvr, Tag, TagId, TaggedBuild};
use format::koji::question::Question;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A hub.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    /// The time of its clock, in milliseconds.
    pub(crate) now: i64,
    /// By how much the clock of this server is behind.
    pub(crate) slow_by: i64,
    events: BTreeMap<u64, i64>,
    /// Numbers that were given, whether or not their change was committed.
    numbers: u64,
    committed: u64,
    pub(crate) tags: BTreeMap<u32, String>,
    pub(crate) builds: BTreeMap<u32, HubBuild>,
    rows: Vec<Row>,
    moves: Vec<(u64, u32)>,
    /// Changes that have their number and are not committed.
    pub(crate) open: Vec<(u64, Act)>,
    /// Whether it knows no argument `extra`.
    pub(crate) is_old: bool,
    archives: u64,
}

#[derive(Debug)]
pub(crate) struct HubBuild {
    pub(crate) package: String,
    pub(crate) volume: String,
    pub(crate) state: BuildState,
    pub(crate) files: Vec<Archive>,
}

/// A row of a table with versions.
#[derive(Debug, Clone)]
struct Row {
    what: What,
    tag: u32,
    created: u64,
    revoked: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum What {
    Listing(u32),
    Block(String),
    Parent(u32),
}

/// A change of the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    Tag(u32, u32),
    Untag(u32, u32),
    Block(u32, String),
    Unblock(u32, String),
    Inherit(u32, u32),
    Disinherit(u32, u32),
    Move(u32, String),
}

impl Hub {
    /// A change with its number, which [`Self::commit`] makes visible.
    pub(crate) fn begin(&mut self, act: Act) -> u64 {
        self.numbers += 1;
        self.events.insert(self.numbers, self.now);
        self.open.push((self.numbers, act));
        self.numbers
    }

    /// Commits the open change at this place.
    pub(crate) fn commit(&mut self, at: usize) {
        let (number, act) = self.open.remove(at);
        match act {
            Act::Tag(tag, build) => {
                let is_listed = self.find(tag, &What::Listing(build)).is_some();
                if !is_listed && self.builds[&build].state == BuildState::Complete {
                    self.rows.push(Row { what: What::Listing(build), tag, created: number, revoked: None });
                }
            }
            Act::Untag(tag, build) => self.revoke(tag, &What::Listing(build), number),
            Act::Block(tag, package) => self.add(tag, What::Block(package), number),
            Act::Unblock(tag, package) => self.revoke(tag, &What::Block(package), number),
            Act::Inherit(tag, parent) => {
                if tag != parent && !self.chain(parent, None).contains(&tag) {
                    self.add(tag, What::Parent(parent), number);
                }
            }
            Act::Disinherit(tag, parent) => self.revoke(tag, &What::Parent(parent), number),
            Act::Move(build, volume) => {
                self.builds.get_mut(&build).unwrap().volume = volume;
                self.moves.push((number, build));
            }
        }
        self.committed = self.committed.max(number);
    }

    /// Whether the open change at this place would be open for nine minutes then.
    pub(crate) fn is_old_at(&self, at: usize, minutes: i64) -> bool {
        self.now + minutes * 60_000 - self.events[&self.open[at].0] >= 9 * 60_000
    }

    /// A change that is committed at once.
    pub(crate) fn act(&mut self, act: Act) -> u64 {
        let number = self.begin(act);
        self.commit(self.open.len() - 1);
        number
    }

    /// A tag.
    pub(crate) fn tag(&mut self, name: &str) -> u32 {
        let id = self.tags.keys().last().map_or(1, |last| last + 1);
        self.tags.insert(id, name.to_owned());
        id
    }

    /// A build with files of these folders.
    pub(crate) fn build(&mut self, package: &str, folders: &[(&str, &str)]) -> u32 {
        let id = self.builds.keys().last().map_or(1, |last| last + 1);
        let (volume, state) = ("DEFAULT".to_owned(), BuildState::Complete);
        self.builds.insert(id, HubBuild { package: package.to_owned(), volume, state, files: Vec::new() });
        for (artifact, version) in folders {
            self.file(id, artifact, version, "pom");
        }
        id
    }

    /// Adds a file to a build, without an event.
    pub(crate) fn file(&mut self, build: u32, artifact: &str, version: &str, ending: &str) {
        self.archives += 1;
        let digest = Some(FileDigest::Md5(u128::from(self.archives).to_be_bytes()));
        let archive = Archive {
            id: self.archives,
            build: BuildId(build),
            group: "org.example".to_owned(),
            artifact: artifact.to_owned(),
            version: version.to_owned(),
            filename: format!("{artifact}-{version}-{}.{ending}", self.archives),
            size_bytes: self.archives,
            digest,
            metadata_only: false,
        };
        self.builds.get_mut(&build).unwrap().files.push(archive);
    }

    /// Deletes a build, after it was untagged everywhere.
    pub(crate) fn delete(&mut self, build: u32) {
        let tags: Vec<u32> = self.tags.keys().copied().collect();
        for tag in tags {
            if self.find(tag, &What::Listing(build)).is_some() {
                self.act(Act::Untag(tag, build));
            }
        }
        self.builds.get_mut(&build).unwrap().state = BuildState::Deleted;
    }

    /// The answer to a question.
    pub(crate) fn answer(&self, question: &Question) -> Result<Answer, Fault> {
        Ok(match question {
            Question::LastEvent => Answer::LastEvent(self.event(self.committed)),
            Question::Event { event } => Answer::LastEvent(self.event(event.0)),
            Question::Tags { pattern } => {
                let pattern = pattern.to_lowercase();
                let is = |name: &str| match pattern.strip_suffix('*') {
                    Some(start) => name.to_lowercase().starts_with(start),
                    None => name.to_lowercase() == pattern,
                };
                let tags = self.tags.iter().filter(|(_, name)| is(name));
                Answer::Tags(tags.map(|(id, name)| Tag { id: TagId(*id), name: name.clone() }).collect())
            }
            Question::Tag { tag } => {
                Answer::Tag(self.tags.get(&tag.0).map(|name| Tag { id: *tag, name: name.clone() }))
            }
            Question::TaggedArchives { plain: false, .. } if self.is_old => return Err(fault(1019)),
            Question::TaggedArchives { tag, event, inherit, .. } => {
                let builds = self.tagged(*tag, *event, *inherit)?;
                let ids: BTreeSet<u32> = builds.iter().map(|build| build.id.0).collect();
                let archives = ids.iter().flat_map(|build| self.builds[build].files.clone()).collect();
                Answer::TaggedArchives { archives, builds }
            }
            Question::Tagged { tag, event, inherit } => Answer::Tagged(self.tagged(*tag, *event, *inherit)?),
            Question::Archives { build } => Answer::Archives(self.builds[&build.0].files.clone()),
            Question::Build { build } => Answer::Build(self.builds.get(&build.0).map(|found| Build {
                id: *build,
                nvr: nvr(&found.package, build.0),
                volume: found.volume.clone(),
                state: found.state,
            })),
            Question::Inheritance { tag, event } => {
                let chain = self.chain(tag.0, event.map(|event| event.0));
                Answer::Inheritance(chain.into_iter().skip(1).map(TagId).collect())
            }
            Question::ChangedSince { event, tags } => {
                let is = |tag: u32| {
                    let rows = self.rows.iter().any(|row| row.tag == tag && row.newest() > event.0);
                    let in_tag =
                        |build: u32| self.rows.iter().any(|row| row.tag == tag && row.what == What::Listing(build));
                    rows || self.moves.iter().any(|(at, build)| *at > event.0 && in_tag(*build))
                };
                Answer::ChangedSince(tags.iter().any(|tag| is(tag.0)))
            }
            Question::History { tag, after } => Answer::History(self.history(tag.0, after.unwrap_or_default().0)),
        })
    }

    fn tagged(&self, tag: TagId, event: Option<EventId>, inherit: bool) -> Result<Vec<TaggedBuild>, Fault> {
        if !self.tags.contains_key(&tag.0) {
            return Err(fault(1000));
        }
        let event = event.map(|event| event.0);
        let chain = if inherit { self.chain(tag.0, event) } else { vec![tag.0] };
        let blocked = |package: &str| {
            let is = |row: &&Row| chain.contains(&row.tag) && row.what == What::Block(package.to_owned());
            self.rows.iter().filter(is).any(|row| row.is_active(event))
        };
        let mut builds = Vec::new();
        for tag in &chain {
            for row in self.rows.iter().filter(|row| row.tag == *tag && row.is_active(event)) {
                let What::Listing(id) = row.what else { continue };
                let build = &self.builds[&id];
                if build.state != BuildState::Complete || blocked(&build.package) {
                    continue;
                }
                builds.push(TaggedBuild {
                    id: BuildId(id),
                    nvr: nvr(&build.package, id),
                    volume: build.volume.clone(),
                    state: build.state,
                    tag: TagId(*tag),
                    tag_name: self.tags[tag].clone(),
                    tagged: EventId(row.created),
                    completed_ms: None,
                    owner: None,
                });
            }
        }
        Ok(builds)
    }

    /// A tag and the tags that it inherits from.
    pub(crate) fn chain(&self, tag: u32, event: Option<u64>) -> Vec<u32> {
        let mut chain = vec![tag];
        let mut at = 0;
        while let Some(child) = chain.get(at).copied() {
            for row in self.rows.iter().filter(|row| row.tag == child && row.is_active(event)) {
                if let What::Parent(parent) = row.what
                    && !chain.contains(&parent)
                {
                    chain.push(parent);
                }
            }
            at += 1;
        }
        chain
    }

    fn history(&self, tag: u32, after: u64) -> History {
        let mut history = History::default();
        for row in self.rows.iter().filter(|row| row.tag == tag && row.newest() > after) {
            let mut hasher = DefaultHasher::new();
            (&row.what, row.created, row.revoked).hash(&mut hasher);
            history.rows.push((EventId(row.newest()), hasher.finish()));
            let What::Listing(id) = row.what else { continue };
            let build = &self.builds[&id];
            history.listings.push(Listing {
                build: BuildId(id),
                nvr: nvr(&build.package, id),
                state: build.state,
                tag: TagId(tag),
                created: self.event(row.created),
                creator: Some("ann".to_owned()),
                revoked: row.revoked.map(|at| (self.event(at), Some("bob".to_owned()))),
            });
        }
        history
    }

    fn event(&self, number: u64) -> KojiEvent {
        KojiEvent { id: EventId(number), at_ms: self.events.get(&number).copied().unwrap_or_default() }
    }

    fn find(&mut self, tag: u32, what: &What) -> Option<&mut Row> {
        self.rows.iter_mut().find(|row| row.tag == tag && row.what == *what && row.revoked.is_none())
    }

    fn add(&mut self, tag: u32, what: What, number: u64) {
        if self.find(tag, &what).is_none() {
            self.rows.push(Row { what, tag, created: number, revoked: None });
        }
    }

    fn revoke(&mut self, tag: u32, what: &What, number: u64) {
        // Koji locks the row, so a change with a lower number never comes later.
        if let Some(row) = self.find(tag, what)
            && row.created < number
        {
            row.revoked = Some(number);
        }
    }
}

impl Row {
    fn is_active(&self, event: Option<u64>) -> bool {
        let event = event.unwrap_or(u64::MAX);
        self.created <= event && self.revoked.is_none_or(|revoked| revoked > event)
    }

    fn newest(&self) -> u64 {
        self.revoked.unwrap_or(self.created)
    }
}

fn nvr(package: &str, build: u32) -> Nvr {
    Nvr { name: package.to_owned(), version: "1".to_owned(), release: build.to_string() }
}

fn fault(code: i64) -> Fault {
    Fault { code, text: "no such tag".to_owned() }
}
