//! Any order of deploys, deletes and reads of a hosted Maven repository over several connections, against a model of
//! the acknowledged changes: no answer from memory is older, and metadata lists exactly the existing versions.

use crate::world::{Answer, Person, Reader, World, hex};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sha1::{Digest, Sha1};
use std::cell::Cell;
use std::collections::BTreeMap;

const CONNECTIONS: usize = 4;
const ARTIFACTS: [&str; 2] = ["lamp", "oil"];
const VERSIONS: [&str; 3] = ["1.9", "1.10", "2-SNAPSHOT"];
const FILES: [&str; 3] = [".pom", ".jar", "-sources.jar"];

/// A file: the indexes of its artifact, version and file name above.
type Place = (usize, usize, usize);

#[derive(Debug, Clone)]
enum Step {
    Deploy(Place, u8),
    Delete(Place),
    DeleteVersion(usize, usize),
    DeleteAll,
    Read(Place),
    Sum(Place),
    Versions(usize),
    Builds(usize),
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let place = (0..ARTIFACTS.len(), 0..VERSIONS.len(), 0..FILES.len());
    let artifact = 0..ARTIFACTS.len();
    let step = prop_oneof![
        8 => (place.clone(), 0u8..2).prop_map(|(place, bytes)| Step::Deploy(place, bytes)),
        2 => place.clone().prop_map(Step::Delete),
        1 => (artifact.clone(), 0..VERSIONS.len()).prop_map(|(artifact, version)| Step::DeleteVersion(artifact, version)),
        1 => Just(Step::DeleteAll),
        6 => place.clone().prop_map(Step::Read),
        2 => place.prop_map(Step::Sum),
        6 => artifact.clone().prop_map(Step::Versions),
        3 => artifact.prop_map(Step::Builds),
    ];
    prop::collection::vec((0..CONNECTIONS, step), 1..80)
}

fn folder((artifact, version, _): Place) -> String {
    format!("org/example/{}/{}", ARTIFACTS[artifact], VERSIONS[version])
}

fn path(place: Place) -> String {
    let (artifact, version, file) = place;
    format!("{}/{}-{}{}", folder(place), ARTIFACTS[artifact], VERSIONS[version], FILES[file])
}

/// The acknowledged state: for each path its bytes, and whether it is published.
#[derive(Default)]
struct Model(BTreeMap<Place, (u8, bool)>);

impl Model {
    fn live(&self, place: Place) -> Option<u8> {
        self.0.get(&place).filter(|(_, live)| *live).map(|(bytes, _)| *bytes)
    }

    /// Records a deploy. Returns the expected status.
    fn deploy(&mut self, place: Place, bytes: u8) -> u16 {
        let lasting = !VERSIONS[place.1].ends_with("-SNAPSHOT");
        match self.0.get(&place) {
            Some((there, true)) if *there == bytes => return 200,
            Some((there, _)) if lasting && *there != bytes => return 409,
            _ => {}
        }
        let replaced = self.live(place).is_some();
        self.0.insert(place, (bytes, true));
        if replaced { 200 } else { 201 }
    }

    /// Records a deletion of everything that `which` selects. Returns the expected status.
    fn delete(&mut self, which: impl Fn(Place) -> bool) -> u16 {
        let gone: Vec<Place> =
            self.0.keys().copied().filter(|place| which(*place) && self.live(*place).is_some()).collect();
        gone.iter().for_each(|place| self.0.get_mut(place).unwrap().1 = false);
        if gone.is_empty() { 404 } else { 204 }
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
    fn send(&mut self, at: usize, method: &str, path: &str, body: &[u8]) -> Answer {
        let path = format!("/repository/{}/{path}", self.repository);
        self.admin.on(&mut self.readers[at].connection, method, &path, &[], body).unwrap()
    }

    fn read(&mut self, at: usize, what: &str) -> Answer {
        self.readers[at].read(&format!("/repository/{}/{what}", self.repository))
    }

    /// The texts of an element in a document, which must exist exactly if there are any.
    fn told(&mut self, at: usize, folder: &str, element: &str, wanted: &[String]) {
        let answer = self.read(at, &format!("{folder}/maven-metadata.xml"));
        let sum = self.read(at, &format!("{folder}/maven-metadata.xml.sha1"));
        if wanted.is_empty() {
            answer.expect(404);
            sum.expect(404);
            return;
        }
        let answer = answer.expect(200);
        assert_eq!(sum.expect(200).text(), hex(&Sha1::digest(&answer.body)));
        let open = format!("<{element}>");
        let told: Vec<&str> = answer.text().split(&open).skip(1).map(|part| part.split('<').next().unwrap()).collect();
        assert_eq!(told, wanted);
    }

    fn step(&mut self, at: usize, step: Step) {
        match step {
            Step::Deploy(place, bytes) => {
                let status = self.model.deploy(place, bytes);
                self.send(at, "PUT", &path(place), &content(place, bytes)).expect(status);
            }
            Step::Delete(place) => {
                let status = self.model.delete(|there| there == place);
                self.send(at, "DELETE", &path(place), b"").expect(status);
            }
            Step::DeleteVersion(artifact, version) => {
                let status = self.model.delete(|there| (there.0, there.1) == (artifact, version));
                self.send(at, "DELETE", &folder((artifact, version, 0)), b"").expect(status);
            }
            Step::DeleteAll => {
                let status = self.model.delete(|_| true);
                self.send(at, "DELETE", "org", b"").expect(status);
            }
            Step::Read(place) => {
                let answer = self.read(at, &path(place));
                match self.model.live(place) {
                    Some(bytes) => assert!(answer.expect(200).body == content(place, bytes)),
                    None => drop(answer.expect(404)),
                }
            }
            Step::Sum(place) => {
                let answer = self.read(at, &format!("{}.sha1", path(place)));
                match self.model.live(place) {
                    Some(bytes) => assert_eq!(answer.expect(200).text(), hex(&Sha1::digest(content(place, bytes)))),
                    None => drop(answer.expect(404)),
                }
            }
            Step::Versions(artifact) => {
                // Versions with a POM are listed, in Maven's order, which is that of the table.
                let listed = (0..VERSIONS.len()).filter(|version| self.model.live((artifact, *version, 0)).is_some());
                let listed: Vec<String> = listed.map(|version| VERSIONS[version].to_owned()).collect();
                self.told(at, &format!("org/example/{}", ARTIFACTS[artifact]), "version", &listed);
            }
            Step::Builds(artifact) => {
                let live = (0..FILES.len()).filter(|file| self.model.live((artifact, 2, *file)).is_some());
                let told: Vec<String> = live.map(|_| VERSIONS[2].to_owned()).collect();
                self.told(at, &folder((artifact, 2, 0)), "value", &told);
            }
        }
    }
}

fn content(place: Place, bytes: u8) -> Vec<u8> {
    format!("{} {bytes}", path(place)).into_bytes()
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
        world.tree(&repository, "maven");
        let readers = (0..CONNECTIONS).map(|_| Reader::new(&admin)).collect();
        let mut trial = Trial { admin: &admin, repository, model: Model::default(), readers };
        steps.into_iter().for_each(|(at, step)| trial.step(at, step));
        Ok(())
    };
    TestRunner::new(config).run(&steps(), trial).unwrap();
}
