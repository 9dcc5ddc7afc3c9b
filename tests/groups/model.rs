//! Any order of deploys, deletes, appearances and failures upstream, and changes of members, against what the first principle of
//! groups allows: a group answers as if every member were asked, each answering as of a proof that is not older than its age.
//!
//! `DAYLIGHT_SEQUENCES` says how many orders are tried. What failed is kept in `model.txt` beside this file, and tried first.

mod known;
mod steps;

use crate::world::{Answer, FIRST, Person, Upstream, World, hex};
use known::Remote;
use proptest::test_runner::{Config, FileFailurePersistence, TestRunner};
use serde_json::json;
use sha1::{Digest, Sha1};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use steps::{ARTIFACTS, GROUPS, HOSTED, Place, REMOTE, Step, VERSIONS};

const SEQUENCES: u32 = 500;
/// Seconds for which what may change is good, and what is missing counts as missing. With none each answer is of now.
const AGES: [(u64, u64); 2] = [(0, 0), (900, 300)];

/// A hosted repository: what was ever deployed, and whether it is still there.
#[derive(Default)]
struct Hosted(BTreeMap<Place, bool>);

impl Hosted {
    /// The versions that have a POM.
    fn listed(&self, artifact: usize) -> BTreeSet<usize> {
        let live = |version: &usize| self.0.get(&Place { artifact, version: *version, file: 0 }) == Some(&true);
        (0..VERSIONS.len()).filter(live).collect()
    }
}

/// What a member may say.
#[derive(Debug, Clone, Default)]
struct May {
    /// It may have these bytes.
    has: BTreeSet<String>,
    /// It may say that it has none.
    lacks: bool,
    /// It may fail.
    fails: bool,
}

/// Repositories, and what is known of them.
struct Trial<'a> {
    world: &'a World,
    admin: Person,
    upstreams: &'a [Upstream],
    number: usize,
    ages: (u64, u64),
    now: u64,
    hosted: [Hosted; 2],
    remotes: [Remote; 2],
    /// Which layout each group has.
    layouts: [usize; 2],
}

