//! All files of all builds in the tags of a repository, in memory.
//!
//! In reading order: [`packed`] has the files of a build, [`builds`] the builds with their states and listings,
//! [`folders`] finds the builds of a folder. [`apply`] makes the next map from changes, [`browse`] lists, [`facts`] is
//! for looks and figures.

pub(crate) mod apply;
pub(crate) mod browse;
pub(crate) mod builds;
pub(crate) mod facts;
pub(crate) mod folders;
pub(crate) mod names;
pub(crate) mod packed;
#[cfg(test)]
mod tests;

use crate::maven::koji::change::Gone;
use crate::maven::koji::map::builds::{Builds, End, Listing, Set, State, at};
use crate::maven::koji::map::folders::{Folders, Posting};
use crate::maven::koji::map::names::{NameId, Names};
use crate::record::KojiRecord;
use format::koji::model::{BuildId, EventId, FileDigest, KojiEvent, Nvr, TagId, hex};
pub(crate) use packed::{DigestKind, FoundDigest};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Hashes, Seq};
use telemetry::Millis;

/// The most builds that are told to have lost a folder. A hub may list a million that have the same one.
const LOST_MAX: usize = 10;

/// The map. It is a value: a look makes the next one from it.
#[derive(Debug, Default, Clone)]
pub(crate) struct KojiMap {
    names: Arc<Names>,
    builds: Arc<Builds>,
    folders: Arc<Folders>,
    tags: BTreeMap<TagId, NameId>,
    settled: Option<EventId>,
    /// When a look last read all.
    read_whole: Option<Millis>,
    /// The newest event in it.
    newest: EventId,
    /// The newest event that a look saw, whatever tag it is of.
    seen: EventId,
    /// The last row, and the moment, of the first look.
    first: Option<(Seq, Millis)>,
    last: Seq,
    /// The moment of the last change.
    changed: Millis,
    /// Whether the journal lacks changes of it, because the budget for its rows is used up.
    unrecorded: bool,
    rule: Duplicates,
    /// The rules that looks had, each from its row on. Before the first one it was the default.
    rules: Vec<(Seq, Duplicates)>,
}

/// From when a map is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KojiView {
    Now,
    /// As the journal had it directly after this change, with the rule for duplicates of that time: it stays the same.
    Journal(Seq),
    /// As Koji had it at this event, as far as the journal knows, with the present rule for duplicates.
    Event(EventId),
}

/// The build that has a folder that several builds have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Duplicates {
    /// The one that was tagged last.
    #[default]
    Newest,
    /// The one that was tagged first, while it is tagged.
    Oldest,
}

impl Duplicates {
    /// The rule of these settings.
    pub(crate) fn of(record: &KojiRecord) -> Self {
        Self::of_name(record.takes_oldest())
    }

    fn of_name(oldest: bool) -> Self {
        if oldest { Self::Oldest } else { Self::Newest }
    }
}

/// The build that a folder belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) build: BuildId,
    pub(crate) nvr: Nvr,
    pub(crate) volume: String,
    /// Whether Koji has deleted it since, whatever the moment that is looked at.
    pub(crate) deleted: bool,
    pub(crate) tag: TagId,
    pub(crate) tag_name: String,
    pub(crate) tagged: KojiEvent,
    pub(crate) tagged_by: Option<String>,
    /// When this server first saw it, and whether that was the first look.
    pub(crate) seen: Millis,
    pub(crate) at_first_look: bool,
    /// The date that its age counts from: that of the tagging if it was there at the first look, else its first sight.
    pub(crate) since: Millis,
    /// The first builds that have the folder, too, and lost it by the rule of duplicates.
    pub(crate) lost: Vec<(BuildId, Nvr)>,
}

/// A file of the build that has a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundFile {
    pub(crate) size_bytes: u64,
    pub(crate) digest: FoundDigest,
    /// The row of the journal that has the whole digest, or one of the rows after it. 0: memory has it.
    pub(crate) row: Seq,
    /// The number of rows that may have it.
    pub(crate) rows: usize,
}

impl FoundFile {
    /// Whether a file with these digests may be this one. Of long digests only the first 16 bytes are compared.
    pub(crate) fn may_be(&self, hashes: &Hashes) -> bool {
        let same = match &self.digest {
            FoundDigest::Whole(FileDigest::Md5(bytes)) => hashes.md5.as_deref() == Some(&*hex(bytes)),
            FoundDigest::Whole(FileDigest::Sha1(bytes)) => hashes.sha1 == hex(bytes),
            FoundDigest::Whole(FileDigest::Sha256(bytes)) => hashes.sha256.0 == *bytes,
            FoundDigest::Begins(DigestKind::Sha1, bytes) => hashes.sha1.starts_with(&hex(bytes)),
            FoundDigest::Begins(DigestKind::Sha256, bytes) => hashes.sha256.0.starts_with(bytes),
        };
        same && hashes.size_bytes == self.size_bytes
    }
}

