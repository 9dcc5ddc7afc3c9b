//! Any order of deploys, deletes, appearances and failures upstream, changes of members and of policies, against what the first
//! principle of groups allows: a group answers as if every member were asked, each answering as of a proof that is not older than its
//! age, and what policy hides is seen by no route: file, checksum, metadata, nested group, member, earlier moment, part, tag.
//!
//! Each run tries the same orders, unless `DAYLIGHT_SEQUENCES` says how many others are tried. What failed is kept in `model.txt`
//! beside this file, and tried first.

mod asking;
mod files;
mod known;
mod lists;
mod policy;
mod published;
mod steps;
mod time;

use crate::world::{FIRST, Person, Upstream, World};
use known::Remote;
use policy::{Age, Policy, Rule, Verdict, When};
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestRunner};
use published::Hosted;
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use steps::{GROUPS, HOSTED, LAYOUTS, Look, NAMES, Place, REMOTE, Step};

const SEQUENCES: u32 = 500;
/// Number of sequences on one server: a change of settings costs more with more repositories.
const ROUND: usize = 50;
/// TTLs in seconds, of files that may change and of negative answers. With 0 every answer is of now.
const AGES: [(u64, u64); 2] = [(0, 0), (900, 300)];

/// A server and upstreams.
struct Stage {
    world: World,
    upstreams: [Upstream; 2],
}

impl Stage {
    fn new() -> Self {
        Self { world: World::start_in_conformance(&[]), upstreams: [Upstream::start(), Upstream::start()] }
    }
}

/// Repositories, and the known facts about them.
struct Trial<'a> {
    stage: &'a Stage,
    admin: Person,
    number: usize,
    ages: (u64, u64),
    clock: &'a Cell<u64>,
    now: u64,
    /// Earlier moments.
    moments: Vec<u64>,
    hosted: [Hosted; 2],
    remotes: [Remote; 2],
    /// The layout of each group.
    layouts: [usize; 2],
    /// The policy of each repository.
    policies: [Policy; NAMES.len()],
    /// The ETags of earlier answers, by URL.
    tags: HashMap<String, String>,
    /// Whether all requests to upstreams have arrived there.
    quiet: bool,
}

impl<'a> Trial<'a> {
    fn new(stage: &'a Stage, number: usize, ages: (u64, u64), clock: &'a Cell<u64>) -> Self {
        let Stage { world, upstreams } = stage;
        set_time(world, clock.get());
        let trial = Self {
            stage,
            admin: world.admin(),
            number,
            ages,
            clock,
            now: clock.get(),
            moments: Vec::new(),
            hosted: Default::default(),
            remotes: [Remote::new(REMOTE.start), Remote::new(REMOTE.start + 1)],
            layouts: [0, 0],
            policies: Default::default(),
            tags: HashMap::new(),
            quiet: false,
        };
        HOSTED.for_each(|at| world.tree(&trial.name(at), "maven"));
        for (at, upstream) in REMOTE.zip(upstreams) {
            let urls = [format!("{}{number}", upstream.url())];
            let remote = json!({ "urls": urls, "fresh_s": ages.0, "missing_s": ages.1 });
            world.make(&json!({ "name": trial.name(at), "format": "maven", "remote": remote }));
        }
        GROUPS.for_each(|at| world.make(&trial.group(at)));
        trial
    }

    fn name(&self, of: usize) -> String {
        format!("{}-{}", NAMES[of], self.number)
    }

    fn group(&self, at: usize) -> serde_json::Value {
        let members: Vec<String> = self.layout(at).iter().map(|member| self.name(*member)).collect();
        json!({ "name": self.name(at), "format": "maven", "kind": "group", "members": members })
    }

