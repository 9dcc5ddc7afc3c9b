//! The map against a history of Koji that is evaluated row by row, and its size.

use crate::maven::koji::change::{Change, Gone, MappedBuild, MappedFile, Tagging};
use crate::maven::koji::map::apply::NextMap;
use crate::maven::koji::map::{Duplicates, FoundDigest, KojiMap, KojiView, Lack, Place};
use crate::maven::koji::rows;
use format::koji::model::{BuildId, EventId, FileDigest, KojiEvent, Nvr, TagId};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use store::Seq;
use telemetry::Millis;

fn event(id: u64) -> KojiEvent {
    KojiEvent { id: EventId(id), at_ms: id as i64 * 1_000 }
}

fn nvr(build: u32) -> Nvr {
    Nvr { name: format!("build-{build}"), version: "1".into(), release: "2".into() }
}

fn build(id: u32, files: Vec<MappedFile>) -> MappedBuild {
    MappedBuild { id: BuildId(id), nvr: nvr(id), volume: "DEFAULT".into(), files, deleted: false }
}

fn tagged(build: u32, tag: u32, at: u64) -> Tagging {
    let (build, tag, tag_name) = (BuildId(build), TagId(tag), format!("tag-{tag}"));
    Tagging { build, tag, tag_name, tagged: event(at), tagged_by: Some("kim".into()) }
}

fn file(folder: &str, name: &str, digest: FileDigest) -> MappedFile {
    MappedFile { folder: folder.into(), name: name.into(), size_bytes: 1_000, digest }
}

/// The files of a build in one of its variants. Builds share folders.
fn variant(of: u32, variant: u32) -> Vec<MappedFile> {
    let digest = |byte: u32| FileDigest::Sha256([(16 * of + byte) as u8; 32]);
    let folder = format!("org/x/a{}/1.{}", variant % 2, of % 2);
    let mut files = vec![
        file(&folder, &format!("a{}-1.{}.pom", variant % 2, of % 2), digest(variant)),
        file(&folder, &format!("a{}-1.{}.jar", variant % 2, of % 2), FileDigest::Md5([variant as u8; 16])),
    ];
    if variant > 1 {
        files.push(file("org/x/shared/9", "shared-9.pom", FileDigest::Sha1([of as u8; 20])));
    }
    files
}

const FOLDERS: [&str; 6] =
    ["org/x/a0/1.0", "org/x/a0/1.1", "org/x/a1/1.0", "org/x/a1/1.1", "org/x/shared/9", "org/x/never/1"];

/// Koji, as its own tables have it.
#[derive(Debug, Default)]
struct Koji {
    event: u64,
    files: BTreeMap<u32, Vec<MappedFile>>,
    /// Build, tag, event of tagging, event of its end.
    listings: Vec<(u32, u32, u64, Option<u64>)>,
}

impl Koji {
    fn next(&mut self) -> u64 {
        self.event += 1;
        self.event
    }

    /// Does something, and returns the changes that a look finds.
    fn act(&mut self, (what, build_id, tag, other): (u8, u32, u32, u32)) -> Option<Change> {
        let open = self.listings.iter().position(|(build, of, _, end)| (*build, *of, *end) == (build_id, tag, None));
        let known = self.files.contains_key(&build_id);
        match (what, open) {
            (0, _) => {
                self.files.insert(build_id, variant(build_id, other));
                Some(Change::Build(build(build_id, variant(build_id, other))))
            }
            (1 | 2, None) if known => {
                let at = self.next();
                self.listings.push((build_id, tag, at, None));
                Some(Change::Tagged(tagged(build_id, tag, at)))
            }
            (1 | 2, Some(open)) => {
                let at = self.next();
                self.listings[open].3 = Some(at);
                let (build, event) = (BuildId(build_id), Some(event(at)));
                Some(Change::Gone { build, tag: TagId(tag), why: Gone::Untagged, event, by: Some("lee".into()) })
            }
            (3, _) => Some(Change::Facts { build: BuildId(build_id), volume: format!("vol{other}"), deleted: false }),
            (4, _) if known => {
                let (from, to) = (self.next(), self.next());
                self.listings.push((build_id, tag, from, Some(to)));
                let tagging = tagged(build_id, tag, from);
                Some(Change::Past { tagging, ended: event(to), by: None })
            }
            (5, _) => Some(Change::Settled { event: EventId(self.event), seen: EventId(self.event), full: other == 0 }),
            (6, _) => Some(Change::Tag { tag: TagId(tag), name: format!("name{other}") }),
            _ => None,
        }
    }

