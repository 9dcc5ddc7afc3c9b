//! Clients of several nodes: some change packages and settings, each time on a node that chance chooses; others read, each on a node of its own.

use super::chance::Chance;
use super::record::{Record, Wanted, is_fresh};
use crate::world::{Answer, Connection, Gem, Person, await_true, hex};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

/// The names of the gems. Few, so that writers meet.
const NAMES: usize = 2;
/// The files that are published again and again.
const FILES: usize = 2;

/// The repositories of one history, and the callers of its nodes.
pub(super) struct Scene<'a> {
    /// The number of the history, of which its repositories are named.
    pub(super) number: usize,
    pub(super) nodes: &'a [Person],
    pub(super) record: &'a Record,
}

impl Scene<'_> {
    pub(super) fn gems(&self) -> String {
        format!("gems-{}", self.number)
    }

    /// Files that may be published again.
    fn files(&self) -> String {
        format!("files-{}", self.number)
    }

    fn trees(&self) -> String {
        format!("trees-{}", self.number)
    }

    /// All but that of gems.
    pub(super) fn others(&self) -> Vec<String> {
        vec![self.files(), self.trees()]
    }

    fn anybody(&self, chance: &mut Chance) -> &Person {
        &self.nodes[chance.below(self.nodes.len())]
    }

    /// Makes the repositories, each on a node that chance chooses.
    pub(super) fn begin(&self, chance: &mut Chance) {
        let of = |name: String, format: &str| json!({ "name": name, "format": format, "kind": "hosted" });
        let mut files = of(self.files(), "raw");
        files["replaceable"] = true.into();
        for wanted in [of(self.gems(), "gem"), of(self.trees(), "maven"), files] {
            self.anybody(chance).post_json("/api/v1/repositories", &wanted).expect(201);
        }
        for node in self.nodes {
            for name in [self.gems(), self.trees(), self.files()] {
                await_true("a node knows the repositories", || {
                    let answer = node.get(&format!("/api/v1/repositories/{name}"));
                    let may_lack_it = self.record.is_late_allowed() || !is_fresh(&answer);
                    assert!(
                        answer.status == 200 || answer.status == 404 && may_lack_it,
                        "a node does not know {name}: {answer:?}"
                    );
                    answer.status == 200
                });
            }
        }
    }

    /// Makes so many changes.
    pub(super) fn change(&self, writer: usize, changes: usize, chance: &mut Chance) {
        let mut mine: Vec<(String, String)> = Vec::new();
        for count in 0..changes {
            // Digits of its own for the writer, so that no value occurs twice.
            let once = (writer + 1) * 10_000 + count;
            match chance.below(10) {
                0..4 => mine.extend(self.push(once, chance)),
                4 if !mine.is_empty() => self.yank(mine.swap_remove(chance.below(mine.len())), chance),
                4..7 => self.publish_again(once, chance),
                7..9 => self.deploy(once, chance),
                _ => self.set(once, chance),
            }
        }
    }

    fn push(&self, once: usize, chance: &mut Chance) -> Option<(String, String)> {
        let (name, version) = (format!("lamp{}", chance.below(NAMES)), format!("{once}.0"));
        let bytes = Gem::new(&name, &version).bytes();
        let sum = hex(&Sha256::digest(&bytes));
        let wanted = Wanted::Gem { name: name.clone(), version: version.clone() };
        let person = self.anybody(chance);
        let send = || person.push_on(&mut person.connect()?, &self.gems(), &bytes);
        self.record.write(&wanted, Some(sum), send).then_some((name, version))
    }

    fn yank(&self, (name, version): (String, String), chance: &mut Chance) {
        let wanted = Wanted::Gem { name: name.clone(), version: version.clone() };
        let person = self.anybody(chance);
        self.record.write(&wanted, None, || person.yank_on(&mut person.connect()?, &self.gems(), &name, &version));
    }

    fn publish_again(&self, once: usize, chance: &mut Chance) {
        self.put(self.files(), format!("state/{}", chance.below(FILES)), once, chance);
    }

    fn deploy(&self, once: usize, chance: &mut Chance) {
        self.put(self.trees(), format!("org/example/lamp/{once}/lamp-{once}.jar"), once, chance);
    }

    fn put(&self, repository: String, path: String, once: usize, chance: &mut Chance) {
        let (bytes, place) = (once.to_string(), format!("/repository/{repository}/{path}"));
        let sum = hex(&Sha256::digest(&bytes));
        let person = self.anybody(chance);
        self.record.write(&Wanted::File { repository, path }, Some(sum), || {
            person.on(&mut person.connect()?, "PUT", &place, &[], bytes.as_bytes())
        });
    }

    fn set(&self, once: usize, chance: &mut Chance) {
        let (change, place) = (json!({ "keep_versions": once }), format!("/api/v1/repositories/{}", self.gems()));
        let headers = [("Content-Type", "application/json")];
        let person = self.anybody(chance);
        self.record.write(&Wanted::Setting, Some(once.to_string()), || {
            person.on(&mut person.connect()?, "PATCH", &place, &headers, change.to_string().as_bytes())
        });
    }

    /// Reads from a node until the others are done. A node that is away is asked again.
    pub(super) fn read(&self, node: usize, over: &AtomicBool, chance: &mut Chance) {
        while !over.load(SeqCst) {
            let asked = self.nodes[node].connect().and_then(|mut connection| {
                while !over.load(SeqCst) {
                    self.read_one(node, &mut connection, chance)?;
                }
                Ok(())
            });
            if asked.is_err() {
                std::thread::park_timeout(Duration::from_millis(2));
            }
        }
    }

    fn read_one(&self, node: usize, connection: &mut Connection, chance: &mut Chance) -> io::Result<()> {
        let wanted = self.record.wanted();
        match chance.below(4) {
            0 => self.list(node, connection),
            _ if wanted.is_empty() => self.list(node, connection),
            _ => self.look(node, connection, &wanted[chance.below(wanted.len())]),
        }
    }

    /// Reads everything from a node that answers.
    pub(super) fn read_all(&self, node: usize) {
        let mut connection = self.nodes[node].connect().unwrap();
        self.list(node, &mut connection).unwrap();
        for wanted in self.record.wanted() {
            self.look(node, &mut connection, &wanted).unwrap();
        }
    }

    fn list(&self, node: usize, connection: &mut Connection) -> io::Result<()> {
        let (path, sent) = (format!("/repository/{}/versions", self.gems()), self.record.now());
        let answer = self.nodes[node].on(connection, "GET", &path, &[], b"")?;
        if answer.status == 200 {
            self.record.listing(node, sent, &answer);
        } else {
            unavailable(&path, &answer);
        }
        Ok(())
    }

    fn look(&self, node: usize, connection: &mut Connection, wanted: &Wanted) -> io::Result<()> {
        let path = match wanted {
            Wanted::Gem { name, .. } => format!("/repository/{}/info/{name}", self.gems()),
            Wanted::File { repository, path } => format!("/repository/{repository}/{path}"),
            Wanted::Setting => format!("/api/v1/repositories/{}", self.gems()),
        };
        let sent = self.record.now();
        let answer = self.nodes[node].on(connection, "GET", &path, &[], b"")?;
        match answer.status {
            200 => self.record.read(node, wanted, sent, &answer, value(wanted, &answer)),
            404 => self.record.read(node, wanted, sent, &answer, None),
            _ => unavailable(&path, &answer),
        }
        Ok(())
    }
}

/// What an answer says of something.
fn value(wanted: &Wanted, answer: &Answer) -> Option<String> {
    match wanted {
        Wanted::Gem { version, .. } => {
            let mut lines = answer.text().lines();
            let line = lines.find(|line| line.split(' ').next() == Some(version))?;
            Some(line.split_once("checksum:").unwrap().1[..64].to_owned())
        }
        Wanted::File { .. } => Some(hex(&Sha256::digest(&answer.body))),
        Wanted::Setting => answer.json()["keep_versions"].as_u64().map(|number| number.to_string()),
    }
}

/// A node may say that it cannot tell now, and nothing else.
fn unavailable(path: &str, answer: &Answer) {
    assert_eq!(answer.status, 503, "{path}: {answer:?}");
}
