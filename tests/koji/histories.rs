//! Random histories of a hub: after each look, repositories serve what the hub itself lists, and nothing else.
//! `DAYLIGHT_KOJI_CHANGES` is the number of changes, and `DAYLIGHT_KOJI_SEED` the beginning of another history.

use super::hub::path;
use crate::world::{KojiHub, Trouble, World, eventually};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The number of changes without the setting.
const CHANGES: u64 = 120;
/// The repositories, and whether they have the builds of parents.
const REPOSITORIES: [(&str, bool); 2] = [("own", false), ("inherited", true)];
const ARTIFACTS: u64 = 4;
const DAY: u64 = 24 * 60;
/// A change that is open for longer is found by the daily look only.
const OPEN_MINUTES: u64 = 9;

/// A change that is not committed.
struct Open {
    event: u64,
    tag: u64,
    build: u64,
    minutes: u64,
}

struct History {
    hub: KojiHub,
    world: World,
    dice: u64,
    minute: u64,
    made: u64,
    tags: Vec<u64>,
    /// For names of tags and releases of builds, which are never used again.
    names: u64,
    builds: BTreeMap<u64, (String, &'static str)>,
    listed: BTreeSet<(u64, u64)>,
    blocked: BTreeSet<(u64, String)>,
    links: BTreeSet<(u64, u64)>,
    open: Vec<Open>,
    paths: BTreeSet<String>,
}

fn number(setting: &str, otherwise: u64) -> u64 {
    std::env::var(setting).ok().map_or(otherwise, |text| text.parse().unwrap())
}

impl History {
    fn new(seed: u64) -> Self {
        let (hub, world) = (KojiHub::start(), World::start_in_conformance(&[]));
        let tags = ["rel-1", "rel-2", "old-3", "base"].map(|name| hub.tag(name)).to_vec();
        Self {
            hub,
            world,
            dice: seed,
            minute: 0,
            made: 0,
            tags,
            names: 3,
            builds: BTreeMap::new(),
            listed: BTreeSet::new(),
            blocked: BTreeSet::new(),
            links: BTreeSet::new(),
            open: Vec::new(),
            paths: BTreeSet::new(),
        }
    }

    /// Less than `most`, and the same for the same seed.
    fn below(&mut self, most: u64) -> u64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        self.dice % most
    }

    fn one_in(&mut self, most: u64) -> bool {
        self.below(most) == 0
    }

