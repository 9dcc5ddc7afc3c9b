//! What the answers of a look said.

use crate::maven::koji::change::MappedFile;
use crate::maven::koji::look::HELD_MAX;
use format::koji::answer::{Answer, Build, History, Listing};
use format::koji::left_out;
use format::koji::model::{Archive, BuildId, EventId, KojiEvent, Nvr, TagId, TaggedBuild};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What the answers of a look said.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// The last event when the look began.
    pub(crate) event: KojiEvent,
    /// The tags of the patterns.
    pub(crate) tags: BTreeMap<TagId, String>,
    /// The present names of tags that no pattern named; `None`: there is no such tag.
    pub(crate) names: BTreeMap<TagId, Option<String>>,
    /// Whether a tag changed since the settled event.
    pub(crate) changed: BTreeMap<TagId, bool>,
    /// The tags that changed since the last look.
    pub(crate) moved: BTreeSet<TagId>,
    /// The rows of the history of each tag.
    pub(crate) rows: BTreeMap<TagId, Vec<(EventId, u64)>>,
    /// The tags whose whole history was asked for.
    pub(crate) whole_histories: BTreeSet<TagId>,
    /// The listings in it, by build, tag and event of tagging.
    pub(crate) listings: HashMap<(BuildId, TagId, EventId), Listing>,
    pub(crate) parents: BTreeMap<TagId, Vec<TagId>>,
    /// The builds that each tag lists, without the builds that are left out.
    pub(crate) lists: BTreeMap<TagId, Vec<TaggedBuild>>,
    /// The files of builds.
    pub(crate) files: HashMap<BuildId, Vec<MappedFile>>,
    /// The builds whose files were asked for.
    pub(crate) asked_files: BTreeSet<BuildId>,
    /// What was asked about builds that no list has any more; `None`: there is no such build.
    pub(crate) builds: BTreeMap<BuildId, Option<Build>>,
    pub(crate) left_out: BTreeMap<&'static str, u64>,
    /// Roughly the bytes of all answers so far.
    pub(crate) held: u64,
    /// What the hub refused, though the look went on.
    pub(crate) trouble: Vec<String>,
}

impl Taken {
    /// Counts an answer. Fails with a text if all of them are too many for memory.
    pub(super) fn hold(&mut self, answer: &Answer) -> Result<(), String> {
        self.held = self.held.saturating_add(weight(answer));
        if self.held > HELD_MAX {
            return Err(format!("the tags have more builds and files than fit into {HELD_MAX} bytes"));
        }
        Ok(())
    }

    /// Forgets what was said of changes since an event that is none.
    pub(super) fn forget_changes(&mut self) {
        self.changed.clear();
        self.moved.clear();
        self.rows.clear();
        self.whole_histories.clear();
        self.listings.clear();
    }

    pub(super) fn take_history(&mut self, tag: TagId, after: Option<EventId>, history: History) {
        if after.is_none() {
            self.whole_histories.insert(tag);
        }
        let event = self.event.id;
        self.rows.entry(tag).or_default().extend(history.rows);
        for mut listing in history.listings {
            if listing.created.id > event {
                continue;
            }
            // It ended after the moment of this look.
            listing.revoked.take_if(|(revoked, _)| revoked.id > event);
            self.listings.insert((listing.build, listing.tag, listing.created.id), listing);
        }
    }

    /// The builds that are complete and have plain names. The others are counted.
    pub(super) fn complete(&mut self, builds: Vec<TaggedBuild>) -> Vec<TaggedBuild> {
        let is = |build: &TaggedBuild| match left_out::build(build) {
            Some(reason) => {
                *self.left_out.entry(reason.as_str()).or_default() += 1;
                false
            }
            None => true,
        };
        builds.into_iter().filter(is).collect()
    }

    pub(super) fn take_archives(&mut self, archives: Vec<Archive>) {
        let mut taken: HashMap<BuildId, Vec<MappedFile>> = HashMap::new();
        for archive in archives {
            let Archive { build, group, artifact, version, filename, size_bytes, digest, .. } = &archive;
            match (left_out::archive(&archive), digest) {
                (None, Some(digest)) => {
                    let folder = format!("{}/{artifact}/{version}", group.replace('.', "/"));
                    let file = MappedFile { folder, name: filename.clone(), size_bytes: *size_bytes, digest: *digest };
                    taken.entry(*build).or_default().push(file);
                }
                (reason, _) => {
                    let reason = reason.map_or("digest", |reason| reason.as_str());
                    *self.left_out.entry(reason).or_default() += 1;
                }
            }
        }
        // A build that several tags list has the same files in each list.
        self.files.extend(taken);
    }
}

/// Roughly the bytes of an answer in memory.
fn weight(answer: &Answer) -> u64 {
    let archive = |one: &Archive| {
        let texts = 2 * one.group.len() + 2 * one.artifact.len() + 2 * one.version.len() + one.filename.len();
        (size_of::<Archive>() + texts) as u64
    };
    let name = |nvr: &Nvr| nvr.name.len() + nvr.version.len() + nvr.release.len();
    let build = |one: &TaggedBuild| (2 * size_of::<TaggedBuild>() + name(&one.nvr) + one.tag_name.len()) as u64;
    let listing = |one: &Listing| (2 * size_of::<Listing>() + name(&one.nvr)) as u64;
    match answer {
        Answer::TaggedArchives { archives, builds } => {
            archives.iter().map(archive).sum::<u64>() + builds.iter().map(build).sum::<u64>()
        }
        Answer::Tagged(builds) => builds.iter().map(build).sum(),
        Answer::Archives(archives) => archives.iter().map(archive).sum(),
        Answer::History(history) => history.listings.iter().map(listing).sum::<u64>() + 64 * history.rows.len() as u64,
        Answer::Tags(tags) => tags.iter().map(|tag| (64 + tag.name.len()) as u64).sum(),
        Answer::LastEvent(_) | Answer::Tag(_) | Answer::Build(_) | Answer::ChangedSince(_) => 64,
        Answer::Inheritance(parents) => 8 * parents.len() as u64,
    }
}