    /// The build that has a folder at an event by the rule.
    fn owner(&self, folder: &str, at: u64, rule: Duplicates) -> Option<u32> {
        let listed = self.listings.iter().filter(|(build, _, from, to)| {
            let has = self.files.get(build).is_some_and(|files| files.iter().any(|file| file.folder == folder));
            has && *from <= at && to.is_none_or(|to| to > at)
        });
        match rule {
            Duplicates::Newest => listed.max_by_key(|(_, _, from, _)| *from).map(|(build, ..)| *build),
            Duplicates::Oldest => listed.min_by_key(|(_, _, from, _)| *from).map(|(build, ..)| *build),
        }
    }
}

/// A place without the facts of today.
fn then(place: Result<Place, Box<Lack>>) -> Option<Place> {
    place.ok().map(|place| Place { deleted: false, ..place })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn each_moment_is_answered_as_then_and_the_rows_add_up_to_the_same_map(
        looks in prop::collection::vec(prop::collection::vec((0u8..7, 1u32..6, 1u32..3, 0u32..4), 1..6), 1..14),
        oldest in any::<bool>(),
    ) {
        let rule = if oldest { Duplicates::Oldest } else { Duplicates::Newest };
        let (mut koji, mut map) = (Koji::default(), KojiMap::default().by(rule));
        let (mut journal, mut snapshots, mut seq) = (Vec::new(), Vec::new(), 10);
        for (turn, look) in looks.into_iter().enumerate() {
            let mut changes: Vec<Change> = look.into_iter().filter_map(|act| koji.act(act)).collect();
            if changes.is_empty() {
                continue;
            }
            // A view of the journal has the rule that the journal has.
            if oldest && journal.is_empty() {
                changes.push(Change::Rule { oldest });
            }
            let at = Millis(5_000 + turn as i64);
            let written = rows::tests::write(&map, changes, at, seq);
            seq = written.committed.seq.0 + 3;
            let mut in_memory = map.clone();
            in_memory.apply(&written.changes, at, written.committed.seq);
            let mut next = NextMap::of(&map);
            next.add(&written.changes, written.committed.clone());
            map = next.finish();
            for folder in FOLDERS {
                prop_assert_eq!(in_memory.place(folder, KojiView::Now), map.place(folder, KojiView::Now));
            }
            prop_assert_eq!(in_memory.digest(), map.digest());
            journal.extend(written.rows);
            snapshots.push((written.committed.seq, map.clone()));
        }
        let again = rows::tests::read(journal).by(rule);
        prop_assert_eq!(again.digest(), map.digest());
        for folder in FOLDERS {
            let owner = map.place(folder, KojiView::Now).ok().map(|place| place.build.0);
            prop_assert_eq!(owner, koji.owner(folder, koji.event, rule));
            for (seq, snapshot) in &snapshots {
                let view = KojiView::Journal(*seq);
                prop_assert_eq!(then(map.place(folder, view)), then(snapshot.place(folder, KojiView::Now)));
                prop_assert_eq!(map.files(folder, view), snapshot.files(folder, KojiView::Now));
                prop_assert_eq!(again.place(folder, view), map.place(folder, view));
            }
            for at in 0..=koji.event + 1 {
                let view = KojiView::Event(EventId(at));
                let place = map.place(folder, view);
                let owner = place.as_ref().ok().map(|place| place.build.0);
                prop_assert_eq!(owner, koji.owner(folder, at, rule), "{} at {}", folder, at);
                prop_assert_eq!(again.place(folder, view), place);
            }
            // Each file has the digest of the build that has the folder.
            if let Some(owner) = owner {
                for known in koji.files[&owner].iter().filter(|known| known.folder == folder) {
                    for map in [&map, &again] {
                        let (_, found) = map.file(folder, &known.name, KojiView::Now).unwrap();
                        prop_assert!(found.digest.begins(&known.digest) && found.size_bytes == known.size_bytes);
                        prop_assert!(found.row > Seq(0) && found.rows == 1 || matches!(found.digest, FoundDigest::Whole(_)));
                    }
                }
            }
        }
        let names = map.children("org/x", KojiView::Now);
        let listed: Vec<&str> = FOLDERS.iter().filter(|folder| map.place(folder, KojiView::Now).is_ok()).copied().collect();
        let below = listed.iter().filter_map(|folder| folder.split('/').nth(2));
        prop_assert_eq!(names, below.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>());
        let mut artifacts = Vec::new();
        map.artifacts(KojiView::Now, "", &mut |artifact, versions| {
            artifacts.extend(versions.iter().map(|version| format!("{artifact}/{version}")));
            true
        });
        prop_assert_eq!(artifacts, listed);
    }
}