    fn of<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        (!from.is_empty()).then(|| from[usize::try_from(self.below(from.len() as u64)).unwrap()].clone())
    }

    /// A new build of one or two folders.
    fn build(&mut self) -> u64 {
        let package = format!("p{}", self.below(4));
        self.names += 1;
        let release = self.names.to_string();
        let (first, many) = (self.below(ARTIFACTS), 1 + self.below(2));
        let folders: Vec<(u64, u64)> = (first..first + many).map(|at| (at % ARTIFACTS, self.below(5))).collect();
        let digest = if self.one_in(2) { "md5" } else { "sha256" };
        let mut build = self.hub.build(&package, "1", &release).digest(digest);
        for (artifact, version) in folders {
            let base = format!("org/example/lamp{artifact}/1.{version}/lamp{artifact}-1.{version}");
            let jar = format!("{base}.jar");
            build = build.pom(&format!("{base}.pom")).file(&jar, format!("{package}-1-{release} {jar}").as_bytes());
            self.paths.extend([jar, format!("{base}.pom")]);
        }
        let id = build.make();
        self.builds.insert(id, (package, "DEFAULT"));
        id
    }

    /// One random change, or none where the hub would refuse it.
    fn change(&mut self) {
        let tag = self.of(&self.tags.clone()).unwrap();
        let free: Vec<u64> =
            self.builds.keys().copied().filter(|id| self.open.iter().all(|open| open.build != *id)).collect();
        let kind = self.below(20);
        let build = match (kind, self.of(&free)) {
            (0..5, _) | (_, None) => self.build(),
            (_, Some(build)) => build,
        };
        let (package, volume) = self.builds[&build].clone();
        let is_listed = self.listed.contains(&(tag, build));
        let is_blocked = self.blocked.iter().any(|(_, blocked)| *blocked == package);
        let other = self.of(&self.tags.clone()).unwrap();
        match kind {
            0..8 if !is_listed && !is_blocked => self.list(tag, build, true),
            8..11 => {
                let listed: Vec<_> = self.listed.iter().copied().filter(|(_, build)| free.contains(build)).collect();
                let Some((tag, build)) = self.of(&listed) else { return };
                self.list(tag, build, false);
            }
            11 | 12 if self.blocked.len() < 2 => {
                if self.blocked.insert((tag, package.clone())) {
                    self.hub.block(tag, &package);
                }
            }
            11..14 => {
                let Some((tag, package)) = self.blocked.pop_first() else { return };
                self.hub.unblock(tag, &package);
            }
            14 => {
                let to = if volume == "DEFAULT" { "attic" } else { "DEFAULT" };
                self.hub.move_build(build, to);
                self.builds.insert(build, (package, to));
            }
            15 if tag < other && self.links.insert((tag, other)) => {
                self.hub.inherit(tag, other, other.cast_signed());
            }
            16 => {
                let Some((child, parent)) = self.links.pop_first() else { return };
                self.hub.disinherit(child, parent);
            }
            17 if self.one_in(2) => {
                self.hub.delete_build(build);
                self.listed.retain(|(_, listed)| *listed != build);
                self.builds.remove(&build);
            }
            // The hub waits until all that tags into it is committed.
            18 if self.open.iter().all(|open| open.tag != tag) => {
                self.names += 1;
                let kind = self.of(&["rel", "rel", "old", "REL"]).unwrap();
                self.hub.rename_tag(tag, &format!("{kind}-{}", self.names));
            }
            _ => return,
        }
        self.made += 1;
    }

    /// Tags or untags a build, one time in four in a transaction that stays open.
    fn list(&mut self, tag: u64, build: u64, tags: bool) {
        match tags {
            true => self.listed.insert((tag, build)),
            false => self.listed.remove(&(tag, build)),
        };
        let is_late = self.one_in(4);
        let event = match (tags, is_late) {
            (true, false) => self.hub.tag_build(tag, build),
            (false, false) => self.hub.untag_build(tag, build),
            (true, true) => self.hub.tag_late(tag, build),
            (false, true) => self.hub.untag_late(tag, build),
        };
        if is_late {
            self.open.push(Open { event, tag, build, minutes: 0 });
        }
    }

    /// Lets some minutes pass. Changes that would be open for too long are committed before.
    fn pass(&mut self, minutes: u64) {
        for mut open in std::mem::take(&mut self.open) {
            open.minutes += minutes;
            if open.minutes > OPEN_MINUTES || self.one_in(3) {
                self.hub.commit(open.event);
            } else {
                self.open.push(open);
            }
        }
        self.minute += minutes;
        self.world.set_time(&format!("{}:00Z", self.moment()));
    }

    /// The time of the server, to the minute.
    fn moment(&self) -> String {
        let (day, hour, minute) = (self.minute / DAY, self.minute / 60 % 24, self.minute % 60);
        format!("2027-{:02}-{:02}T{hour:02}:{minute:02}", 1 + day / 28, 1 + day % 28)
    }

    /// Makes each repository look now.
    fn look(&self) {
        for (name, _) in REPOSITORIES {
            self.world.anon().file(name, "org/example/lamp0/maven-metadata.xml");
        }
    }

    /// Waits until each repository has looked now.
    fn looked(&self) {
        self.look();
        for (name, _) in REPOSITORIES {
            let seen = || {
                let told = self.world.admin().get(&format!("/api/v1/repositories/{name}")).expect(200).json();
                let confirmed = told["koji"]["confirmed"].as_str().map(str::to_owned);
                let is_now = confirmed.is_some_and(|at| at.starts_with(&self.moment()));
                if is_now { Ok(()) } else { Err(format!("{}: {name} did not look: {told}", self.told())) }
            };
            eventually(seen);
        }
    }

    fn told(&self) -> String {
        format!("change {}, {}", self.made, self.moment())
    }

    /// What the hub lists: for each folder the build that was tagged last, its files with their paths below TOP.
    fn expected(&self, inherit: bool) -> BTreeMap<String, (Value, String)> {
        let tags = self.hub.call("listTags", json!([]), json!({ "pattern": "rel-*" })).unwrap();
        let tags = tags.as_array().unwrap().iter().filter(|tag| tag["name"].as_str().unwrap().starts_with("rel-"));
        let (mut newest, mut files) = (BTreeMap::new(), Vec::new());
        for tag in tags {
            let named = json!({ "type": "maven", "strict": true, "extra": false, "inherit": inherit });
            let answer = self.hub.call("listTaggedArchives", json!([tag["id"]]), named).unwrap();
            for archive in answer[0].as_array().unwrap() {
                let has = |build: &&Value| build["build_id"] == archive["build_id"];
                // A build that is in a tag and in its parent has two rows.
                let tagged = |build: &&Value| build["create_event"].as_u64();
                let build = answer[1].as_array().unwrap().iter().filter(has).max_by_key(tagged).unwrap();
                let below = path(archive, build);
                let name = below.split_once("/maven/").unwrap().1.to_owned();
                let folder = name.rsplit_once('/').unwrap().0.to_owned();
                let event = build["create_event"].as_u64().unwrap();
                let last = newest.entry(folder).or_insert((0, json!(null)));
                if event > last.0 {
                    *last = (event, build["build_id"].clone());
                }
                files.push((name, archive.clone(), below));
            }
        }
        let is_newest = |(name, archive, _): &(String, Value, String)| {
            newest[name.rsplit_once('/').unwrap().0].1 == archive["build_id"]
        };
        files.into_iter().filter(is_newest).map(|(name, archive, below)| (name, (archive, below))).collect()
    }

    /// Holds the answers against what the hub lists.
    fn compare(&self) {
        for (repository, inherit) in REPOSITORIES {
            let (expected, told) = (self.expected(inherit), format!("{}, {repository}", self.told()));
            let caller = self.world.anon();
            for artifact in 0..ARTIFACTS {
                let folder = format!("org/example/lamp{artifact}");
                let list = caller.file(repository, &format!("{folder}/maven-metadata.xml"));
                let versions: BTreeSet<String> = match list.status {
                    404 => BTreeSet::new(),
                    _ => list
                        .text()
                        .split("<version>")
                        .skip(1)
                        .map(|text| text.split('<').next().unwrap().to_owned())
                        .collect(),
                };
                let has = |path: &&String| path.starts_with(&format!("{folder}/")) && path.ends_with(".pom");
                let listed: BTreeSet<String> =
                    expected.keys().filter(has).map(|path| path.split('/').nth(3).unwrap().to_owned()).collect();
                assert_eq!(versions, listed, "{told}: {folder}");
                assert_eq!(list.header("daylight-stale"), None, "{told}");
            }
            for path in &self.paths {
                self.hub.forget_counts();
                let answer = caller.file(repository, path);
                let Some((archive, below)) = expected.get(path) else {
                    assert!(matches!(answer.status, 404 | 410), "{told}: {path} is {}", answer.status);
                    continue;
                };
                assert_eq!(answer.status, 200, "{told}: {path}: {}", answer.text());
                assert_eq!(archive["size"], answer.body.len(), "{told}: {path}");
                if path.ends_with(".jar") {
                    let built = below.split('/').skip_while(|part| *part != "packages").skip(1).take(3);
                    let content = format!("{} {path}", built.collect::<Vec<_>>().join("-"));
                    assert_eq!(answer.text(), content, "{told}");
                }
                let asked = self.hub.file_gets();
                assert!(asked.is_empty() || asked == [below.clone()], "{told}: {path} by {asked:?}, not {below}");
                assert_eq!(self.hub.rounds(), 0, "{told}: {path}");
            }
        }
    }
}

