//! The model for groups, with any order of pushes and yanks, of members, claims and policies, of restarts and lost
//! files, and of earlier moments. Each name has one owner, whose versions alone are visible in every protocol; the log
//! of a group only grows for its clients; and no upstream is called with a name that another member owns.

mod answers;
mod leaves;
mod owner;
mod past;
mod places;
mod steps;

use super::agreement::Agrees;
use super::bundler::Bundler;
use super::checked::Checked;
use super::pool::{NAMES, TOKENS, edition, package};
use super::rules::Rules;
use super::truth::Truth;
use super::{BEGINS, Seen, Stage, tries};
use jiff::Timestamp;
use leaves::{Leaf, Moment};
use places::{GROUPS, HOSTED, LAYOUTS, REMOTE};
use serde_json::{Value, json};
use steps::Step;

const SEQUENCES: u32 = 30;

/// The known health of an upstream.
struct Health {
    /// Until then it may be refused, and its whole file may be refused.
    trouble: u64,
    long_trouble: u64,
    /// When it last changed.
    changed: u64,
    /// How many of its requests were checked.
    looked: usize,
    /// The gems whose `/info` had a line in an answer of a group.
    kept: [bool; NAMES.len()],
    /// The gems whose files disagreed and have not been seen to agree since.
    doubtful: [bool; NAMES.len()],
    /// The gems that it ever owned in a group.
    owned: [bool; NAMES.len()],
}

/// Repositories, their upstreams, and the clients of the groups.
struct Trial<'a> {
    stage: &'a mut Stage,
    number: usize,
    now: u64,
    truths: [Truth; 2],
    health: [Health; 2],
    leaves: [Leaf; 4],
    /// The layout of each group, and since when its members have had their places.
    layouts: [usize; 2],
    stands: [Vec<i64>; 2],
    /// Of each member.
    claims: [Option<usize>; 4],
    /// Of each group.
    rules: [Rules; 2],
    seen: [Seen; 2],
    /// Each with its group.
    clients: [(usize, Bundler); 3],
    moments: Vec<Moment>,
}

impl<'a> Trial<'a> {
    fn new(stage: &'a mut Stage, number: usize) -> Self {
        let now = stage.now;
        let health = || Health {
            trouble: now,
            long_trouble: now,
            changed: now,
            looked: 0,
            kept: Default::default(),
            doubtful: Default::default(),
            owned: Default::default(),
        };
        let mut trial = Self {
            stage,
            number,
            now,
            truths: [Truth::new(0), Truth::new(1)],
            health: [health(), health()],
            leaves: [Leaf::hosted(), Leaf::hosted(), Leaf::remote(), Leaf::remote()],
            layouts: [0, 0],
            stands: Default::default(),
            claims: Default::default(),
            rules: Default::default(),
            seen: Default::default(),
            clients: [
                (GROUPS.start + 1, Bundler::default()),
                (GROUPS.start + 1, Bundler::default()),
                Default::default(),
            ],
            moments: Vec::new(),
        };
        trial.clients[2].0 = GROUPS.start;
        for at in HOSTED {
            trial.make(at, json!({ "kind": "hosted" }));
        }
        for at in REMOTE {
            let urls = [trial.truths[at - REMOTE.start].upstream.url()];
            trial.make(at, json!({ "kind": "remote", "remote": { "urls": urls } }));
        }
        for at in GROUPS {
            let members = trial.members(at);
            trial.make(at, json!({ "kind": "group", "members": members }));
            trial.read_stands(at);
        }
        trial
    }

    fn make(&self, at: usize, mut wanted: Value) {
        let (name, wanted) = (self.called(at), wanted.as_object_mut().unwrap());
        wanted.extend([("name".to_owned(), json!(name)), ("format".to_owned(), json!("gem"))]);
        self.stage.world.make(&json!(wanted));
    }

    fn members(&self, group: usize) -> Vec<String> {
        let layout = LAYOUTS[group - GROUPS.start][self.layouts[group - GROUPS.start]];
        layout.iter().map(|at| self.called(*at)).collect()
    }

    fn set(&self, at: usize, settings: &Value) {
        self.stage.world.change(&self.called(at), settings);
    }

