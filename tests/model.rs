//! Any interleaving of pushes, yanks, claims of origins and reads over several connections, against a model of the
//! acknowledged changes. A page may never be older than the last acknowledged change that it depends on, and a 304 may
//! not confirm an older one.

use crate::world::{Answer, Gem, Index, Person, Reader, World};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use std::collections::BTreeMap;

const NAMES: [&str; 3] = ["lamp", "oil", "wick"];
const CONNECTIONS: usize = 4;

#[derive(Debug, Clone, Copy)]
enum Step {
    Push { name: usize, version: u8 },
    Claim { name: usize, version: u8, day: u8 },
    Yank { name: usize, version: u8 },
    Info { name: usize },
    Versions,
    Names,
    Download { name: usize, version: u8 },
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let (name, version) = (0..NAMES.len(), 0u8..4);
    let step = prop_oneof![
        3 => (name.clone(), version.clone()).prop_map(|(name, version)| Step::Push { name, version }),
        2 => (name.clone(), version.clone(), 1u8..4)
            .prop_map(|(name, version, day)| Step::Claim { name, version, day }),
        2 => (name.clone(), version.clone()).prop_map(|(name, version)| Step::Yank { name, version }),
        6 => name.clone().prop_map(|name| Step::Info { name }),
        3 => Just(Step::Versions),
        1 => Just(Step::Names),
        2 => (name, version).prop_map(|(name, version)| Step::Download { name, version }),
    ];
    prop::collection::vec((0..CONNECTIONS, step), 1..80)
}

/// The acknowledged state of a repository.
#[derive(Default)]
struct Model {
    /// For each name, its live versions in the order of their pushes.
    live: BTreeMap<&'static str, Vec<u8>>,
    withdrawn: Vec<(usize, u8)>,
    /// The day of a version's original publication elsewhere, if it was claimed.
    origins: BTreeMap<(usize, u8), u8>,
    /// The name and the change of each line of `/versions`.
    lines: Vec<String>,
}

impl Model {
    fn is_live(&self, name: usize, version: u8) -> bool {
        self.live.get(NAMES[name]).is_some_and(|live| live.contains(&version))
    }

    /// Records a push. Returns the expected status.
    fn push(&mut self, name: usize, version: u8) -> u16 {
        if self.withdrawn.contains(&(name, version)) {
            return 409;
        }
        if !self.is_live(name, version) {
            self.live.entry(NAMES[name]).or_default().push(version);
            self.lines.push(format!("{} 1.{version}", NAMES[name]));
        }
        200
    }

    /// Records a push that claims an origin. Returns the expected status.
    fn claim(&mut self, name: usize, version: u8, day: u8) -> u16 {
        let was_live = self.is_live(name, version);
        let status = self.push(name, version);
        if status == 200 && self.origins.insert((name, version), day) != Some(day) && was_live {
            self.lines.push(format!("{0} -1.{version},1.{version}", NAMES[name]));
        }
        status
    }

    /// Records a yank. Returns the expected status.
    fn yank(&mut self, name: usize, version: u8) -> u16 {
        if !self.is_live(name, version) {
            return 404;
        }
        self.live.entry(NAMES[name]).or_default().retain(|live| *live != version);
        self.withdrawn.push((name, version));
        self.lines.push(format!("{} -1.{version}", NAMES[name]));
        200
    }
}

/// A repository, its model, and its readers.
struct Trial<'a> {
    admin: &'a Person,
    repository: String,
    model: Model,
    readers: Vec<Reader>,
}

impl Trial<'_> {
    fn read(&mut self, at: usize, what: &str) -> Answer {
        self.readers[at].read(&format!("/repository/{}/{what}", self.repository))
    }

    fn step(&mut self, at: usize, step: Step) {
        match step {
            Step::Push { name, version } => {
                let gem = Gem::new(NAMES[name], &format!("1.{version}")).bytes();
                let answer = self.admin.push_on(&mut self.readers[at].connection, &self.repository, &gem).unwrap();
                answer.expect(self.model.push(name, version));
            }
            Step::Claim { name, version, day } => {
                let gem = Gem::new(NAMES[name], &format!("1.{version}")).bytes();
                let path = format!("/repository/{}/api/v1/gems", self.repository);
                let claimed = [("Daylight-Published", &*origin(day))];
                let answer = self.admin.on(&mut self.readers[at].connection, "POST", &path, &claimed, &gem).unwrap();
                answer.expect(self.model.claim(name, version, day));
            }
            Step::Yank { name, version } => {
                let (version_text, connection) = (format!("1.{version}"), &mut self.readers[at].connection);
                let answer = self.admin.yank_on(connection, &self.repository, NAMES[name], &version_text).unwrap();
                answer.expect(self.model.yank(name, version));
            }
            Step::Info { name } => {
                let answer = self.read(at, &format!("info/{}", NAMES[name]));
                let Some(live) = self.model.live.get(NAMES[name]) else { return drop(answer.expect(404)) };
                let told: Vec<&str> =
                    answer.text().lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
                assert_eq!(told, live.iter().map(|version| format!("1.{version}")).collect::<Vec<_>>());
                for (line, version) in answer.text().lines().skip(1).zip(live) {
                    let day = self.model.origins.get(&(name, *version));
                    let created = day.map(|day| format!(",created_at:{}", origin(*day)));
                    assert!(created.is_none_or(|created| line.ends_with(&created)), "{line}: {day:?}");
                }
            }
            Step::Versions => {
                let answer = self.read(at, "versions").expect(200);
                let lines = answer.text().lines().skip(2).map(|line| line.rsplit_once(' ').unwrap().0);
                assert_eq!(lines.collect::<Vec<_>>(), self.model.lines);
            }
            Step::Names => {
                let answer = self.read(at, "names").expect(200);
                let names: Vec<&str> = answer.text().lines().skip(1).filter(|name| !name.is_empty()).collect();
                let live = self.model.live.iter().filter(|(_, live)| !live.is_empty());
                assert_eq!(names, live.map(|(name, _)| *name).collect::<Vec<_>>());
            }
            Step::Download { name, version } => {
                let gem = Gem::new(NAMES[name], &format!("1.{version}"));
                let answer = self.read(at, &format!("gems/{}", gem.file()));
                if self.model.is_live(name, version) {
                    assert!(answer.expect(200).body == gem.bytes());
                } else {
                    answer.expect(404);
                }
            }
        }
    }
}

/// The moment of an origin.
fn origin(day: u8) -> String {
    format!("2020-01-{day:02}T00:00:00Z")
}

#[test]
fn no_reader_ever_sees_less_than_was_acknowledged() {
    let world = World::start();
    let admin = world.admin();
    let count = Cell::new(0);
    let config = Config { cases: 48, failure_persistence: None, ..Config::default() };
    let trial = |steps: Vec<(usize, Step)>| {
        count.set(count.get() + 1);
        let repository = format!("trial-{}", count.get());
        world.repository(&repository, count.get() % 2 == 0);
        let readers = (0..CONNECTIONS).map(|_| Reader::new(&admin)).collect();
        let mut trial = Trial { admin: &admin, repository, model: Model::default(), readers };
        steps.into_iter().for_each(|(at, step)| trial.step(at, step));
        Index::read(&admin, &trial.repository);
        Ok(())
    };
    TestRunner::new(config).run(&steps(), trial).unwrap();
}