#[test]
fn a_build_of_the_first_look_has_the_age_of_its_tagging_and_a_later_one_that_of_its_first_sight() {
    let mut map = KojiMap::default();
    let first = [Change::Build(build(1, variant(1, 0))), Change::Tagged(tagged(1, 1, 3))];
    map.apply(&first, Millis(90_000), Seq(5));
    let later = [Change::Build(build(2, variant(2, 0))), Change::Tagged(tagged(2, 1, 4))];
    map.apply(&later, Millis(95_000), Seq(9));
    let place = |folder: &str| map.place(folder, KojiView::Now).unwrap();
    let (old, new) = (place("org/x/a0/1.1"), place("org/x/a0/1.0"));
    assert_eq!((old.at_first_look, old.seen, old.since), (true, Millis(90_000), Millis(3_000)));
    assert_eq!((new.at_first_look, new.seen, new.since), (false, Millis(95_000), Millis(95_000)));
}

#[test]
fn a_folder_says_why_no_build_has_it_and_a_deleted_build_stays_in_the_past() {
    let mut map = KojiMap::default();
    let first = [Change::Build(build(1, variant(1, 0))), Change::Tagged(tagged(1, 1, 3))];
    map.apply(&first, Millis(90_000), Seq(5));
    let gone = Change::Gone {
        build: BuildId(1),
        tag: TagId(1),
        why: Gone::Deleted,
        event: Some(event(8)),
        by: Some("lee".into()),
    };
    map.apply(&[gone], Millis(95_000), Seq(9));
    let folder = "org/x/a0/1.1";
    let lack = |view| *map.place(folder, view).unwrap_err();
    let left = Lack::Left {
        nvr: nvr(1),
        tag_name: "tag-1".into(),
        why: Gone::Deleted,
        event: Some(event(8)),
        by: Some("lee".into()),
    };
    assert_eq!((lack(KojiView::Now), lack(KojiView::Event(EventId(8)))), (left.clone(), left));
    let later = Lack::Later { nvr: nvr(1), tag_name: "tag-1".into(), tagged: event(3) };
    assert_eq!((lack(KojiView::Event(EventId(2))), lack(KojiView::Journal(Seq(4)))), (later.clone(), later));
    assert_eq!(*map.place("org/x", KojiView::Now).unwrap_err(), Lack::Never);
    assert!(map.place(folder, KojiView::Event(EventId(7))).unwrap().deleted);
    assert_eq!(map.files(folder, KojiView::Journal(Seq(5))).len(), 2);
}

/// A tag of 1,000 builds with 50 files each, so many of them in a folder.
fn large(in_folder: u32) -> Vec<Change> {
    let files = |of: u32| {
        let file = move |at: u32| {
            let (artifact, version) =
                (format!("module-{of}-{}", at / in_folder), format!("{}.{}.0.redhat-00001", of % 7, of));
            let end = [".pom", ".jar", "-sources.jar", "-javadoc.jar"][at as usize % 4];
            let mut digest = [0; 32];
            (digest[0], digest[1], digest[2]) = (of as u8, (of >> 8) as u8, at as u8);
            MappedFile {
                folder: format!("org/example/project{}/{artifact}/{version}", of % 40),
                name: format!("{artifact}-{version}{end}"),
                size_bytes: 40_000 + u64::from(at) * 7_000,
                digest: FileDigest::Sha256(digest),
            }
        };
        (0..50).map(file).collect()
    };
    let builds = (1..=1_000).map(|of| Change::Build(build(of, files(of))));
    builds.chain((1..=1_000).map(|of| Change::Tagged(tagged(of, 1, u64::from(of))))).collect()
}

#[test]
fn a_tag_of_50_000_files_takes_at_most_forty_bytes_of_memory_for_each() {
    let written = rows::tests::write(&KojiMap::default(), large(4), Millis(7), 1);
    assert!(written.rows.len() < 1_010, "one row for each build, and few others");
    let map = rows::tests::read(written.rows);
    assert_eq!((map.totals().files, map.totals().builds), (50_000, 1_000));
    let each = map.weight() as f64 / 50_000.0;
    assert!(each < 40.0, "{each} bytes for each file");
    let versions = map.versions("org/example/project7/module-7-3", KojiView::Now);
    assert_eq!(versions, [("0.7.0.redhat-00001".to_owned(), event(7))]);
}

#[test]
fn with_one_file_in_each_folder_a_file_takes_at_most_sixty_bytes() {
    let mut map = KojiMap::default();
    map.apply(&large(1), Millis(7), Seq(1));
    let (files, folders) = (map.totals().files, map.totals().folders);
    assert_eq!((files, folders), (50_000, 50_000));
    // Whole digests, as without rows of the journal, are 16 bytes longer.
    let each = map.weight() as f64 / 50_000.0 - 16.0;
    assert!(each < 60.0, "{each} bytes for each file");
}