/// Why no build has a folder, as far as the journal knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lack {
    /// No build in the tags ever had it.
    Never,
    /// A build had it, and left the tag.
    Left { nvr: Nvr, tag_name: String, why: Gone, event: Option<KojiEvent>, by: Option<String> },
    /// At that event no build had it yet; this one has it since.
    Later { nvr: Nvr, tag_name: String, tagged: KojiEvent },
}

/// A build that has a folder in a view.
#[derive(Debug, Clone, Copy)]
struct Candidate<'a> {
    build: BuildId,
    state: &'a State,
    set: &'a Set,
    offset: u32,
    /// The listing that the rule decides by.
    listing: &'a Listing,
}

impl KojiMap {
    /// The rule of duplicates.
    pub(crate) fn rule(&self) -> Duplicates {
        self.rule
    }

    /// The rule that the last look recorded.
    pub(crate) fn recorded_rule(&self) -> Duplicates {
        self.rules.last().map(|(_, rule)| *rule).unwrap_or_default()
    }

    /// The rule of a view.
    fn rule_in(&self, view: KojiView) -> Duplicates {
        match view {
            KojiView::Now | KojiView::Event(_) => self.rule,
            KojiView::Journal(seq) => {
                let then = self.rules.iter().take_while(|(from, _)| *from <= seq).last();
                then.map(|(_, rule)| *rule).unwrap_or_default()
            }
        }
    }

    /// The same map with this rule.
    pub(crate) fn by(&self, rule: Duplicates) -> Self {
        Self { rule, ..self.clone() }
    }

    /// The build of a folder, such as `org/example/lamp/1.0`.
    pub(crate) fn place(&self, folder: &str, view: KojiView) -> Result<Place, Box<Lack>> {
        let postings = self.folders.find(folder);
        let candidates = self.candidates(postings.iter().copied(), view);
        match self.owner(&candidates, view) {
            Some(owner) => Ok(self.told(owner, &candidates)),
            None => Err(Box::new(self.lack(&postings, view))),
        }
    }

    /// A file of a folder, of the build that has the folder.
    pub(crate) fn file(&self, folder: &str, name: &str, view: KojiView) -> Option<(Place, FoundFile)> {
        let candidates = self.candidates(self.folders.find(folder).into_iter(), view);
        let owner = self.owner(&candidates, view)?;
        let mut found = None;
        packed::read(&owner.set.packed, owner.offset, folder, |file| {
            found = Some(file).filter(|file| file.name == name);
            found.is_none()
        });
        let file = found?;
        let (row, rows) = rows_of(owner);
        let file = FoundFile { size_bytes: file.size_bytes, digest: file.digest, row, rows };
        Some((self.told(owner, &candidates), file))
    }

    /// The versions of `org/example/lamp` that have a POM, each with its tagging, unordered.
    pub(crate) fn versions(&self, artifact_folder: &str, view: KojiView) -> Vec<(String, KojiEvent)> {
        let artifact = artifact_folder.rsplit('/').next().unwrap_or_default();
        let mut versions = Vec::new();
        self.each_below(artifact_folder, |folder, postings| {
            let version = folder.get(artifact_folder.len() + 1..).filter(|version| !version.contains('/'));
            let candidates = self.candidates(postings, view);
            if let (Some(version), Some(owner)) = (version, self.owner(&candidates, view)) {
                let pom = format!("{artifact}-{version}.pom");
                let mut found = false;
                packed::read(&owner.set.packed, owner.offset, folder, |file| {
                    found = file.name == pom;
                    !found
                });
                if found {
                    versions.push((version.to_owned(), owner.listing.tagged));
                }
            }
            true
        });
        versions
    }

    /// Calls `each` with every folder below a folder, until it returns `false`.
    fn each_below(&self, above: &str, mut each: impl FnMut(&str, &mut dyn Iterator<Item = Posting>) -> bool) {
        let prefix = if above.is_empty() { String::new() } else { format!("{above}/") };
        let mut at = self.folders.seek(&prefix);
        while let Some(here) = at.filter(|here| here.name.starts_with(&prefix)) {
            if !each(&here.name, &mut here.postings()) {
                return;
            }
            at = here.next();
        }
    }