impl Trial<'_> {
    fn name(&self, of: &str) -> String {
        format!("{of}-{}", self.number)
    }

    fn group(&self, at: usize) -> serde_json::Value {
        let (name, layouts) = GROUPS[at];
        let members: Vec<String> = layouts[self.layouts[at]].iter().map(|member| self.name(member)).collect();
        json!({ "name": self.name(name), "format": "maven", "kind": "group", "members": members })
    }

    fn set_up(&self) {
        HOSTED.iter().for_each(|name| self.world.tree(&self.name(name), "maven"));
        for (name, upstream) in REMOTE.iter().zip(self.upstreams) {
            let urls = [format!("{}{}", upstream.url(), self.number)];
            let remote = json!({ "urls": urls, "fresh_s": self.ages.0, "missing_s": self.ages.1 });
            self.world.make(&json!({ "name": self.name(name), "format": "maven", "remote": remote }));
        }
        (0..GROUPS.len()).for_each(|at| self.world.make(&self.group(at)));
    }

    /// The hosted and remote repositories of the outer group, in order: those first that are hosted.
    fn leaves(&self) -> (Vec<usize>, Vec<usize>) {
        let mut names: Vec<&str> = Vec::new();
        for member in GROUPS[1].1[self.layouts[1]] {
            let inner =
                if *member == GROUPS[0].0 { GROUPS[0].1[self.layouts[0]] } else { std::slice::from_ref(member) };
            inner.iter().for_each(|name| {
                if !names.contains(name) {
                    names.push(name);
                }
            });
        }
        let of = |all: &[&str; 2]| names.iter().filter_map(|name| all.iter().position(|one| one == name)).collect();
        (of(&HOSTED), of(&REMOTE))
    }

    /// Whether a hosted member ever held anything of the artifact: then it is nobody else's.
    fn is_claimed(&self, artifact: usize) -> bool {
        self.leaves().0.iter().any(|at| self.hosted[*at].0.keys().any(|place| place.artifact == artifact))
    }

    /// What each member may say of a file, in order.
    fn may_say(&self, place: Place) -> Vec<May> {
        let (hosted, remotes) = self.leaves();
        let mut all: Vec<May> = hosted
            .iter()
            .map(|at| match self.hosted[*at].0.get(&place) {
                Some(true) => May { has: [place.content(HOSTED[*at], 0)].into(), ..May::default() },
                _ => May { lacks: true, ..May::default() },
            })
            .collect();
        if !self.is_claimed(place.artifact) {
            all.extend(remotes.iter().map(|at| self.remotes[*at].may_say(place, self.now, self.ages.1)));
            // A version does not move from the member that it was found in to one before it that lacked it then.
            let folder_found = |at: usize| self.remotes[at].found.iter().any(|found| found.folder() == place.folder());
            for (order, at) in remotes.iter().enumerate() {
                let later = remotes[order + 1..].iter().any(|later| folder_found(*later));
                all[hosted.len() + order].lacks |= later && self.remotes[*at].lacked_any(place);
            }
        }
        all
    }

    fn fetch(&mut self, path: &str) -> Answer {
        let name = self.name(GROUPS[1].0);
        let asked = |upstreams: &[Upstream]| upstreams.iter().map(Upstream::total).sum::<usize>();
        let claimed = ARTIFACTS.iter().position(|artifact| path.contains(&format!("/{artifact}/")));
        let claimed = claimed.is_some_and(|artifact| self.is_claimed(artifact));
        let before = if claimed { asked(self.upstreams) } else { 0 };
        let answer = self.world.anon().file(&name, path);
        if claimed {
            assert_eq!(asked(self.upstreams), before, "an upstream was asked for the private {path}");
        }
        answer
    }

    fn read(&mut self, place: Place) {
        let may = self.may_say(place);
        let answer = self.fetch(&place.path());
        let told = format!("{} {:?} of {place:?}: {may:#?}", answer.status, String::from_utf8_lossy(&answer.body));
        match answer.status {
            200 => {
                let first =
                    may.iter().find(|member| member.has.contains(answer.text()) || !(member.lacks || member.fails));
                assert!(first.is_some_and(|member| member.has.contains(answer.text())), "{told}");
                let sum = self.fetch(&format!("{}.sha1", place.path())).expect(200);
                assert_eq!(sum.text(), hex(&Sha1::digest(&answer.body)));
            }
            404 => assert!(may.iter().all(|member| member.lacks), "{told}"),
            502 => {
                assert!(may.iter().any(|member| member.fails), "{told}");
                assert!(may.iter().all(|member| member.lacks || member.fails), "{told}");
            }
            _ => panic!("{told}"),
        }
        let text = (answer.status == 200).then(|| answer.text().to_owned());
        if !self.is_claimed(place.artifact) {
            let now = self.now;
            for at in self.leaves().1 {
                self.remotes[at].asked(place, now);
            }
        }
        // The bytes say whose they are: that member keeps them for ever.
        for (remote, name) in self.remotes.iter_mut().zip(REMOTE) {
            if let Some(text) = text.as_ref().filter(|text| text.starts_with(name)) {
                remote.keeps(place, text.clone());
            }
        }
    }

    fn versions(&mut self, artifact: usize) {
        let (hosted, remotes) = self.leaves();
        // What each member may list; an empty list is none.
        let mut may: Vec<(Vec<BTreeSet<usize>>, bool)> =
            hosted.iter().map(|at| (vec![self.hosted[*at].listed(artifact)], false)).collect();
        if !self.is_claimed(artifact) {
            may.extend(remotes.iter().map(|at| self.remotes[*at].may_list(artifact, self.now, self.ages)));
        }
        let path = format!("org/example/{}/maven-metadata.xml", ARTIFACTS[artifact]);
        let answer = self.fetch(&path);
        let told = format!("{} {:?}: {may:?}", answer.status, String::from_utf8_lossy(&answer.body));
        let empty = |list: &BTreeSet<usize>| list.is_empty();
        match answer.status {
            200 => {
                let sum = self.fetch(&format!("{path}.sha1")).expect(200);
                assert_eq!(sum.text(), hex(&Sha1::digest(&answer.body)));
                let said: Vec<&str> =
                    answer.text().split("<version>").skip(1).map(|part| part.split('<').next().unwrap()).collect();
                let said: Vec<usize> =
                    said.iter().map(|version| VERSIONS.iter().position(|one| one == version).unwrap()).collect();
                assert!(said.is_sorted_by(|a, b| a < b), "in order, each once: {told}");
                let least = may.iter().filter_map(|(lists, fails)| {
                    let first = lists.first().filter(|_| !fails)?.clone();
                    Some(lists.iter().fold(first, |all, list| &all & list))
                });
                let most: BTreeSet<usize> = may.iter().flat_map(|(lists, _)| lists.iter().flatten().copied()).collect();
                assert!(least.flatten().all(|version| said.contains(&version)), "{told}");
                assert!(said.iter().all(|version| most.contains(version)), "{told}");
            }
            404 => assert!(may.iter().all(|(lists, _)| lists.iter().any(empty)), "{told}"),
            502 => {
                assert!(may.iter().any(|(_, fails)| *fails), "{told}");
                assert!(may.iter().all(|(lists, fails)| *fails || lists.iter().any(empty)), "{told}");
            }
            _ => panic!("{told}"),
        }
        if !self.is_claimed(artifact) {
            let now = self.now;
            remotes.iter().for_each(|at| self.remotes[*at].listed(artifact, now));
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Deploy(at, place) => {
                let content = place.content(HOSTED[at], 0);
                self.admin.put(&self.name(HOSTED[at]), &place.path(), content.as_bytes());
                self.hosted[at].0.insert(place, true);
            }
            Step::Delete(at, artifact, version) => {
                let place = Place { artifact, version, file: 0 };
                self.admin.delete(&self.name(HOSTED[at]), &place.folder());
                for (there, live) in &mut self.hosted[at].0 {
                    *live &= there.folder() != place.folder();
                }
            }
            Step::Upstream(at, change) => {
                self.remotes[at].change(change);
                self.remotes[at].tell(&self.upstreams[at], self.number, REMOTE[at]);
            }
            Step::Layout(at, layout) => {
                self.layouts[at] = layout % GROUPS[at].1.len();
                let group = self.group(at);
                let path = format!("/api/v1/repositories/{}", self.name(GROUPS[at].0));
                self.admin.patch_json(&path, &json!({ "members": group["members"] })).expect(200);
            }
            Step::Wait(seconds) => {
                self.now += seconds;
                set_time(self.world, self.now);
            }
            Step::Read(place) => self.read(place),
            Step::Versions(artifact) => self.versions(artifact),
        }
    }
}