#[test]
fn after_each_look_repositories_serve_what_the_hub_lists_whatever_happened_there() {
    let seed = number("DAYLIGHT_KOJI_SEED", 1) * 7_919;
    let mut history = History::new(seed);
    let changes = number("DAYLIGHT_KOJI_CHANGES", CHANGES).min(2_000);
    for (name, inherit) in REPOSITORIES {
        let koji =
            json!({ "hub": history.hub.url(), "files": history.hub.files(), "tags": ["rel-*"], "inherit": inherit });
        history.world.make(&json!({ "name": name, "format": "maven", "kind": "remote", "remote": { "koji": koji } }));
    }
    while history.made < changes {
        for _ in 0..history.below(9) {
            history.change();
        }
        let minutes = 2 + history.below(4);
        if history.one_in(8) {
            // For an hour it is offline, and things go on there. Pauses are over when it is back.
            history.hub.trouble(Trouble::Offline);
            history.pass(minutes);
            history.look();
            history.change();
            history.hub.well();
            history.pass(60);
        } else if history.one_in(12) {
            history.pass(OPEN_MINUTES + 1);
            let of: Vec<u64> = history.builds.keys().copied().collect();
            if let Some(build) = history.of(&of) {
                let name = format!("org/example/lamp0/2.{build}/lamp0-2.{build}-at{}", history.made);
                history.hub.add_file(build, &format!("{name}.zip"), b"added");
                history.paths.insert(format!("{name}.zip"));
            }
            history.pass(DAY);
        } else {
            history.pass(minutes);
        }
        history.looked();
        history.compare();
    }
    assert_eq!(history.hub.logins(), 0);
}