    /// The builds that have a folder.
    fn candidates(&self, postings: impl Iterator<Item = Posting>, view: KojiView) -> Vec<Candidate<'_>> {
        let (builds, rule) = (&self.builds, self.rule_in(view));
        let candidate = |Posting { set: index, offset }| {
            let set = at(&builds.sets, index)?;
            let state = builds.state(set.build, view).filter(|state| state.set == index)?;
            let listings = builds.listings(set.build).filter(|listing| builds.holds(listing, view));
            let listing = match rule {
                Duplicates::Newest => listings.max_by_key(|listing| listing.tagged.id),
                Duplicates::Oldest => listings.min_by_key(|listing| listing.tagged.id),
            };
            let build = at(&builds.builds, set.build)?.id;
            Some(Candidate { build, state, set, offset, listing: listing? })
        };
        postings.filter_map(candidate).collect()
    }

    /// The one of them that has the folder by the rule.
    fn owner<'a>(&self, candidates: &[Candidate<'a>], view: KojiView) -> Option<Candidate<'a>> {
        let key = |candidate: &&Candidate<'_>| (candidate.listing.tagged.id, candidate.build);
        match self.rule_in(view) {
            Duplicates::Newest => candidates.iter().max_by_key(key).copied(),
            Duplicates::Oldest => candidates.iter().min_by_key(key).copied(),
        }
    }

    fn told(&self, owner: Candidate<'_>, candidates: &[Candidate<'_>]) -> Place {
        let (listing, builds) = (owner.listing, &self.builds);
        let first = builds.first_listing(owner.set.build).unwrap_or(listing);
        let at_first_look = self.first == Some((first.seq, first.seen));
        let since = if at_first_look { first.seen.min(Millis(first.tagged.at_ms)) } else { first.seen };
        let lost = candidates.iter().filter(|candidate| candidate.build != owner.build);
        Place {
            build: owner.build,
            nvr: owner.state.nvr(),
            volume: self.names.owned(owner.state.volume),
            deleted: builds.states(owner.set.build).next().is_some_and(|last| last.deleted),
            tag: listing.tag,
            tag_name: self.names.owned(listing.tag_name),
            tagged: listing.tagged,
            tagged_by: self.names.get(listing.by).map(str::to_owned),
            seen: first.seen,
            at_first_look,
            since,
            lost: lost.take(LOST_MAX).map(|candidate| (candidate.build, candidate.state.nvr())).collect(),
        }
    }

    /// Why no build has the folder with these places.
    fn lack(&self, postings: &[Posting], view: KojiView) -> Lack {
        let builds = &self.builds;
        let sets = postings.iter().filter_map(|posting| at(&builds.sets, posting.set));
        let listings: Vec<&Listing> = sets.flat_map(|set| builds.listings(set.build)).collect();
        let is_later = |listing: &&&Listing| match view {
            KojiView::Now => false,
            KojiView::Journal(seq) => listing.seq > seq && !listing.past,
            KojiView::Event(event) => listing.tagged.id > event,
        };
        let nvr = |listing: &Listing| builds.states(listing.build).next().map(State::nvr);
        let is_over = |end: &End| match view {
            KojiView::Now => true,
            KojiView::Journal(seq) => end.seq <= seq,
            KojiView::Event(event) => end.from <= event,
        };
        let ends = listings.iter().filter_map(|listing| Some((*listing, builds.end(listing)?)));
        let ended = ends.filter(|(_, end)| is_over(end) && !end.replaced);
        let last = ended.max_by_key(|(_, end)| (end.from, end.seq));
        if let Some((listing, end)) = last
            && let Some(nvr) = nvr(listing)
        {
            let (tag_name, by) = (self.names.owned(listing.tag_name), self.names.get(end.by).map(str::to_owned));
            return Lack::Left { nvr, tag_name, why: end.why, event: end.event, by };
        }
        let first = listings.iter().filter(is_later).min_by_key(|listing| listing.tagged.id);
        match first.and_then(|listing| Some((listing, nvr(listing)?))) {
            Some((listing, nvr)) => {
                let tag_name = self.names.owned(listing.tag_name);
                Lack::Later { nvr, tag_name, tagged: listing.tagged }
            }
            None => Lack::Never,
        }
    }
}

/// The rows of the journal that may have the files of a folder.
fn rows_of(owner: Candidate<'_>) -> (Seq, usize) {
    let Set { row, further, .. } = owner.set;
    if *row == Seq(0) {
        return (Seq(0), 0);
    }
    // A folder may begin in one row and end in the next.
    let before = further.partition_point(|offset| *offset <= owner.offset);
    (Seq(row.0 + before as u64), further.len() + 1 - before)
}
