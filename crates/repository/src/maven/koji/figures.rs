//! How the map of a Koji repository stands, and what a change of its settings would take away, for operators.

use crate::error::Result;
use crate::maven::koji::load::load;
use crate::maven::koji::map::KojiMap;
use crate::maven::koji::words::name;
use crate::moment::{self, Moment};
use crate::record::{KojiRecord, tag_pattern};
use crate::repository::Repository;
use crate::services::{Served, Services};
use format::koji::model::{BuildId, TagId};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use telemetry::{Event, Millis, Reason};

/// Most builds that a preview names.
const NAMED_MAX: usize = 10;

/// The map of a Koji repository: all files of all builds in its tags. Absent before the first look at the hub.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "KojiMap")]
pub struct KojiFigures {
    /// The tags that have builds.
    pub tags: Vec<String>,
    /// The patterns of the settings that no tag of the hub matches.
    pub without_tags: Vec<String>,
    /// How many builds are in them.
    pub builds: u64,
    /// How many files these have.
    pub files: u64,
    /// The newest event of the hub that a look saw. `NAME@koji-EVENT` is the repository as of it.
    pub event: u64,
    /// When the hub was last looked at. Null: not since the start.
    #[serde(rename = "looked_at", serialize_with = "moment::known")]
    #[schemars(with = "Option<Moment>")]
    pub looked: Millis,
    /// When a look last confirmed the map.
    #[serde(serialize_with = "moment::known")]
    #[schemars(with = "Option<Moment>")]
    pub confirmed: Millis,
    /// Why no look has confirmed it since: the map is stale. Null: it is not.
    #[serde(serialize_with = "name_of")]
    #[schemars(with = "Option<String>")]
    pub failure: Option<Reason>,
    /// Calls of the hub for each request that the map answered, since the start. Null: there was no such request.
    pub calls_per_request: Option<f64>,
    /// How many builds and files of the hub are left out, by the reason. Reasons without any are absent.
    pub left_out: BTreeMap<&'static str, u64>,
}

/// What other settings of a Koji hub would change, as far as the map knows it. Absent where they change no build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "KojiPreview")]
pub struct KojiForeseen {
    /// How many builds would leave, because no tag of theirs is named any more. Null: the next look decides.
    pub builds: Option<u64>,
    /// How many files these have.
    pub files: Option<u64>,
    /// The first 10 of them.
    pub named: Vec<String>,
    /// The same in words, with what the next look decides.
    pub text: String,
}

fn name_of<S: Serializer>(reason: &Option<Reason>, to: S) -> Result<S::Ok, S::Error> {
    reason.map(Reason::as_str).serialize(to)
}

impl Repository {
    /// How its map stands. `None`: it is no repository of a Koji hub, or no map is in memory.
    pub fn koji_figures(&self) -> Option<KojiFigures> {
        self.record.koji()?;
        let known = self.shared.koji().known(self.origin)?;
        let totals = known.map.totals();
        let mut tags: Vec<String> = totals.tags.into_iter().map(|(_, name)| name).collect();
        tags.sort_unstable();
        Some(KojiFigures {
            tags,
            without_tags: self.koji_patterns_without_tags(),
            builds: totals.builds,
            files: totals.files,
            event: known.event.0,
            looked: known.tried,
            confirmed: known.checked,
            failure: known.failed,
            calls_per_request: self.shared.koji().counted.calls_per_request(),
            left_out: known.left_out.into_iter().filter(|(_, count)| *count > 0).collect(),
        })
    }

    /// Why the last look at the hub failed, before a first one succeeded: no map is in memory.
    pub fn koji_failure(&self) -> Option<String> {
        self.record.koji()?;
        let state = self.shared.koji();
        let failure = state.follow.failure_after(self.origin, 0).filter(|_| state.known(self.origin).is_none())?;
        Some(format!("{}: {}", failure.reason.as_str(), failure.detail()))
    }

    /// The patterns of its settings that no tag matches, as far as the map knows.
    pub(crate) fn koji_patterns_without_tags(&self) -> Vec<String> {
        let (Some(record), Some(known)) = (self.record.koji(), self.shared.koji().known(self.origin)) else {
            return Vec::new();
        };
        let tags = known.map.tags();
        record
            .tags
            .iter()
            .filter(|pattern| !tags.iter().any(|(_, tag)| tag_pattern::matches(pattern, tag)))
            .cloned()
            .collect()
    }

    /// What the settings of `then` would change in the map of this repository. `None`: nothing, or it has no map.
    pub fn koji_foreseen(&self, then: &Self) -> Option<KojiForeseen> {
        let (before, after) = (self.record.koji()?, then.record.koji()?);
        if self.origin != then.origin || before == after {
            return None;
        }
        let known = self.shared.koji().known(self.origin)?;
        Some(foresee(&known.map, before, after))
    }
}

/// Reads the map of a Koji repository from the journal, unless it is in memory. It does not ask the hub.
pub async fn load_koji(services: &Services, name: &str, event: &mut Event) -> Result<()> {
    let (repository, settings) = services.find(name, event).await?;
    if repository.record.koji().is_some() {
        load(&Served { services, repository: &repository, settings: &settings }.remote(), event).await?;
    }
    Ok(())
}