    /// Reads since when the members of a group have had their places.
    fn read_stands(&mut self, group: usize) {
        let path = format!("/api/v1/repositories/{}", self.called(group));
        let told = self.stage.world.admin().get(&path).expect(200).json();
        let second = |moment: &Value| moment.as_str().unwrap().parse::<Timestamp>().unwrap().as_second() - BEGINS;
        self.stands[group - GROUPS.start] = told["members_since"].as_array().unwrap().iter().map(second).collect();
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Upstream(which, change) => {
                self.truths[which].change(change, self.now);
                self.health[which].changed = self.now;
            }
            Step::Push(at, name, token) => self.push(at, name, token),
            Step::Yank(at, name, token) => self.yank(at, name, token),
            Step::Layout(which, layout) => {
                self.layouts[which] = layout;
                let group = GROUPS.start + which;
                self.set(group, &json!({ "include_hosted": true, "members": self.members(group) }));
                self.read_stands(group);
                self.wait(1);
            }
            Step::Claim(at, name) => {
                self.claims[at] = name;
                let names: Vec<&str> = name.iter().map(|name| NAMES[*name]).collect();
                self.set(at, &json!({ "claims": names }));
            }
            Step::Rule(which, rule) => {
                self.rules[which].set(rule);
                self.set(
                    GROUPS.start + which,
                    &json!({ "include_hosted": true, "policy": self.rules[which].setting() }),
                );
            }
            Step::Wait(seconds) => self.wait(seconds),
            Step::Ask(group, ask) => self.ask(group, ask),
            Step::Bundle(client, name) => self.bundle(client, name),
            Step::Agree(group) => self.agree(group),
            Step::Past(group, at, name) => self.past(group, at, name),
            // Changes after a start have later dates than those before it.
            Step::Restart => {
                self.wait(1);
                self.stage.restart(|world| world.stop());
            }
            Step::Kill => {
                self.wait(1);
                self.stage.restart(|world| world.kill());
                self.lose();
            }
            Step::LoseViews => {
                self.wait(1);
                self.stage.restart(|world| {
                    world.stop();
                    let views = world.files().into_iter().filter(|file| file.ends_with("view"));
                    views.for_each(|view| std::fs::remove_file(view).unwrap());
                });
                self.lose();
            }
        }
        self.note_upstreams();
    }

    /// The logs of the groups may restart.
    fn lose(&mut self) {
        for seen in &mut self.seen {
            seen.log.clear();
            seen.listed.clear();
        }
        // A name that was published and is hidden now does not appear in the new log, so clients would keep its files
        // forever.
        for (_, client) in &mut self.clients {
            *client = Bundler::default();
        }
    }

    fn push(&mut self, at: usize, name: usize, token: usize) {
        if NAMES[name].ends_with('_') {
            // Such names are older than the rules for names. Only upstreams have them.
            return;
        }
        self.observe();
        let mut shadows = vec![self.shadows(at, name)];
        let connection = &mut self.stage.world.admin().connect().unwrap();
        let bytes = &package(name, token, edition(at + 2, 0)).bytes;
        let answer = self.stage.world.admin().push_on(connection, &self.called(at), bytes).unwrap();
        // The server may have looked at an upstream meanwhile.
        self.observe();
        shadows.push(self.shadows(at, name));
        let had = self.leaves[at].ever_had(name, TOKENS[token]);
        match answer.status {
            // The same bytes again.
            200 if self.leaves[at].has(name, TOKENS[token]) => {}
            200 => {
                assert!(!had, "{} is pushed though it was withdrawn", NAMES[name]);
                let hides = shadows.iter().all(|groups| !groups.is_empty());
                assert!(!hides, "a push of {} hides an upstream's: {shadows:?}", NAMES[name]);
                self.leaves[at].push(name, TOKENS[token], self.now);
                // The later of two changes has the later date, however quickly it follows.
                self.wait(1);
            }
            403 | 409 => assert!(had || !shadows.concat().is_empty(), "{}: {}", NAMES[name], answer.text()),
            status => panic!("{status}: {}", answer.text()),
        }
    }

    fn yank(&mut self, at: usize, name: usize, token: usize) {
        if !self.leaves[at].has(name, TOKENS[token]) {
            return;
        }
        let version = TOKENS[token].replace("-java", "&platform=java");
        self.stage.world.admin().yank(&self.called(at), NAMES[name], &version).expect(200);
        self.leaves[at].yank(name, TOKENS[token]);
        self.wait(1);
    }

    fn end(self) {
        for at in GROUPS.rev().chain(HOSTED).chain(REMOTE) {
            let path = format!("/api/v1/repositories/{0}?confirm={0}", self.called(at));
            self.stage.world.admin().ask("DELETE", &path, &[], b"").expect(200);
        }
    }
}

#[test]
fn a_group_shows_of_each_name_what_its_owner_has_and_tells_it_to_each_client_in_lines_that_are_added() {
    tries(SEQUENCES, steps::all(), |stage, number, sequence| {
        let mut trial = Trial::new(stage, number);
        sequence.into_iter().for_each(|step| trial.step(step));
        trial.settle();
        trial.end();
    });
}