fn set_time(world: &World, seconds: u64) {
    let text = moment(seconds);
    let path = format!("/repository/{FIRST}/set_time");
    world.anon().ask("POST", &path, &[("Content-Type", "text/plain")], text.as_bytes()).expect(200);
}

/// A moment, ISO 8601: so many seconds after the year 2030 began, with months of 28 days.
fn moment(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = (2030 + days / 336, 1 + days / 28 % 12, 1 + days % 28);
    format!("{year}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[test]
fn a_group_answers_as_if_every_member_were_asked() {
    let world = World::start_in_conformance(&[]);
    let upstreams = [Upstream::start(), Upstream::start()];
    let (count, time) = (Cell::new(0), Cell::new(0));
    let cases = std::env::var("DAYLIGHT_SEQUENCES").map_or(SEQUENCES, |count| count.parse().unwrap());
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/groups/model.txt");
    let failure_persistence = Some(Box::new(FileFailurePersistence::Direct(kept)) as _);
    let config = Config { cases, failure_persistence, source_file: Some(file!()), ..Config::default() };
    let trial = |(ages, steps): (usize, Vec<Step>)| {
        count.set(count.get() + 1);
        let mut trial = Trial {
            world: &world,
            admin: world.admin(),
            upstreams: &upstreams,
            number: count.get(),
            ages: AGES[ages],
            now: time.get(),
            hosted: Default::default(),
            remotes: Default::default(),
            layouts: [0, 0],
        };
        trial.set_up();
        steps.into_iter().for_each(|step| trial.step(step));
        time.set(trial.now);
        Ok(())
    };
    TestRunner::new(config).run(&steps::all(), trial).unwrap();
}