fn foresee(map: &KojiMap, before: &KojiRecord, after: &KojiRecord) -> KojiForeseen {
    let mut sentences = Vec::new();
    let (mut builds, mut files, mut named) = (None, None, Vec::new());
    if (&before.tags, before.inherit) != (&after.tags, after.inherit) {
        // Which parents a tag inherits from, and which other tags there are, is known to the hub alone.
        if after.inherit {
            sentences.push(
                "the next look at the hub decides which builds are in these tags and in those above them".to_owned(),
            );
        } else {
            let gone = leaving(map, after);
            let all = gone.iter().filter_map(|build| map.build(*build));
            let (mut count, mut nvrs) = (0, Vec::new());
            for build in all {
                count += u64::from(build.files);
                nvrs.push(name(&build.nvr));
            }
            nvrs.sort_unstable();
            sentences.push(format!(
                "builds that would leave with their tags: {}, with files: {count}; the next look at the hub decides which ones come",
                gone.len()
            ));
            (builds, files) = (Some(gone.len() as u64), Some(count));
            named = nvrs.into_iter().take(NAMED_MAX).collect();
        }
    }
    if before.takes_oldest() != after.takes_oldest() {
        let which = if after.takes_oldest() { "first" } else { "last" };
        sentences
            .push(format!("versions that several builds have would be those of the build that was tagged {which}"));
    }
    KojiForeseen { builds, files, named, text: sentences.join("; ") }
}

/// The builds in the tags now that no tag of these settings has.
fn leaving(map: &KojiMap, after: &KojiRecord) -> BTreeSet<BuildId> {
    let names: BTreeMap<TagId, String> = map.tags().into_iter().collect();
    let (mut stay, mut gone) = (BTreeSet::new(), BTreeSet::new());
    for one in map.taggings() {
        let name = names.get(&one.tag).unwrap_or(&one.tag_name);
        let side = if after.matches(name) { &mut stay } else { &mut gone };
        side.insert(one.build);
    }
    gone.difference(&stay).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maven::koji::change::{Change, MappedBuild, MappedFile, Tagging};
    use crate::maven::koji::map::apply::{BuildRows, Committed, NextMap};
    use format::koji::model::{EventId, FileDigest, KojiEvent, Nvr};
    use store::Seq;

    fn map() -> KojiMap {
        let mut changes = Vec::new();
        for (build, tags) in [(1, &["a-1"][..]), (2, &["a-1", "b-1"]), (3, &["b-1"])] {
            let nvr = Nvr { name: "lamp".into(), version: build.to_string(), release: "1".into() };
            let name = format!("lamp-{build}.pom");
            let digest = FileDigest::Md5([build as u8; 16]);
            let file = MappedFile { folder: format!("org/lamp/{build}"), name, size_bytes: 1, digest };
            let build = BuildId(build);
            changes.push(Change::Build(MappedBuild {
                id: build,
                nvr,
                volume: "DEFAULT".into(),
                files: vec![file],
                deleted: false,
            }));
            for tag in tags {
                let (id, tagged) = (TagId(u32::from(tag.as_bytes()[0])), KojiEvent { id: EventId(5), at_ms: 5 });
                changes.push(Change::Tag { tag: id, name: (*tag).to_owned() });
                let tag_name = (*tag).to_owned();
                changes.push(Change::Tagged(Tagging { build, tag: id, tag_name, tagged, tagged_by: None }));
            }
        }
        let mut next = NextMap::of(&KojiMap::default());
        let builds = (1..4).map(|row| BuildRows { first: Seq(row), further: Vec::new() }).collect();
        next.add(&changes, Committed { at: Millis(9), seq: Seq(9), builds });
        next.finish()
    }

    fn record(tags: &[&str], inherit: bool, duplicates: Option<&str>) -> KojiRecord {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        KojiRecord { hub: "h".into(), files: "f".into(), tags, inherit, duplicates: duplicates.map(str::to_owned) }
    }

    #[test]
    fn builds_leave_that_no_named_tag_has_and_what_comes_is_left_to_the_next_look() {
        let (map, before) = (map(), record(&["a-*", "b-*"], false, None));
        let narrow = foresee(&map, &before, &record(&["a-*"], false, None));
        assert_eq!((narrow.builds, narrow.files, &narrow.named[..]), (Some(1), Some(1), &["lamp-3-1".to_owned()][..]));
        assert!(
            narrow.text.starts_with("builds that would leave with their tags: 1, with files: 1")
                && narrow.text.contains("the next look")
        );
        let wider = foresee(&map, &before, &record(&["*"], false, None));
        assert_eq!((wider.builds, wider.named.len()), (Some(0), 0));
        let inherit = foresee(&map, &before, &record(&["a-*"], true, None));
        assert!(inherit.builds.is_none() && inherit.text.contains("the next look"), "{inherit:?}");
        let oldest = foresee(&map, &before, &record(&["a-*", "b-*"], false, Some("oldest")));
        assert!(oldest.builds.is_none() && oldest.text.contains("tagged first"), "{oldest:?}");
    }
}