    fn layout(&self, at: usize) -> &'static [usize] {
        LAYOUTS[at - GROUPS.start][self.layouts[at - GROUPS.start]]
    }

    fn remote(&self, at: usize) -> &Remote {
        &self.remotes[at - REMOTE.start]
    }

    /// The hosted and remote members of a repository, hosted ones first, each with the repositories whose policies
    /// apply on the way.
    fn members(&self, repository: usize) -> Vec<(usize, Vec<usize>)> {
        let (mut members, mut met) = (Vec::new(), Vec::new());
        self.gather(repository, &[], &mut met, &mut members);
        members.sort_by_key(|(at, _)| !HOSTED.contains(at));
        members
    }

    fn gather(&self, at: usize, way: &[usize], met: &mut Vec<usize>, members: &mut Vec<(usize, Vec<usize>)>) {
        if met.contains(&at) {
            return;
        }
        met.push(at);
        let way = [way, &[at]].concat();
        match GROUPS.contains(&at) {
            true => self.layout(at).iter().for_each(|member| self.gather(*member, &way, met, members)),
            false => members.push((at, way)),
        }
    }

    /// Whether a name belongs to hosted members alone, in a group where these policies apply on the way to an upstream.
    fn is_kept_from(&self, repository: usize, layers: &[usize], artifact: usize) -> bool {
        let mut hosted = self.members(repository).into_iter().filter(|(at, _)| HOSTED.contains(at));
        let shared = layers.iter().any(|layer| self.policies[*layer].shares(artifact));
        !shared && hosted.any(|(at, _)| self.hosted[at].claims(artifact))
    }

    fn when(&self, look: Look) -> When {
        let past = look.past.filter(|_| !self.moments.is_empty());
        When { at: past.map_or(self.now, |past| self.moments[past % self.moments.len()]), now: self.now }
    }

    fn verdict(&self, layers: &[usize], what: ((usize, usize), bool), age: Age, when: When) -> Verdict {
        policy::verdict(layers.iter().map(|at| &self.policies[*at]), what, age, when)
    }

    fn set_policy(&mut self, at: usize, rule: Rule) {
        if HOSTED.contains(&at) && rule.is_about_upstreams() {
            return;
        }
        let path = format!("/api/v1/repositories/{}", self.name(at));
        match rule {
            Rule::LetThrough(which, seconds) => {
                let exception = policy::exception(which, seconds, self.now);
                self.admin.post_json(&format!("{path}/exceptions"), &exception).expect(201);
            }
            // The exception may have ended by itself.
            Rule::EndThat(which) => {
                drop(self.admin.ask("DELETE", &format!("{path}/exceptions/{}", which.pattern()), &[], b""));
            }
            _ => drop(
                self.admin.patch_json(&path, &json!({ "include_hosted": true, "policy": rule.setting() })).expect(200),
            ),
        }
        self.policies[at].set(rule, self.now);
        self.quiet = true;
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Deploy(at, place) => {
                let content = place.content(at, 0);
                let answer = self.admin.put(&self.name(at), &place.path(), content.as_bytes());
                let forbidden = self.policies[at].forbids(place.what(), false);
                assert_eq!(answer.status == 403, forbidden, "{place:?}: {}", answer.text());
                if !forbidden {
                    self.hosted[at].deploys(place, self.now);
                }
                self.quiet = true;
            }
            Step::Delete(at, artifact, version) => {
                let place = Place { artifact, version, file: 0 };
                self.admin.delete(&self.name(at), &place.folder());
                self.hosted[at].deletes(place.what(), self.now);
            }
            Step::Upstream(at, change) => {
                let place = at - REMOTE.start;
                self.remotes[place].change(change, self.now);
                self.remotes[place].tell(&self.stage.upstreams[place], self.number, self.now);
            }
            Step::Layout(at, layout) => {
                let layouts = LAYOUTS[at - GROUPS.start];
                self.layouts[at - GROUPS.start] = layout % layouts.len();
                let path = format!("/api/v1/repositories/{}", self.name(at));
                self.admin
                    .patch_json(&path, &json!({ "include_hosted": true, "members": self.group(at)["members"] }))
                    .expect(200);
                self.quiet = true;
            }
            Step::Policy(at, rule) => self.set_policy(at, rule),
            Step::Wait(seconds) => {
                self.moments.push(self.now);
                self.now += seconds;
                self.clock.set(self.now);
                set_time(&self.stage.world, self.now);
                let now = self.now;
                self.remotes.iter_mut().for_each(|remote| remote.settle(now));
            }
            Step::Read(look, place) => self.read(look, place),
            Step::Versions(look, artifact) => self.versions(look, artifact),
            Step::Everywhere(place, form) => self.everywhere(place, form),
        }
    }
}

fn set_time(world: &World, seconds: u64) {
    let (text, path) = (time::text(seconds), format!("/repository/{FIRST}/set_time"));
    world.anon().ask("POST", &path, &[("Content-Type", "text/plain")], text.as_bytes()).expect(200);
}

#[test]
fn a_group_answers_as_if_every_member_were_asked_and_nothing_hidden_is_seen() {
    let (stage, count, clock) = (RefCell::new(Stage::new()), Cell::new(0), Cell::new(0));
    let asked = std::env::var("DAYLIGHT_SEQUENCES").ok().map(|count| count.parse().unwrap());
    let (cases, rng_seed) = asked.map_or((SEQUENCES, RngSeed::Fixed(0)), |cases| (cases, RngSeed::Random));
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/groups/model.txt");
    let failure_persistence = Some(Box::new(FileFailurePersistence::Direct(kept)) as _);
    let source_file = Some(file!());
    let config = Config { cases, rng_seed, failure_persistence, source_file, ..Config::default() };
    let trial = |(ages, steps): (usize, Vec<Step>)| {
        count.set(count.get() + 1);
        if count.get() % ROUND == 0 {
            stage.replace(Stage::new());
        }
        let stage = stage.borrow();
        let mut trial = Trial::new(&stage, count.get(), AGES[ages], &clock);
        steps.into_iter().for_each(|step| trial.step(step));
        Ok(())
    };
    TestRunner::new(config).run(&steps::all(), trial).unwrap();
}
